"""The rows of a comparison of runs: queues, jobs and victims."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

from planner.runs.models import Run
from planning.rows import Amounts, QueueFigures, RunCounts, waits

Held = TypeVar("Held")


@dataclass(frozen=True)
class JobFigures:
    """The outcome of a run for one job."""

    queue: str
    pods: int
    pending: int
    ready: bool
    phase: str
    gate: str

    @property
    def waits(self) -> bool:
        """Return whether it waits: for places for pods, or for its first pods."""
        return waits({"pending": self.pending, "pods": self.pods, "phase_after": self.phase})


@dataclass(frozen=True)
class VictimFigures:
    """An eviction that a run committed."""

    job: str
    queue: str
    for_job: str
    for_queue: str
    action: str
    ran_seconds: float | None


@dataclass(frozen=True)
class QueueDelta:
    """How much more a queue has in a run than in the baseline."""

    deserved: Amounts
    allocated: Amounts
    request: Amounts
    guarantee: Amounts
    capability: Amounts
    share: float | None
    share_at_open: float | None


@dataclass(frozen=True)
class JobDelta:
    """How many more pods a job has, and how many more of them wait, than in the baseline."""

    pods: int
    pending: int


@dataclass(frozen=True)
class Line(Generic[Held]):
    """One name with its value in each run; None where a run has no such object."""

    name: str
    held: tuple[Held | None, ...]

    @property
    def differs(self) -> bool:
        """Whether the runs have different values."""
        return any(held != self.held[0] for held in self.held)

    @property
    def deltas(self) -> list[Any]:
        """How much more each run has than the first; the first delta is None."""
        first = self.held[0]
        delta: Any = {QueueFigures: queue_delta, JobFigures: job_delta}.get(self._kind)
        return [None, *(delta(first, other) for other in self.held[1:])] if delta else []

    @property
    def _kind(self) -> type[Any]:
        return next((type(held) for held in self.held if held is not None), type(None))

    @property
    def pairs(self) -> list[tuple[Any, Any]]:
        """The value of each run with its delta."""
        return list(zip(self.held, self.deltas, strict=True))


@dataclass(frozen=True)
class Lines(Generic[Held]):
    """Every name in any run: differences first, then by name."""

    rows: Sequence[Line[Held]]

    @cached_property
    def differing(self) -> Sequence[Line[Held]]:
        """The lines in which the runs differ."""
        return [row for row in self.rows if row.differs]


@dataclass(frozen=True)
class VictimChange:
    """The victims of a run compared with those of the first run, in pods."""

    new: int
    gone: int
    same: int


@dataclass(frozen=True)
class Head:
    """The totals of a run: `work_lost` in pod-seconds, `waiting_delta` in jobs.

    `work_lost` leaves out `work_unknown` evictions of pods whose run time is unknown.
    """

    run: Run
    counts: RunCounts
    victims: VictimChange
    work_lost: float
    work_unknown: int
    waiting_delta: int


@dataclass(frozen=True)
class Kinship:
    """How many names of queues and nodes all runs have in common, and how many the smallest of them has."""

    queues: int
    queues_common: int
    nodes: int
    nodes_common: int

    @property
    def related(self) -> bool:
        """Whether the runs are about the same cluster, as their names of queues and nodes suggest."""
        return self.queues_common * 2 > self.queues or self.nodes_common * 2 > self.nodes


def queue_delta(first: QueueFigures | None, other: QueueFigures | None) -> QueueDelta | None:
    """Return how much more a queue has in a run than in the first; None if either lacks it."""
    if first is None or other is None:
        return None
    return QueueDelta(
        deserved=_more(first.deserved, other.deserved),
        allocated=_more(first.allocated, other.allocated),
        request=_more(first.request, other.request),
        guarantee=_more(first.guarantee, other.guarantee),
        capability=_more(first.capability, other.capability, missing=None),
        share=_grown(first.share, other.share),
        share_at_open=_grown(first.share_at_open, other.share_at_open),
    )


def _grown(first: float | None, other: float | None) -> float | None:
    return None if first is None or other is None else other - first


def _more(first: Amounts, other: Amounts, missing: float | None = 0.0) -> dict[str, float]:
    """Return by how much each amount grew; without amounts that are unlimited in either run.

    `missing` stands for an amount that is not set: None, unlimited, in a capability.
    """
    grown = {}
    for name in dict.fromkeys([*first, *other]):
        before, after = first.get(name, missing), other.get(name, missing)
        if before is not None and after is not None:
            grown[name] = after - before
    return grown


def job_delta(first: JobFigures | None, other: JobFigures | None) -> JobDelta | None:
    """Return how many more pods a job has, and how many more wait, than in the first run."""
    if first is None or other is None:
        return None
    return JobDelta(pods=other.pods - first.pods, pending=other.pending - first.pending)
