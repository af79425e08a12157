"""The settings of a scenario that an experiment can vary."""

from collections.abc import Sequence
from dataclasses import dataclass

from planner.scenarios.models import Scenario
from planner.scenarios.selectors.scenarios import objects_in, state_of
from planning.forecasts.intake import queues_for_jobs

MOST_NODES = 20
"""The most kinds of nodes that are offered as templates of further nodes."""


@dataclass(frozen=True)
class Offer:
    """Queues that take jobs, one node of each shape, and the resources of the nodes."""

    queues: Sequence[str]
    nodes: Sequence[str]
    resources: Sequence[str]


def offered(scenario: Scenario) -> Offer:
    """Return the settings to vary of a scenario (3 queries, none for a cached snapshot)."""
    state = state_of(scenario)
    nodes = objects_in(scenario, state).of_kind("nodes").values()
    shapes: dict[str, str] = {}
    resources: dict[str, None] = {"cpu": None, "memory": None}
    for node in nodes:
        allocatable = (node.get("status") or {}).get("allocatable") or {}
        shapes.setdefault(repr(sorted(allocatable.items())), node["metadata"]["name"])
        resources |= {name: None for name in allocatable if "/" in name}
    return Offer(queues_for_jobs(state.ordered_queues()), list(shapes.values())[:MOST_NODES], list(resources))
