"""Is a file of rules, or a plan, written as its published schema says? With the line of every problem."""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from jsonschema import Draft202012Validator, ValidationError
from referencing import Registry, Resource

from manifests.document import Document, Steps
from manifests.paths import spell
from manifests.stream import read_documents
from manifests.unpack import NoText, decoded
from queuecast.problems import Json, Refused, meant, problem, refusal

SCHEMAS = ("rules", "plan")

_TYPES = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "object": "a mapping",
    "string": "a text",
}


@cache
def schema(name: str) -> Json:
    """Return a published schema."""
    held: Json = json.loads(
        files("queuecast").joinpath("schemas", f"{name}.json").read_text(encoding="utf-8")
    )
    return held


@cache
def _registry() -> Registry[Any]:
    """Return the schemas by the names by which they refer to each other."""
    return Registry().with_resources(
        [(f"{name}.json", Resource.from_contents(schema(name))) for name in SCHEMAS]
    )


def read_checked(label: str, content: bytes, name: str) -> Document:
    """Return the only document of a text, valid by a schema, or raise Refused with every problem."""
    try:
        documents = [one for one in read_documents(decoded(content)) if one.value is not None or one.faults]
    except NoText as error:
        raise Refused(f"{label}: {error}") from None
    faults = [
        problem(
            rule=fault.rule, severity="error", message=fault.message, path=spell(fault.steps),
            document=label, line=fault.line + 1, fix=fault.fix,
        )
        for document in documents
        for fault in document.faults
    ]  # fmt: skip
    if faults:
        raise refusal(faults)
    if len(documents) != 1:
        raise Refused(f"{label} holds {len(documents)} documents; write one.")
    if found := [*_invalid(label, documents[0], name)]:
        raise refusal(found)
    return documents[0]


def problem_at(label: str, document: Document, steps: Steps, rule: str, message: str, fix: str = "") -> Json:
    """Return a problem with a key of a document."""
    return problem(
        rule=rule, severity="error", message=message, path=spell(steps),
        document=label, line=document.place(steps).line + 1, fix=fix,
    )  # fmt: skip


def _invalid(label: str, document: Document, name: str) -> Iterator[Json]:
    validator = Draft202012Validator(schema(name), registry=_registry())
    for error in sorted(validator.iter_errors(document.value), key=lambda one: list(map(str, one.path))):
        for steps, rule, message, fix in _told(error):
            yield problem_at(label, document, steps, f"{name}.{rule}", message, fix)


def _told(error: ValidationError) -> Iterator[tuple[Steps, str, str, str]]:
    """Yield what a fault of the schema means: where, which rule, in words, and how it is fixed."""
    steps, says, wanted = tuple(error.absolute_path), _subject(error), error.validator_value
    match error.validator:
        case "additionalProperties":
            known = [*(error.schema.get("properties") or {})]
            for key in [key for key in error.instance if key not in known]:
                fix = (
                    meant(str(key), known, shown=len(known))
                    .removesuffix("?")
                    .replace("Did you mean", "write")
                )
                yield (*steps, key), "unknown_key", f"{spell((*steps, key))} is not a key here", fix
        case "required":
            missing = [key for key in wanted if key not in error.instance]
            if missing and missing[0] in error.message:
                yield steps, "missing", f"{says} has no {missing[0]}", f"write {missing[0]}"
        case "type":
            types = [wanted] if isinstance(wanted, str) else wanted
            words = " or ".join(_TYPES[one] for one in types)
            yield steps, "type", f"{says} is {_shown(error.instance)}, not {words}", f"write {words}"
        case "const":
            yield (
                steps,
                "value",
                f"{says} is {_shown(error.instance)}",
                f"write {_shown(wanted)}, or remove it",
            )
        case "enum":
            words = ", ".join(map(str, wanted))
            yield (
                steps,
                "value",
                f"{says} is {_shown(error.instance)}, not one of {words}",
                f"write {wanted[0]}",
            )
        case "minimum" | "maximum":
            bound = "at least" if error.validator == "minimum" else "at most"
            yield steps, "range", f"{says} is {_shown(error.instance)}", f"write {bound} {wanted}"
        case "pattern":
            says = f"{says} is {_shown(error.instance)}"
            yield steps, "form", says, f"write {error.schema.get('description', 'another')}".rstrip(".")
        case "oneOf" | "anyOf":
            inner = _deepest(error.context or [])
            yield from _told(inner) if inner else ()
        case "minProperties" | "minItems" | "minLength":
            yield steps, "empty", f"{says} says too little", f"write at least {wanted}"
        case "maxProperties":
            keys = ", ".join(map(str, error.instance))
            yield steps, "many", f"{says} has several keys: {keys}", "begin each with a dash of its own"
        case _:
            yield steps, "invalid", f"{says}: {error.message}", ""


def _deepest(errors: Sequence[ValidationError]) -> ValidationError | None:
    """Return the fault of the alternative that came furthest: it is the one that was meant."""
    return max(errors, key=lambda one: (len(one.absolute_path), one.validator != "type"), default=None)


def _subject(error: ValidationError) -> str:
    return spell(tuple(error.absolute_path)) or "the file"


def _shown(value: Any) -> str:
    return (
        json.dumps(value, ensure_ascii=False)[:60]
        if isinstance(value, Mapping | list | bool)
        else repr(value)[:60]
    )
