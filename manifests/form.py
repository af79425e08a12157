"""Is an object formed as every Kubernetes object is? What its fields mean is the core's to check."""

from collections.abc import Iterator
from typing import Any

from manifests.document import Document, Fault, Steps

_UNSAFE = frozenset("/%")
"""The API server refuses them in names: a name is part of an address."""


def form_faults(value: Any, steps: Steps, what: str, document: Document) -> Iterator[Fault]:
    """Yield what keeps an object from having an identity; `what` names its kind."""

    def fault(rule: str, message: str, fix: str, *way: str) -> Fault:
        where = (*steps, *way)
        return Fault(rule, message, document.place(where).line, fix, where)

    if not isinstance(value, dict):
        yield fault(
            "form.type",
            f"{type_name(value)} stands where an object belongs",
            "write an object with kind and metadata",
        )
        return
    metadata = value.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        yield fault(
            "form.type", f"metadata of this {what} is {type_name(metadata)}", "make it a mapping", "metadata"
        )
        return
    metadata = metadata or {}
    name = metadata.get("name")
    if name is None or name == "":
        yield fault("form.name", f"this {what} has no metadata.name", "give it a name", "metadata", "name")
    elif not isinstance(name, str):
        message = f"metadata.name of this {what} is {type_name(name)}"
        yield fault("form.type", message, "quote it", "metadata", "name")
    elif not _is_safe(name):
        message = f"{name!r} is no name that the API server accepts"
        yield fault("form.name", message, "use letters, digits, - and .", "metadata", "name")
    namespace = metadata.get("namespace")
    if namespace is not None and not isinstance(namespace, str):
        message = f"metadata.namespace of this {what} is {type_name(namespace)}"
        yield fault("form.type", message, "quote it", "metadata", "namespace")
    for part in ("spec", "status"):
        if not isinstance(value.get(part) or {}, dict):
            yield fault(
                "form.type", f"{part} of {what} {name} is {type_name(value[part])}", "make it a mapping", part
            )


def _is_safe(name: str) -> bool:
    return name not in (".", "..") and name.isprintable() and not _UNSAFE & set(name)


def type_name(value: Any) -> str:
    """Return a value's type as a reader of YAML calls it."""
    if value is None:
        return "empty"
    names = {
        dict: "a mapping",
        list: "a list",
        str: "a text",
        bool: "true or false",
        int: "a number",
        float: "a number",
    }
    return names[type(value)]
