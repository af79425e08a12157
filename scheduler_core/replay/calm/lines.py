"""Waiting jobs, in lines of equal jobs of one queue."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field

from scheduler_core.replay.calm.arrivals import Arrival
from scheduler_core.replay.calm.kinds import JobKind


@dataclass(slots=True, eq=False)
class CalmJob:
    """A job of a known kind.

    Attributes
    ----------
    submitted : float
        In seconds from the beginning.
    creation : float
        Seconds since 1970.
    key : str
        Namespace and name of its PodGroup.
    written : bool
        Whether it has objects, which must be updated at once.
    enqueued : bool
        Whether it is enqueued.
    nodes : list of int
        The nodes of its pods, in the order of the arrival's pods; empty while it waits.
    bound : float
        When it was bound, in seconds from the beginning.
    runs : bool
        Whether its PodGroup is Running.

    """

    arrival: Arrival
    kind: JobKind
    submitted: float
    creation: float
    key: str = field(init=False)
    written: bool = False
    enqueued: bool = False
    nodes: list[int] = field(default_factory=list)
    bound: float = 0.0
    runs: bool = False

    def __post_init__(self) -> None:
        self.key = self.arrival.key


class Line:
    """Equal jobs of one queue, the first one first.

    Attributes
    ----------
    entries : list
        The age and the key of each job, and the job; ascending, and no two jobs have one key.
    rejected_at : hashable
        What the votes on enqueueing had read when they last rejected the first job; None if they did not.

    """

    __slots__ = ("entries", "kind", "rejected_at")

    def __init__(self, kind: JobKind) -> None:
        self.kind = kind
        self.entries: list[tuple[float, str, CalmJob]] = []
        self.rejected_at: Hashable = None


class Turn:
    """The first jobs of some lines of one queue, of which one has its turn."""

    __slots__ = ("_heads",)

    def __init__(self, lines: Iterable[Line]) -> None:
        heads = [(line.kind.order, *line.entries[0][:2], 0, line) for line in lines]
        if len(heads) > 1:
            heads.sort(key=_place)
        self._heads = heads

    def __bool__(self) -> bool:
        return bool(self._heads)

    @property
    def job(self) -> CalmJob:
        """Return the job whose turn it is."""
        _, _, _, position, line = self._heads[0]
        return line.entries[position][2]

    @property
    def line(self) -> Line:
        """Return the line of that job."""
        return self._heads[0][4]

    def leave_line_out(self) -> None:
        """Skip the job and all jobs behind it in its line."""
        del self._heads[0]

    def go_on(self) -> None:
        """End the job's turn."""
        order, _, _, position, line = self._heads.pop(0)
        if position + 1 < len(line.entries):
            insort(self._heads, (order, *line.entries[position + 1][:2], position + 1, line), key=_place)


def _place(head: tuple[object, ...]) -> tuple[object, ...]:
    return head[:3]


class Lines(dict[str, dict[bytes, Line]]):
    """The lines of each queue that has any, by kind."""

    def add(self, job: CalmJob) -> None:
        """Add a job to its line."""
        lines = self.setdefault(job.kind.queue.name, {})
        line = lines.get(job.arrival.kind)
        if line is None:
            line = lines[job.arrival.kind] = Line(job.kind)
        insort(line.entries, (job.creation, job.key, job))

    def remove(self, job: CalmJob) -> None:
        """Remove a job from its line."""
        queue = job.kind.queue.name
        lines = self[queue]
        entries = lines[job.arrival.kind].entries
        del entries[bisect_left(entries, (job.creation, job.key, job))]
        if not entries:
            del lines[job.arrival.kind]
            if not lines:
                del self[queue]
