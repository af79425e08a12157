"""Conversion of a queue editor's fields to a merge patch, and of problems to fields.

A field is named by its path in the queue: ``weight``, ``guarantee.resource.cpu``.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from planning.queues import SPEC_FIELDS, count_or_text

Texts = Mapping[str, str]
"""Field name to its text; an empty text means not set."""

QUANTITIES = ("guarantee.resource", "deserved", "capability")
HIERARCHY = ("annotations.volcano.sh/hierarchy", "annotations.volcano.sh/hierarchy-weights")
NODE_GROUPS = {
    f"affinity.{kind}.{strength}DuringSchedulingIgnoredDuringExecution": label
    for kind, strength, label in (
        ("nodeGroupAffinity", "required", "required node groups"),
        ("nodeGroupAffinity", "preferred", "preferred node groups"),
        ("nodeGroupAntiAffinity", "required", "forbidden node groups"),
        ("nodeGroupAntiAffinity", "preferred", "avoided node groups"),
    )
}
"""The fields of affinity, as comma-separated node groups, and their labels."""
_MAPS = (*QUANTITIES, "annotations")
_TEXTS = ("name", "state", *[field.name for field in SPEC_FIELDS if field.longest])
_WHOLE = ("weight", "priority")
_FLAGS = {"": None, "true": True, "false": False}


def queue_fields(spec: Mapping[str, Any], resources: Sequence[str]) -> dict[str, str]:
    """Return what stands in the fields of a queue's editor, given its spec in CRD spelling.

    >>> fields = queue_fields({"weight": 4, "deserved": {"cpu": "8"}}, ["cpu"])
    >>> fields["deserved.cpu"], fields["weight"], fields["parent"]
    ('8', '4', '')
    """
    texts = {field: "" if spec.get(field) is None else str(spec[field]) for field in (*_TEXTS, *_WHOLE)}
    texts["reclaimable"] = {None: "", True: "true", False: "false"}[spec.get("reclaimable")]
    for field in QUANTITIES:
        held = _held(spec, field)
        texts |= {f"{field}.{resource}": str(held.get(resource, "")) for resource in resources}
    texts |= {field: str(_held(spec, "annotations").get(field.partition(".")[2], "")) for field in HIERARCHY}
    for field in NODE_GROUPS:
        above, _, leaf = field.rpartition(".")
        texts[field] = ", ".join(_held(spec, above).get(leaf) or ())
    return texts


def posted_resources(post: Texts) -> list[str]:
    """Return the resources whose quantities an editor sent.

    >>> posted_resources({"weight": "1", "deserved.cpu": "2", "guarantee.resource.nvidia.com/gpu": ""})
    ['cpu', 'nvidia.com/gpu']
    """
    found = (
        field.removeprefix(f"{above}.")
        for field in post
        for above in QUANTITIES
        if field.startswith(f"{above}.")
    )
    return sorted(set(found))


def typed_queue(post: Texts, spec: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, Any]]:
    """Return what was typed into the fields of a queue with this spec, and the merge patch that it comes to.

    A field that was not sent stays as it is; a queue to come has an empty spec.

    >>> typed_queue({"weight": " 4 "}, {"name": "a", "weight": 1})[1]
    {'weight': 4}
    """
    present = queue_fields(spec, posted_resources(post))
    typed = {field: post.get(field, text).strip() for field, text in present.items()}
    return typed, queue_patch(typed, present)


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
        if text != stored.get(field, "") and field not in NODE_GROUPS:
            *way, leaf = _way(field)
            inner = patch
            for key in way:
                inner = inner.setdefault(key, {})
            inner[leaf] = _value(field, text)
    if any(typed[field] != stored.get(field, "") for field in NODE_GROUPS if field in typed):
        patch["affinity"] = _affinity(typed)
    return patch


def _affinity(typed: Texts) -> dict[str, Any] | None:
    """Return the patch of affinity; one that names no group is not set, because an empty one says a lot."""
    patch: dict[str, Any] = {}
    for field in NODE_GROUPS:
        _, kind, leaf = field.split(".")
        groups = [group.strip() for group in typed.get(field, "").split(",") if group.strip()]
        patch.setdefault(kind, {})[leaf] = groups or None
    kinds = {kind: lists if any(lists.values()) else None for kind, lists in patch.items()}
    return kinds if any(kinds.values()) else None


def _way(field: str) -> list[str]:
    for above in _MAPS:
        if field.startswith(f"{above}."):
            return [*above.split("."), field.removeprefix(f"{above}.")]
    return [field]


def _value(field: str, text: str) -> Any:
    if field == "reclaimable":
        return _FLAGS.get(text, text)
    if field in _WHOLE and text:
        return count_or_text(text)
    return text or None


def _held(spec: Mapping[str, Any], field: str) -> Mapping[str, Any]:
    held: Any = spec
    for key in field.split("."):
        held = held.get(key) or {}
    quantities: Mapping[str, Any] = held
    return quantities
