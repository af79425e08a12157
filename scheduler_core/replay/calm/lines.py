"""Lines of equal waiting jobs of one queue."""

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
        Whether its objects exist; they are then updated at once.
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
    """Equal jobs of one queue, in job order.

    Attributes
    ----------
    entries : list
        The age and the key of each job, and the job; ascending, and no two jobs have one key.
    rejected_at : hashable
        The values that votes read when they last rejected the first job; None if they have not.

    """

    __slots__ = ("entries", "kind", "rejected_at")

    def __init__(self, kind: JobKind) -> None:
        self.kind = kind
        self.entries: list[tuple[float, str, CalmJob]] = []
        self.rejected_at: Hashable = None


class Turn:
    """Iterates over the jobs of some lines of one queue, in job order."""

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
        """Return the current job."""
        _, _, _, position, line = self._heads[0]
        return line.entries[position][2]

    @property
    def line(self) -> Line:
        """Return the line of the current job."""
        return self._heads[0][4]

    def skip_line(self) -> None:
        """Skip the current job and all jobs behind it in its line."""
        del self._heads[0]

    def advance(self) -> None:
        """Move on to the next job."""
        order, _, _, position, line = self._heads.pop(0)
        if position + 1 < len(line.entries):
            insort(self._heads, (order, *line.entries[position + 1][:2], position + 1, line), key=_place)


def _place(head: tuple[object, ...]) -> tuple[object, ...]:
    return head[:3]


class Lines(dict[str, dict[bytes, Line]]):
    """The lines by queue, then kind, without empty ones."""

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
