"""Lines of equal waiting jobs, in which the first job represents all others.

Equal jobs of one queue form a line, in job order. The decisions of a session about a job depend only on its
queue and the name of its line, so a line takes a session as much time as one job, however many jobs wait in
it.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Hashable, Iterator, Mapping
from heapq import heapify, heappop, heappush, heapreplace
from typing import Any

from scheduler_core.model.job import JobInfo
from scheduler_core.model.job_index import is_settled
from scheduler_core.model.status import TaskStatus

Order = tuple[Any, ...]
OrderOf = Callable[[JobInfo], Order]
LinesOf = dict[str, dict[Hashable, "Line"]]
PENDING = TaskStatus.PENDING


class Line:
    """Equal jobs of one queue.

    Attributes
    ----------
    entries : list
        The position of each job in the job order, and the job; ascending.
    rejected_at : hashable
        The values that votes read when they last rejected the first job; None if they have not.

    """

    __slots__ = ("entries", "rejected_at")

    def __init__(self) -> None:
        self.entries: list[tuple[Order, JobInfo]] = []
        self.rejected_at: Hashable = None

    def after(self, position: int, touched: Mapping[str, JobInfo]) -> int | None:
        """Return the position of the next untouched job, None if there is none."""
        for following in range(position + 1, len(self.entries)):
            if self.entries[following][1].key not in touched:
                return following
        return None


class Lines:
    """The waiting jobs of a session in lines, updated from the rebuilt jobs.

    Sound, as the name of a line follows from the job alone, and a job that is not rebuilt is unchanged. A job
    that the session touches remains in its line until it is rebuilt, and must be considered individually.

    Attributes
    ----------
    pending : dict
        The jobs that are not enqueued, by queue; those with equal minResources form one line.
    enqueued : dict
        The enqueued jobs all of whose pods are equal and wait, by queue.
    single : dict
        The other enqueued jobs that are not settled, by key.

    Parameters
    ----------
    jobs : mapping
        By key.
    order_of : callable
        ``order_of(job)``: its position in the job order, constant until the job is rebuilt.

    """

    def __init__(self, jobs: Mapping[str, JobInfo], order_of: OrderOf) -> None:
        self._order_of = order_of
        self.pending: LinesOf = {}
        self.enqueued: LinesOf = {}
        self.single: dict[str, JobInfo] = {}
        self._places: dict[str, tuple[LinesOf, str, Hashable, Order]] = {}
        self.renew(jobs)

    def renew(self, jobs: Mapping[str, JobInfo | None]) -> None:
        """Add, move and remove the rebuilt jobs; None: the job was deleted."""
        for key, job in jobs.items():
            if key in self._places:
                self._leave(key)
            else:
                self.single.pop(key, None)
            if job is None or is_settled(job):
                continue
            if job.is_pending:
                self._enter(self.pending, job, _minimum(job))
                continue
            name = name_of(job)
            if name is None:
                self.single[key] = job
            else:
                self._enter(self.enqueued, job, name)

    def _enter(self, lines: LinesOf, job: JobInfo, name: Hashable) -> None:
        of_queue = lines.setdefault(job.queue, {})
        line = of_queue.get(name)
        if line is None:
            line = of_queue[name] = Line()
        order = self._order_of(job)
        insort(line.entries, (order, job))
        self._places[job.key] = lines, job.queue, name, order

    def _leave(self, key: str) -> None:
        lines, queue, name, order = self._places.pop(key)
        entries = lines[queue][name].entries
        del entries[bisect_left(entries, (order,))]
        if not entries:
            del lines[queue][name]
            if not lines[queue]:
                del lines[queue]

    def firsts(self, touched: Mapping[str, JobInfo]) -> Iterator[tuple[Line, JobInfo]]:
        """Yield the lines of enqueued jobs, each with its first untouched job."""
        for lines in self.enqueued.values():
            for line in lines.values():
                position = line.after(-1, touched)
                if position is not None:
                    yield line, line.entries[position][1]

    def queues(self) -> set[str]:
        """Return the queues of all waiting jobs."""
        return {*self.pending, *self.enqueued, *[job.queue for job in self.single.values()]}

    def apart(self, touched: Mapping[str, JobInfo]) -> list[JobInfo]:
        """Return the jobs that must be considered individually, by key: single and touched ones."""
        apart = {**self.single, **touched}
        return [apart[key] for key in sorted(apart)]


class InLine:
    """The jobs of one queue that get turns in an action, in order.

    Attributes
    ----------
    line : Line
        The line of the last popped job.

    Parameters
    ----------
    order_of : callable
        As in `Lines`.
    touched : mapping
        The jobs, by key, that get individual turns instead of turns in their lines.

    """

    __slots__ = ("_heads", "_order_of", "_touched", "line")

    def __init__(self, order_of: OrderOf, touched: Mapping[str, JobInfo]) -> None:
        self._order_of = order_of
        self._touched = touched
        self._heads: list[tuple[Order, int, Line]] = []
        self.line = Line()

    def __len__(self) -> int:
        return len(self._heads)

    @property
    def items(self) -> Iterator[JobInfo]:
        """Yield the jobs, in no particular order."""
        for _, first, line in self._heads:
            position: int | None = first
            while position is not None:
                yield line.entries[position][1]
                position = line.after(position, self._touched)

    def add(self, line: Line) -> None:
        """Add the jobs of a line."""
        position = line.after(-1, self._touched)
        if position is not None:
            heappush(self._heads, (line.entries[position][0], position, line))

    def push(self, job: JobInfo) -> None:
        """Add a job that is in no line."""
        line, order = Line(), self._order_of(job)
        line.entries.append((order, job))
        heappush(self._heads, (order, 0, line))

    def pop(self) -> JobInfo:
        """Remove and return the first job."""
        _, position, self.line = self._heads[0]
        following = self.line.after(position, self._touched)
        if following is None:
            heappop(self._heads)
        else:
            heapreplace(self._heads, (self.line.entries[following][0], following, self.line))
        return self.line.entries[position][1]

    def skip_rest_of_line(self) -> None:
        """Remove the jobs behind the last popped one in its line."""
        self._heads = [head for head in self._heads if head[2] is not self.line]
        heapify(self._heads)


def _minimum(job: JobInfo) -> Hashable:
    """Return the name of the line of a pending job, shared by jobs with equal minResources."""
    minimum = job.min_resources
    if minimum is None:
        return None
    return minimum.cpu, minimum.memory, tuple(sorted((minimum.scalars or {}).items()))


def name_of(job: JobInfo) -> Hashable:
    """Return the name of the line of an enqueued job; None unless all of its pods are equal and wait."""
    waiting = job.by_status[PENDING]
    if not waiting or len(waiting) != job.size:
        return None
    tasks = iter(waiting.values())
    first = next(tasks)
    kind, shape = first.kind, first.shape
    if shape.gated or shape.best_effort or (first.nominated and job.size > 1):
        return None
    for task in tasks:
        if task.kind is not kind or task.nominated:
            return None
    minimums = job.min_available, *job.task_min_available.items()
    return kind, job.priority, job.size, minimums, first.nominated
