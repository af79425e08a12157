"""The queues of the sample: departments under root, teams under departments."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from planner.clusters.sample.clock import before
from planner.clusters.sample.nodes import GPU

Amounts = dict[str, str]


@dataclass(frozen=True)
class Team:
    """A queue; a department if others have it as their parent."""

    name: str
    parent: str
    weight: int = 1
    reclaimable: bool = True
    gpus: int = 0
    """Its agreed deserved amount, which `capacity` would read; `proportion` uses the weight alone."""
    guarantee: Amounts = field(default_factory=dict)
    capability: Amounts = field(default_factory=dict)


_TEAMS = (
    Team("research", "root", weight=6, gpus=300),
    Team("vision", "research", weight=2, gpus=100, capability={GPU: "256"}),
    Team("nlp", "research", weight=3, gpus=128),
    Team("agents", "research", weight=1, gpus=72),
    Team("product", "root", weight=4, gpus=136),
    Team("search", "product", weight=2, gpus=80),
    Team("ads", "product", weight=1, gpus=32),
    Team("robotics", "product", weight=1, gpus=24),
    Team("platform", "root", weight=5, gpus=68, guarantee={GPU: "40"}),
    Team("serving", "platform", weight=2, gpus=56, reclaimable=False, guarantee={GPU: "40"}),
    Team("ci", "platform", weight=1, gpus=12, capability={"cpu": "512", GPU: "16"}),
    Team("analytics", "platform", weight=2),
)


def sample_queues() -> Iterator[dict[str, Any]]:
    """Yield the queues, parents first, including `root` and `default` as the scheduler creates them."""
    yield _queue("root", {"weight": 1, "reclaimable": False})
    yield _queue("default", {"weight": 1, "reclaimable": True, "parent": "root"})
    for team in _TEAMS:
        yield _queue(team.name, _spec(team))


def _spec(team: Team) -> dict[str, Any]:
    spec: dict[str, Any] = {"weight": team.weight, "reclaimable": team.reclaimable, "parent": team.parent}
    if team.guarantee:
        spec["guarantee"] = {"resource": team.guarantee}
    if team.gpus:
        spec["deserved"] = {GPU: str(team.gpus)}
    if team.capability:
        spec["capability"] = team.capability
    return spec


def _queue(name: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "Queue",
        "metadata": {"name": name, "creationTimestamp": before(days=110)},
        "spec": spec,
        "status": {"state": "Open"},
    }
