"""Is an object formed as every Kubernetes object is? What its fields mean is the core's to check."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from manifests.document import Steps

_UNSAFE = frozenset("/%")
"""The API server refuses them in names: a name is part of an address."""


class Complaint(NamedTuple):
    """What is wrong with a key of an object."""

    rule: str
    message: str
    fix: str
    steps: Steps
    """The way to it in the document."""


def form_complaints(value: Any, steps: Steps, what: str) -> Iterator[Complaint]:
    """Yield what keeps an object from having an identity; `what` names its kind."""
    if not isinstance(value, dict):
        message = f"{type_name(value)} stands where an object belongs"
        yield Complaint("form.type", message, "write an object with kind and metadata", steps)
        return
    metadata = value.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        message = f"metadata of this {what} is {type_name(metadata)}"
        yield Complaint("form.type", message, "make it a mapping", (*steps, "metadata"))
        return
    yield from _name_complaints(metadata or {}, (*steps, "metadata"), what)
    for part in ("spec", "status"):
        if not isinstance(value.get(part) or {}, dict):
            message = f"{part} of this {what} is {type_name(value[part])}"
            yield Complaint("form.type", message, "make it a mapping", (*steps, part))


def _name_complaints(metadata: dict[str, Any], steps: Steps, what: str) -> Iterator[Complaint]:
    name, namespace = metadata.get("name"), metadata.get("namespace")
    way = (*steps, "name")
    if name is None or name == "":
        yield Complaint("form.name", f"this {what} has no metadata.name", "give it a name", way)
    elif not isinstance(name, str):
        yield Complaint("form.type", f"the name of this {what} is {type_name(name)}", "quote it", way)
    elif not _is_safe(name):
        message = f"{name!r} is no name that the API server accepts"
        yield Complaint("form.name", message, "use letters, digits, - and .", way)
    if namespace is not None and not isinstance(namespace, str):
        message = f"the namespace of this {what} is {type_name(namespace)}"
        yield Complaint("form.type", message, "quote it", (*steps, "namespace"))


def _is_safe(name: str) -> bool:
    return name not in (".", "..") and name.isprintable() and not _UNSAFE & set(name)


def type_name(value: Any) -> str:
    """Return a value's type as a reader of YAML calls it."""
    if value is None:
        return "empty"
    names = {dict: "a mapping", list: "a list", str: "a text", bool: "true or false"}
    return names.get(type(value), "a number")
