"""Changes to single fields of a scenario's objects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from scheduler_core.admission_rules import QueueAdmission
from scheduler_core.explain.cycle_view import items, key_of

Parts = dict[str, Any]

CONF = "conf"
_CLUSTER_WIDE = frozenset({"nodes", "queues", "priorityclasses", "namespaces"})


@dataclass(frozen=True)
class Change:
    """One edit of a scenario.

    Attributes
    ----------
    kind : str
        The scenario's list (queues, nodes, podgroups...), or `conf`.
    key : str
        The object's name, with its namespace if it has one; empty for the configuration.
    field : str
        The path in the CRD's spelling, separated by dots, with a number for an entry of a list; empty for the
        whole object.
    before, after
        The value; None: absent.

    """

    kind: str
    key: str
    field: str
    before: Any
    after: Any

    def as_dict(self) -> dict[str, Any]:
        """Return the change as plain data."""
        return asdict(self)


def applied(document: Mapping[str, Any], changes: Iterable[Change]) -> Parts:
    """Return the parts of a scenario that differ after the changes; nothing is edited in place.

    Examples
    --------
    >>> document = {"queues": [{"metadata": {"name": "a"}, "spec": {"weight": 1}}]}
    >>> applied(document, [Change("queues", "a", "spec.weight", 1, 3)])
    {'queues': [{'metadata': {'name': 'a'}, 'spec': {'weight': 3}}]}

    """
    parts: Parts = {}
    for change in changes:
        if change.kind == CONF:
            parts["scheduler_conf"] = change.after
        else:
            listed = parts.get(change.kind) or list(items(document, change.kind))
            parts[change.kind] = _with(listed, change)
    return parts


def refusals(document: Mapping[str, Any], changes: Iterable[Change]) -> list[str]:
    """Return why Volcano's webhook would refuse the changed queues, without previous refusals."""
    parts = applied(document, [change for change in changes if change.kind == "queues"])
    if not parts:
        return []
    known = {(found.rule, found.queue) for found in QueueAdmission(items(document, "queues")).of_all()}
    after = QueueAdmission(items({**document, **parts}, "queues")).of_all()
    return [found.message for found in after if (found.rule, found.queue) not in known]


def _with(listed: list[Any], change: Change) -> list[Any]:
    for position, entry in enumerate(listed):
        if _key(change.kind, entry) == change.key:
            if change.field:
                changed = [_set(entry, change.field.split("."), change.after)]
            else:
                changed = [] if change.after is None else [change.after]
            return [*listed[:position], *changed, *listed[position + 1 :]]
    return listed if change.field or change.after is None else [*listed, change.after]


def _key(kind: str, entry: Mapping[str, Any]) -> str:
    return str(entry["metadata"]["name"]) if kind in _CLUSTER_WIDE else key_of(entry)


def _set(entry: Any, path: list[str], value: Any) -> Any:
    name, *rest = path
    if isinstance(entry, list):
        place = int(name)
        return [*entry[:place], _set(entry[place], rest, value) if rest else value, *entry[place + 1 :]]
    changed = dict(entry)
    if rest:
        changed[name] = _set(changed.get(name) or {}, rest, value)
    elif value is None:
        changed.pop(name, None)
    else:
        changed[name] = value
    return changed


def value_at(entry: Mapping[str, Any], field: str) -> Any:
    """Return the value of a field, None if it is absent."""
    value: Any = entry
    for name in field.split("."):
        if isinstance(value, list):
            value = value[int(name)]
        elif isinstance(value, Mapping):
            value = value.get(name)
        else:
            return None
    return value
