"""Validation of rules and plans against their published schemas, with line numbers."""

import json
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

from referencing import Registry, Resource

from manifests.document import Document, Steps
from manifests.paths import spell
from manifests.stream import read_documents
from manifests.unpack import NoText, decoded
from planning.experiments.definition import experiment_schema
from planning.schema import Validator, faults
from queuecast.problems import Json, Refused, problem, refusal

SCHEMAS = ("rules", "plan", "experiment")


@cache
def schema(name: str) -> Json:
    """Return a published schema."""
    if name == "experiment":
        return experiment_schema()
    held: Json = json.loads(
        files("queuecast").joinpath("schemas", f"{name}.json").read_text(encoding="utf-8")
    )
    return held


@cache
def _registry() -> Registry[Any]:
    """Return the schemas by their reference names."""
    return Registry().with_resources(
        [(f"{name}.json", Resource.from_contents(schema(name))) for name in SCHEMAS]
    )


def read_checked(label: str, content: bytes, name: str) -> Document:
    """Return the only document of a text, valid by a schema, or raise Refused with every problem."""
    try:
        documents = [one for one in read_documents(decoded(content)) if one.value is not None or one.faults]
    except NoText as error:
        raise Refused(f"{label}: {error}") from None
    unreadable = [
        problem(
            rule=fault.rule, severity="error", message=fault.message, path=spell(fault.steps),
            document=label, line=fault.line + 1, fix=fault.fix,
        )
        for document in documents
        for fault in document.faults
    ]  # fmt: skip
    if unreadable:
        raise refusal(unreadable)
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
    validator = Validator(schema(name), registry=_registry())
    for fault in faults(validator, document.value):
        rule = f"{name}.{fault.rule}"
        yield problem_at(label, document, fault.steps, rule, fault.message, fault.fix)
