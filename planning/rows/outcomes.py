"""Rows of a run's outcome."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

from planning.rows.amounts import Amounts
from scheduler_core.model.status import BEFORE_PODS


def waits(job: Mapping[str, Any]) -> bool:
    """Return whether a job waits, given its row: for places for pods, or for its first pods.

    >>> waits({"pending": 0, "pods": 0, "phase_after": "Pending"})
    True
    """
    return job["pending"] > 0 or (not job["pods"] and job["phase_after"] in BEFORE_PODS)


COUNTING = 3
"""The version of the rules of counts and verdicts; raise it when a rule changes."""


@dataclass(frozen=True)
class QueueFigures:
    """The outcome of a run for one queue. Amounts are at the end of the last cycle unless named otherwise."""

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
    """How much a run decided, in numbers of pods and jobs; `evictions` counts each time, not each pod.

    `bound` counts the pods that it bound and that are still so at the end, `pipelined` those that are
    pipelined then. `counting` is the version of the rules, see COUNTING.
    """

    bound: int
    pipelined: int
    evictions: int
    victims_committed: int
    victims_kept: int
    victims_failed: int
    jobs: int
    jobs_pending: int
    decisions: int
    counting: int = 0

    @property
    def is_outdated(self) -> bool:
        """Return whether the figures of the run were stored by other rules than the present ones."""
        return self.counting != COUNTING

    @classmethod
    def of(
        cls,
        steps: "Sequence[Decision]",
        jobs: Collection[Mapping[str, Any]],
        victims: Collection[Mapping[str, Any]],
    ) -> "RunCounts":
        """Return the counts of a run: pods that occur in several cycles count once.

        `jobs` and `victims` are the rows of its outcome.
        """
        by_state: dict[str, set[str]] = {"committed": set(), "kept": set(), "failed": set()}
        for victim in victims:
            by_state[victim["state"]].add(victim["pod"])
        return cls(
            bound=sum(place.op == "bind" for place in placements_at_end(steps).values()),
            pipelined=sum(job["task_status"].get("Pipelined", 0) for job in jobs),
            evictions=sum(victim["state"] == "committed" for victim in victims),
            **{f"victims_{state}": len(pods) for state, pods in by_state.items()},
            jobs=len(jobs),
            jobs_pending=sum(map(waits, jobs)),
            decisions=len(steps),
            counting=COUNTING,
        )


@dataclass(frozen=True)
class Placement:
    """Where a run places a pod; `op` is bind, or pipeline if the node still has to release resources."""

    node: str
    op: str


def placements_at_end(steps: "Iterable[Decision]") -> dict[str, Placement]:
    """Return where pods are placed at the end, by what a run decided.

    A bound pod may be evicted by a later cycle; a pipelined one is so for one session only.
    """
    places: dict[str, Placement] = {}
    for _, of_cycle in groupby(steps, key=lambda step: step.cycle):
        places = {pod: place for pod, place in places.items() if place.op != "pipeline"}
        for step in of_cycle:
            if step.op == "pipeline" or (step.op == "bind" and step.state != "failed"):
                places[step.pod] = Placement(step.node, step.op)
            elif step.op == "unpipeline" or (step.op == "evict" and step.state == "committed"):
                places.pop(step.pod, None)
    return places


@dataclass(frozen=True)
class FlowRow:
    """What one queue lost to another: evicted and kept pods, and the requests of the evicted ones.

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
    """The place of a pod of a job at the end of a run; `why` says why it waits."""

    pod: str
    job: str
    status: str
    node: str
    why: str


@dataclass(frozen=True)
class QueueMoment:
    """The state of a queue at one step."""

    queue: str
    allocated: Amounts
    deserved: Amounts
    share: float


@dataclass(frozen=True)
class NodeMoment:
    """The state of a node at one step; `free` is idle plus releasing minus pipelined."""

    node: str
    idle: Amounts
    releasing: Amounts
    pipelined: Amounts
    free: Amounts


@dataclass(frozen=True)
class Moment:
    """The state of queues and nodes just after one step."""

    queues: Sequence[QueueMoment]
    nodes: Sequence[NodeMoment]


class Decision(NamedTuple):
    """One step of a run as stored: in this order of fields, empty if one does not apply."""

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
        """Return the result of the step in words; empty if it has no state."""
        return self.state.capitalize()
