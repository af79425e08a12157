"""Which plain rows do pages, charts and the API share?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Quantities = Mapping[str, str]
"""Resource name to quantity as people write it: ``{"cpu": "8", "memory": "32Gi"}``."""
Amounts = Mapping[str, float | None]
"""Resource name to amount in the scheduler's units; None: unlimited, a missing name: nothing is set."""


@dataclass(frozen=True)
class Problem:
    """Something wrong, or worth knowing, about a plan or a text; what is not known is None."""

    rule: str
    severity: str
    message: str
    path: str | None = None
    queue: str | None = None
    field: str | None = None
    actual: Any = None
    limit: Any = None
    fix: str | None = None
    document: str | None = None
    line: int | None = None

    @property
    def is_error(self) -> bool:
        """Does it forbid to save or to simulate?"""
        return self.severity == "error"


@dataclass(frozen=True)
class QueueRow:
    """One queue of a scenario's tree; rows come parents first, children by name under their parent."""

    name: str
    parent: str
    depth: int
    children: int
    weight: int | None
    priority: int | None
    reclaimable: bool | None
    state: str
    guarantee: Quantities
    deserved: Quantities
    capability: Quantities
    dequeue_strategy: str
    affinity: Mapping[str, Any]
    annotations: Mapping[str, str]
    labels: Mapping[str, str]


@dataclass(frozen=True)
class QueueFigures:
    """What a run made of one queue. Amounts are those at the end of the last cycle unless named otherwise."""

    queue: str
    parent: str
    depth: int
    weight: int | None
    share: float | None
    share_at_open: float | None
    deserved: Amounts
    allocated: Amounts
    allocated_at_open: Amounts
    request: Amounts
    capability: Amounts
    real_capability: Amounts
    guarantee: Amounts
    elastic: Amounts
    inqueue: Amounts
    overused: bool | None
    in_session: bool


@dataclass(frozen=True)
class RunCounts:
    """How much a run decided, in numbers of pods and jobs."""

    bound: int
    pipelined: int
    victims_committed: int
    victims_kept: int
    victims_failed: int
    jobs: int
    jobs_pending: int


# Why a run decided so


@dataclass(frozen=True)
class Vote:
    """What one plugin said of one candidate, with the numbers that it looked at."""

    tier: int
    plugin: str
    verdict: str
    why: str
    numbers: Mapping[str, Any]


@dataclass(frozen=True)
class Spared:
    """A candidate that was not chosen, and the plugin that spoke for it."""

    cycle: int
    pod: str
    job: str
    queue: str
    node: str
    plugin: str
    why: str
    numbers: Mapping[str, Any]


@dataclass(frozen=True)
class VictimStory:
    """Why one pod was chosen as a victim; `place` is its turn among those chosen for the same pod."""

    order: int
    cycle: int
    pod: str
    job: str
    queue: str
    node: str
    for_pod: str
    for_job: str
    for_queue: str
    action: str
    state: str
    reason: str
    ran_seconds: float | None
    tier: int
    place: int
    votes: Sequence[Vote]
    freed: Amounts
    needed: Amounts
    together: Sequence[int]
    freed_together: Amounts
    spared: Sequence[Spared]


@dataclass(frozen=True)
class DerivationStep:
    """One step towards what a queue deserves: a round of dividing, or a level of the tree."""

    plugin: str
    number: int
    queue: str
    terms: Mapping[str, Any]
    amounts: Mapping[str, Amounts]
    clipped_by: Mapping[str, str]


@dataclass(frozen=True)
class QueueStory:
    """Why a queue deserves what it does, in a cycle."""

    queue: str
    cycle: int
    sentence: str
    steps: Sequence[DerivationStep]


@dataclass(frozen=True)
class FlowRow:
    """What one queue lost to another: pods evicted or kept back, and what the evicted ones held."""

    giver: str
    taker: str
    evicted: int
    kept: int
    amounts: Amounts


@dataclass(frozen=True)
class QueueMoment:
    """How a queue stood at one step."""

    queue: str
    allocated: Amounts
    deserved: Amounts
    share: float


@dataclass(frozen=True)
class NodeMoment:
    """How a node stood at one step; `free` is what is idle or being released, less what is promised."""

    node: str
    idle: Amounts
    releasing: Amounts
    pipelined: Amounts
    free: Amounts


@dataclass(frozen=True)
class Moment:
    """How queues and nodes stood just after one step."""

    queues: Sequence[QueueMoment]
    nodes: Sequence[NodeMoment]


def hangs_below(name: str, parent: str) -> str:
    """Return under which queue `name` stands: as in Volcano, one without a parent hangs below root."""
    return parent or ("" if name == "root" else "root")


def tree_order(parents: Mapping[str, str]) -> list[tuple[str, int]]:
    """Return names with their depths, parents first, children by name; `parents` maps child to parent.

    A queue whose parent is missing, or that hangs in a circle, stands at the top: who mends it must see it.

    >>> tree_order({"b": "a", "a": "root", "root": "", "c": "b", "d": "gone"})
    [('d', 0), ('root', 0), ('a', 1), ('b', 2), ('c', 3)]
    >>> tree_order({"x": "y", "y": "x"})
    [('x', 0), ('y', 1)]
    """
    children: dict[str, list[str]] = {}
    for name in sorted(parents):
        children.setdefault(parents[name], []).append(name)
    tops = [name for name in sorted(parents) if parents[name] not in parents]
    order: dict[str, int] = {}
    for top in [*tops, *sorted(parents)]:
        waiting = [(top, 0)]
        while waiting:
            name, depth = waiting.pop()
            if name not in order:
                order[name] = depth
                waiting += [(child, depth + 1) for child in reversed(children.get(name, []))]
    return list(order.items())
