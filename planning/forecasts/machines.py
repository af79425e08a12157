"""The nodes of a forecast over time, by pool."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from planning.documents import items
from planning.forecasts.demand import events_of
from planning.forecasts.steps import NOTHING, Steps
from planning.nodes import pool_name
from scheduler_core.model.allocatable import allocatable_of
from scheduler_core.replay.timeline import Timeline

Json = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Pool:
    """Nodes of one shape.

    Attributes
    ----------
    name : str
        Their instance type, else what one of them offers.
    nodes : Steps
        How many there are.
    offers : mapping
        By resource, what they offer together, in the scheduler's units.

    """

    name: str
    nodes: Steps
    offers: Mapping[str, Steps]

    def capacity(self, resource: str) -> Steps:
        """Return the capacity of the pool for a resource."""
        return self.offers.get(resource, NOTHING)


def pools_of(document: Json, end: float) -> list[Pool]:
    """Return the pools of a replay by name, as its sessions find them.

    Lost nodes count until they are deleted.
    """
    counts: dict[str, list[tuple[float, float]]] = {}
    sums: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for time, node, sign in sorted(_changes(document, end), key=lambda change: change[0]):
        offers = _offers(node)
        name = pool_name(node)
        history = counts.setdefault(name, [])
        history.append((time, (history[-1][1] if history else 0.0) + sign))
        for resource, amount in offers.items():
            of_resource = sums.setdefault(name, {}).setdefault(resource, [])
            of_resource.append((time, (of_resource[-1][1] if of_resource else 0.0) + sign * amount))
    return [
        Pool(
            name,
            Steps.of(history),
            {resource: Steps.of(of_resource) for resource, of_resource in sums.get(name, {}).items()},
        )
        for name, history in sorted(counts.items())
    ]


def _changes(document: Json, end: float) -> Iterator[tuple[float, Json, int]]:
    """Yield the times at which each node is added (1) and removed (-1)."""
    there: dict[str, Json] = {}
    for node in items(document.get("nodes")):
        there[node["metadata"]["name"]] = node
        yield 0.0, node, 1
    timeline = Timeline.read(document)
    for event in sorted(events_of(document), key=lambda event: float(event["at"])):
        at = timeline.session_at_or_after(float(event["at"]), 0) * timeline.period
        if at > end:
            return
        for node in items((event.get("create") or {}).get("nodes")):
            there[node["metadata"]["name"]] = node
            yield at, node, 1
        for node in items((event.get("replace") or {}).get("nodes")):
            name = node["metadata"]["name"]
            if name in there:
                replaced = {**node, "status": there[name].get("status") or {}}
                yield at, there[name], -1
                yield at, replaced, 1
                there[name] = replaced
        for name in (event.get("delete") or {}).get("nodes") or ():
            if name in there:
                yield at, there.pop(name), -1


def _offers(node: Json) -> dict[str, float]:
    """Return what a session finds on an empty node, oversubscription included."""
    status = node.get("status") or {}
    filled = {**node, "status": {"allocatable": status.get("allocatable") or status.get("capacity") or {}}}
    return {resource: float(amount) for resource, amount in allocatable_of(filled).items() if amount}
