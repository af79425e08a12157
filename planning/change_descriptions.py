"""Descriptions of a scenario's changes."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from planning.states import CONF, QUEUES, RELEASE, Difference, Edit

KIND_WORDS = {
    QUEUES: "queue", CONF: "scheduler configuration", RELEASE: "release", "nodes": "node", "jobs": "job",
    "podgroups": "PodGroup", "pods": "pod", "priorityclasses": "priority class", "namespaces": "namespace",
    "resourcequotas": "resource quota", "poddisruptionbudgets": "pod disruption budget",
}  # fmt: skip
AS_IMPORTED = "as imported"
LONGEST_VALUE = 80


def change_text(change: Difference) -> str:
    """Return a change as one phrase.

    >>> change_text(Edit("queues", "vision", "weight", 8, 2))
    'queue vision: weight 8 → 2'
    >>> change_text(Edit("queues", "vision", "deserved", {"cpu": "8"}, {"cpu": "12", "memory": "1Gi"}))
    'queue vision: deserved cpu 8 → cpu 12, memory 1Gi'
    >>> change_text(Edit("nodes", "n9", after={"kind": "Node"}))
    'node n9 added'
    """
    named = subject_text(change)
    if change.kind == CONF:
        return f"{named} edited"
    if change.kind == RELEASE:
        return f"{named} {change.before or AS_IMPORTED} → {change.after or AS_IMPORTED}"
    if change.field:
        return f"{named} {value_text(change.before)} → {value_text(change.after)}"
    return f"{named} {event_text(change)}"


def subject_text(change: Difference) -> str:
    """Return the object of a change.

    >>> subject_text(Edit("queues", "vision", "weight", 8, 2)), subject_text(Edit("conf"))
    ('queue vision: weight', 'scheduler configuration')
    """
    named = " ".join(part for part in (KIND_WORDS.get(change.kind, change.kind), change.key) if part)
    return f"{named}: {change.field}" if change.field else named


def event_text(change: Difference) -> str:
    """Return what happened to a whole object."""
    if change.before is None:
        return "added"
    return "removed" if change.after is None else "changed"


def value_text(value: Any) -> str:
    """Return a value of a field as people write it.

    >>> value_text({"cpu": "8", "nvidia.com/gpu": "4"}), value_text(None), value_text([]), value_text(True)
    ('cpu 8, nvidia.com/gpu 4', 'not set', 'not set', 'true')
    >>> value_text([{"key": "gpu", "effect": "NoSchedule"}])
    'key gpu, effect NoSchedule'
    """
    if value in (None, "", {}, []):
        return "not set"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        text = ", ".join(f"{name} {value_text(inner)}" for name, inner in value.items())
    elif isinstance(value, Sequence) and not isinstance(value, str):
        text = "; ".join(value_text(inner) for inner in value)
    else:
        text = str(value)
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"


def net_changes(changes: Iterable[Difference]) -> list[Edit]:
    """Return the total of consecutive changes, without those that cancel out.

    >>> first, second = Edit("queues", "a", "weight", 1, 2), Edit("queues", "a", "weight", 2, 4)
    >>> net_changes([first, second])
    [Edit(kind='queues', key='a', field='weight', before=1, after=4)]
    >>> net_changes([first, Edit("queues", "a", "weight", 2, 1)])
    []
    """
    found: dict[tuple[str, str, str], Edit] = {}
    for change in changes:
        path = change.kind, change.key, change.field
        before = found[path].before if path in found else change.before
        found[path] = Edit(*path, before=before, after=change.after)
    return [edit for edit in found.values() if edit.before != edit.after]
