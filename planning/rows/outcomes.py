"""What came of a run?"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

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

    @classmethod
    def of(
        cls,
        steps: "Sequence[Decision]",
        jobs: Collection[Mapping[str, Any]],
        victims: Collection[Mapping[str, Any]],
    ) -> "RunCounts":
        """Return the numbers of a run: pods that occur in several cycles count once.

        `jobs` and `victims` are the rows of its outcome.
        """
        by_state: dict[str, set[str]] = {"committed": set(), "kept": set(), "failed": set()}
        for victim in victims:
            by_state[victim["state"]].add(victim["pod"])
        return cls(
            bound=len({step.pod for step in steps if step.op == "bind" and step.state == "committed"}),
            pipelined=len({step.pod for step in steps if step.op == "pipeline"}),
            evictions=sum(victim["state"] == "committed" for victim in victims),
            **{f"victims_{state}": len(pods) for state, pods in by_state.items()},
            jobs=len(jobs),
            jobs_pending=sum(job["pending"] > 0 for job in jobs),
            decisions=len(steps),
        )


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
