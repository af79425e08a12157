"""Validation against a JSON schema, with messages that name path and fix."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend

from manifests.document import Steps
from manifests.paths import spell
from planning.suggestions import written_instead
from traces.text import counted

_TYPES = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "a whole number",
    "null": "null",
    "number": "a number",
    "object": "a mapping",
    "string": "a text",
}


def _is_number(_: object, value: object) -> bool:
    is_finite = isinstance(value, float) and math.isfinite(value)
    return is_finite or (isinstance(value, int) and not isinstance(value, bool))


def _is_whole(_: object, value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


Validator = extend(
    Draft202012Validator,
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine_many(
        {"number": _is_number, "integer": _is_whole}
    ),
)
"""Of JSON schemas; a whole number is written as one, without a fraction, and every number is finite."""


class Fault(NamedTuple):
    """The path, the violated rule, the message, and the fix; empty if unknown."""

    steps: Steps
    rule: str
    message: str
    fix: str


def faults(validator: Any, value: Any) -> Iterator[Fault]:
    """Yield all violations that a `Validator` finds in a value, by path."""
    for error in sorted(validator.iter_errors(value), key=lambda one: list(map(str, one.path))):
        yield from _faults(error)


def _faults(error: ValidationError) -> Iterator[Fault]:
    """Yield the problem of a schema violation."""
    steps, message, wanted = tuple(error.absolute_path), _subject(error), error.validator_value
    match error.validator:
        case "additionalProperties":
            known = [*(error.schema.get("properties") or {})]
            for key in [key for key in error.instance if key not in known]:
                fix = written_instead(str(key), known, shown=len(known))
                yield Fault((*steps, key), "unknown_key", f"{spell((*steps, key))} is not a key here", fix)
        case "required":
            key = next(name for name in wanted if error.message.startswith(f"{name!r} "))
            yield Fault(steps, "missing", f"{message} has no {key}", f"write {key}")
        case "type":
            types = [wanted] if isinstance(wanted, str) else wanted
            words = " or ".join(_TYPES[one] for one in types)
            yield Fault(
                steps, "type", f"{message} is {_shown(error.instance)}, not {words}", f"write {words}"
            )
        case "const":
            message = f"{message} is {_shown(error.instance)}"
            yield Fault(steps, "value", message, f"write {_shown(wanted)}, or remove it")
        case "enum":
            words = ", ".join(map(str, wanted))
            message = f"{message} is {_shown(error.instance)}, not one of {words}"
            fix = written_instead(str(error.instance), map(str, wanted), shown=len(wanted))
            yield Fault(steps, "value", message, fix)
        case "minimum" | "maximum":
            bound = "at least" if error.validator == "minimum" else "at most"
            yield Fault(steps, "range", f"{message} is {_shown(error.instance)}", f"write {bound} {wanted}")
        case "exclusiveMinimum":
            fix = f"write more than {wanted}"
            yield Fault(steps, "range", f"{message} is {_shown(error.instance)}", fix)
        case "pattern":
            message = f"{message} is {_shown(error.instance)}"
            form = str(error.schema.get("description", "another"))
            yield Fault(steps, "form", message, f"write {form[:1].lower()}{form[1:]}".rstrip("."))
        case "oneOf" | "anyOf":
            inner = _deepest(error.context or [])
            if inner:
                yield from _faults(inner)
            elif isinstance(error.instance, Mapping):
                exclusive = [key for one in wanted for key in one.get("required", ())]
                several = " and ".join(key for key in exclusive if key in error.instance)
                yield Fault(
                    steps, "many", f"{message} has {several}, which exclude each other", "keep one of them"
                )
        case None:
            yield Fault(steps, "unknown_key", f"{message} does not belong here", "remove it")
        case "minProperties":
            names = ", ".join(error.schema.get("properties") or {})
            fix = f"write at least {wanted}" + (f" of {names}" if names else "")
            yield Fault(steps, "empty", f"{message} has {counted(len(error.instance), 'key')}", fix)
        case "minItems" | "maxItems":
            bound = "at least" if error.validator == "minItems" else "at most"
            found = counted(len(error.instance), "item")
            yield Fault(steps, "length", f"{message} has {found}", f"write {bound} {wanted}")
        case "minLength":
            yield Fault(steps, "empty", f"{message} is empty", "write a text")
        case "maxLength":
            yield Fault(steps, "length", f"{message} is too long", f"write at most {wanted} characters")
        case "maxProperties":
            keys = ", ".join(map(str, error.instance))
            yield Fault(
                steps, "many", f"{message} has several keys: {keys}", "begin each with a dash of its own"
            )
        case _:
            yield Fault(steps, "invalid", f"{message}: {error.message}", "")


def _deepest(errors: Sequence[ValidationError]) -> ValidationError | None:
    """Return the violation of the alternative that matches best: the one that was meant."""
    return max(errors, key=lambda one: (len(one.absolute_path), one.validator != "type"), default=None)


def _subject(error: ValidationError) -> str:
    return spell(tuple(error.absolute_path)) or "the file"


def _shown(value: Any) -> str:
    return (
        json.dumps(value, ensure_ascii=False)[:60]
        if isinstance(value, Mapping | list | bool | None)
        else repr(value)[:60]
    )
