"""Validation of the common form of Kubernetes objects; the core checks their fields."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from manifests.document import Steps

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_NAME = re.compile(rf"{_LABEL}(\.{_LABEL})*")
"""DNS-1123 subdomain: the name of any object that the scheduler reads, except namespaces."""
_NAMESPACE = re.compile(_LABEL)
_LONGEST_NAME, _LONGEST_NAMESPACE = 253, 63
_REPLACED = "\ufffd"
"""The replacement for a character that YAML does not allow, which is reported already."""
_ADVICE = "use lower-case letters, digits, - and ., with a letter or digit at each end of every part"


class Complaint(NamedTuple):
    """A problem of an object's key."""

    rule: str
    message: str
    fix: str
    steps: Steps
    """Its path in the document."""


def form_complaints(value: Any, steps: Steps, what: str, *, imagined: bool = False) -> Iterator[Complaint]:
    """Yield the problems that leave an object without an identity; `what` names its kind.

    An imagined object, of a scenario, may have capital letters in its name.
    """
    if not isinstance(value, dict):
        message = f"{type_name(value)} found where an object was expected"
        yield Complaint("form.type", message, "write an object with kind and metadata", steps)
        return
    metadata = value.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        message = f"metadata of this {what} is {type_name(metadata)}"
        yield Complaint("form.type", message, "use a mapping", (*steps, "metadata"))
        return
    yield from _name_complaints(metadata or {}, (*steps, "metadata"), what, imagined)
    for part in ("spec", "status"):
        if not isinstance(value.get(part) or {}, dict):
            message = f"{part} of this {what} is {type_name(value[part])}"
            yield Complaint("form.type", message, "use a mapping", (*steps, part))


def _name_complaints(
    metadata: dict[str, Any], steps: Steps, what: str, imagined: bool
) -> Iterator[Complaint]:
    name, namespace = metadata.get("name"), metadata.get("namespace")
    way = (*steps, "name")
    if name is None or name == "":
        yield Complaint("form.name", f"this {what} has no metadata.name", "give it a name", way)
    elif not isinstance(name, str):
        yield Complaint("form.type", f"the name of this {what} is {type_name(name)}", "quote it", way)
    elif _REPLACED not in name and not _is_name(_lowered(name) if imagined else name, what):
        message = f"{_shown(name)} is not a valid name"
        yield Complaint("form.name", message, _ADVICE, way)
    way = (*steps, "namespace")
    if namespace is not None and not isinstance(namespace, str):
        message = f"the namespace of this {what} is {type_name(namespace)}"
        yield Complaint("form.type", message, "quote it", way)
    elif namespace and not _is_namespace(_lowered(namespace) if imagined else namespace):
        message = f"{_shown(namespace)} is not a valid namespace"
        yield Complaint("form.name", message, "use up to 63 lower-case letters, digits and -", way)


def _lowered(name: str) -> str:
    return name.lower() if name.isascii() else name


def _is_name(name: str, what: str) -> bool:
    if what == "Namespace":
        return _is_namespace(name)
    return len(name) <= _LONGEST_NAME and _NAME.fullmatch(name) is not None


def _is_namespace(name: str) -> bool:
    return len(name) <= _LONGEST_NAMESPACE and _NAMESPACE.fullmatch(name) is not None


def _shown(name: str) -> str:
    return repr(name if len(name) <= _LONGEST_NAME else f"{name[:50]}…")


def type_name(value: Any) -> str:
    """Return the name of a value's type in YAML."""
    if value is None:
        return "empty"
    names = {dict: "a mapping", list: "a list", str: "a text", bool: "true or false"}
    return names.get(type(value), "a number")
