"""What came of a run?"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from planning.rows.amounts import Amounts


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
    """How much a run decided, in numbers of pods and jobs; `evictions` counts each time, not each pod."""

    bound: int
    pipelined: int
    evictions: int
    victims_committed: int
    victims_kept: int
    victims_failed: int
    jobs: int
    jobs_pending: int
    decisions: int


@dataclass(frozen=True)
class FlowRow:
    """What one queue lost to another: pods evicted or kept back, and what the evicted ones held.

    A pod that is evicted in several cycles counts once in `evicted` and `amounts`, each time in `evictions`.
    """

    giver: str
    taker: str
    action: str
    evicted: int
    evictions: int
    kept: int
    amounts: Amounts


@dataclass(frozen=True)
class PodPlace:
    """Where a pod of a job stands at the end of a run; `why` says why it waits."""

    pod: str
    job: str
    status: str
    node: str
    why: str


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


class Decision(NamedTuple):
    """One step that a run took, as it is kept: in this order of fields, empty where one does not apply."""

    seq: int
    cycle: int
    action: str
    op: str
    job: str
    pod: str
    node: str
    reason: str
    for_pod: str
    state: str

    @property
    def state_label(self) -> str:
        """Return what became of the step, as pages say it; empty when it has no state."""
        return self.state.capitalize()
