"""How do the fields of an edited queue become a merge patch, and where does a problem belong?

A field is named as its path below the queue: ``weight``, ``guarantee.resource.cpu``.
"""

from collections.abc import Mapping, Sequence
from typing import Any

Texts = Mapping[str, str]
"""Field name to what stands in it; an empty text says: not set."""

QUANTITIES = ("guarantee.resource", "deserved", "capability")
_WHOLE = ("weight", "priority")
_FLAGS = {"": None, "true": True, "false": False}


def queue_fields(spec: Mapping[str, Any], resources: Sequence[str]) -> dict[str, str]:
    """Return what stands in the fields of a queue's editor, given its spec in CRD spelling.

    >>> queue_fields({"weight": 4, "deserved": {"cpu": "8"}}, ["cpu"])["deserved.cpu"]
    '8'
    """
    texts = {field: "" if spec.get(field) is None else str(spec[field]) for field in _WHOLE}
    texts["reclaimable"] = {None: "", True: "true", False: "false"}[spec.get("reclaimable")]
    for field in QUANTITIES:
        held = _held(spec, field)
        texts |= {f"{field}.{resource}": str(held.get(resource, "")) for resource in resources}
    return texts


def typed_fields(post: Texts, known: Texts) -> dict[str, str]:
    """Return what was typed into the editor's known fields; one that was not sent stays as it is."""
    return {field: post.get(field, text).strip() for field, text in known.items()}


def merged_fields(*, seen: Texts, typed: Texts, present: Texts) -> dict[str, str]:
    """Return what to show after another edit: what was typed where it was touched, else what is there now.

    >>> merged_fields(seen={"a": "1", "b": "1"}, typed={"a": "2", "b": "1"}, present={"a": "1", "b": "5"})
    {'a': '2', 'b': '5'}
    """
    return {
        field: text if text != seen.get(field, "") else present.get(field, "")
        for field, text in typed.items()
    }


def queue_patch(typed: Texts, stored: Texts) -> dict[str, Any]:
    """Return the merge patch of the fields that differ from what is stored.

    A text that is no number stays a text, for the service to refuse with its reason.

    >>> queue_patch({"weight": "4", "capability.cpu": ""}, {"weight": "1", "capability.cpu": "8"})
    {'weight': 4, 'capability': {'cpu': None}}
    """
    patch: dict[str, Any] = {}
    for field, text in typed.items():
        if text != stored.get(field, ""):
            *way, leaf = _way(field)
            inner = patch
            for key in way:
                inner = inner.setdefault(key, {})
            inner[leaf] = _value(field, text)
    return patch


def _way(field: str) -> list[str]:
    for quantities in QUANTITIES:
        if field.startswith(f"{quantities}."):
            return [*quantities.split("."), field.removeprefix(f"{quantities}.")]
    return [field]


def _value(field: str, text: str) -> Any:
    if field == "reclaimable":
        return _FLAGS.get(text, text)
    if field in _WHOLE and text.removeprefix("-").isdecimal():
        return int(text)
    return text or None


def _held(spec: Mapping[str, Any], field: str) -> Mapping[str, Any]:
    held: Any = spec
    for key in field.split("."):
        held = held.get(key) or {}
    quantities: Mapping[str, Any] = held
    return quantities
