"""The settings of a scenario that an experiment can vary."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planner.scenarios.models import Scenario
from planner.scenarios.selectors.releases import release_used
from planner.scenarios.selectors.scenarios import objects_in, state_of
from planning.amounts import read_amounts
from planning.forecasts.trace_texts import queues_for_jobs
from planning.preview import fields_without_effect
from planning.states import State

Setting = Mapping[str, Any]
MOST_NODES = 20
"""The most kinds of nodes that are offered as templates of further nodes."""


@dataclass(frozen=True)
class Offer:
    """Queues that take jobs, one node of each shape with its devices, and the resources of the nodes.

    `unread` are the fields of queues without effect, `of_queue` is a setting of each queue that has an
    effect, with values to try.
    """

    queues: Sequence[str]
    nodes: Mapping[str, Sequence[str]]
    resources: Sequence[str]
    unread: Collection[str]
    of_queue: Mapping[str, Setting]

    @property
    def setting(self) -> Setting:
        """Return one of the settings, as an example."""
        return next(iter(self.of_queue.values()), _weight("default"))


def offered(scenario: Scenario) -> Offer:
    """Return the settings to vary of a scenario (3 queries, none for a cached snapshot)."""
    state = state_of(scenario)
    nodes = objects_in(scenario, state).of_kind("nodes").values()
    shapes: dict[str, tuple[str, Sequence[str]]] = {}
    resources: dict[str, None] = {"cpu": None, "memory": None}
    for node in nodes:
        allocatable = (node.get("status") or {}).get("allocatable") or {}
        here = {name: None for name in allocatable if "/" in name}
        shapes.setdefault(repr(sorted(allocatable.items())), (node["metadata"]["name"], list(here)))
        resources |= here
    queues = queues_for_jobs(state.ordered_queues())
    unread = fields_without_effect(state.conf_text, release_used(scenario))
    return Offer(
        queues=queues,
        nodes=dict(list(shapes.values())[:MOST_NODES]),
        resources=list(resources),
        unread=unread,
        of_queue=_settings(state, queues, unread),
    )


def _settings(state: State, queues: Sequence[str], unread: Collection[str]) -> dict[str, Setting]:
    """Return the weight of each queue, or what it deserves if weights have no effect, with values to try."""
    deserved = {
        queue: setting
        for queue in (queues if "weight" in unread and "deserved" not in unread else ())
        if (setting := _deserved(state, queue))
    }
    return deserved or {queue: _weight(queue) for queue in queues}


def _weight(queue: str) -> Setting:
    return {"queue": queue, "field": "weight", "values": [1, 2, 4, 8]}


def _deserved(state: State, queue: str) -> Setting | None:
    """Return half and twice what a queue deserves of its main resource; None if it deserves none."""
    deserved = read_amounts(state.queues[queue].deserved if queue in state.queues else {})
    for resource in sorted(deserved, key=lambda name: ("/" not in name, name)):
        if (amount := deserved[resource]) and resource not in ("memory", "pods"):
            tried = [part * amount / 1000 for part in (0.5, 2)]
            values = [f"{round(number) if number >= 10 else number:.12g}" for number in tried]
            return {"queue": queue, "field": "deserved", "resource": resource, "values": values}
    return None
