"""The queues and waiting jobs of an action, as heaps that read live shares."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.heap import LiveQueue, PriorityQueue, SettledQueue
from scheduler_core.framework.lines import InLine, Line
from scheduler_core.framework.session import Session
from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.model.job_index import is_settled
from scheduler_core.model.queue import QueueInfo
from scheduler_core.model.status import TaskStatus

Jobs = PriorityQueue[JobInfo] | SettledQueue[JobInfo] | InLine
Tasks = PriorityQueue[TaskInfo] | list[TaskInfo]
Queues = PriorityQueue[QueueInfo] | SettledQueue[QueueInfo]
QueueBefore = Callable[[QueueInfo, QueueInfo], bool]


Watcher = Callable[[QueueInfo, JobInfo | None], None]
"""Called with each job before its turn, and with None for a queue whose jobs get no turn."""


def ignore_turns(_queue: QueueInfo, _job: JobInfo | None) -> None:
    """Ignore the turns."""


class WorkList:
    """A heap of queues and, per queue, a heap of its jobs.

    Parameters
    ----------
    settled : bool
        Whether no job or queue changes its position while it is queued, as tasks change only in their own
        turns.
    queue_before : callable, optional
        The comparison of queues that are not settled; by default that of the session.

    Attributes
    ----------
    has_key : bool
        Whether queues are sorted by a key.

    """

    def __init__(self, session: Session, *, settled: bool, queue_before: QueueBefore | None = None) -> None:
        self.session = session
        self.settled = settled
        self._touched: Mapping[str, JobInfo] | None = None
        key = session.orders.queue_key() if settled else None
        self.has_key = key is not None
        self.queues: Queues = queue_heap(session, before=queue_before) if key is None else SettledQueue(key)
        self.jobs: dict[str, Jobs] = {}
        self._seen: set[str] = set()

    def use_lines(self, touched: Mapping[str, JobInfo]) -> None:
        """Queue jobs by lines from now on, except touched jobs."""
        self._touched = touched

    def add_queue(self, name: str) -> None:
        """Push a queue unless it was pushed before."""
        if name not in self._seen:
            self._seen.add(name)
            self.queues.push(self.session.queues[name])

    def add_job(self, job: JobInfo) -> None:
        """Push a job into its queue's heap."""
        jobs = self.jobs.get(job.queue)
        if jobs is None:
            jobs = self.jobs[job.queue] = self._no_jobs()
        jobs.push(job)

    def add_line(self, queue: str, line: Line) -> None:
        """Push the jobs of a line into their queue's heap."""
        jobs = self.jobs.get(queue)
        if jobs is None:
            jobs = self.jobs[queue] = self._no_jobs()
        assert isinstance(jobs, InLine), "jobs come in lines"
        jobs.add(line)

    def _no_jobs(self) -> Jobs:
        if self._touched is not None:
            return InLine(self.session.orders.job_key, self._touched)
        return (
            SettledQueue(self.session.orders.job_key)
            if self.settled
            else PriorityQueue(self.session.orders.job_before)
        )

    def waiting(self, queue: QueueInfo) -> Jobs | None:
        """Return the queue's jobs, None if none is left."""
        return self.jobs.get(queue.name) or None


def queue_heap(
    session: Session, queues: Iterable[QueueInfo] = (), before: QueueBefore | None = None
) -> PriorityQueue[QueueInfo]:
    """Return queues in a heap, not re-sorted when shares change unless a rule of ours requires it."""
    kind = LiveQueue if session.orders.live_queues else PriorityQueue
    return kind(before or session.orders.queue_before, queues)


def queues_that_wait(session: Session) -> set[str]:
    """Return the queues that may get a turn: those of jobs that waited at the open or were touched since."""
    if session.known_to_wait is not None:
        return session.known_to_wait
    return session.lines.queues() | {job.queue for job in session.snapshot.tasks.touched.values()}


def nothing_waits(session: Session) -> bool:
    """Return whether no job waits: all were settled at the open, or the session has settled them.

    Nothing reads other reports of an action about them.
    """
    if session.reasons:
        return False
    waiting, touched = session.snapshot.index.waiting, session.snapshot.tasks.touched
    if not touched:
        return not waiting
    return waiting.keys() <= touched.keys() and all(map(is_settled, touched.values()))


def waiting_jobs(session: Session) -> list[JobInfo]:
    """Return the jobs that may wait, by key.

    These are all jobs except those that were settled at the open and not touched since, and those counted as
    pipelined.
    """
    tasks = session.snapshot.tasks
    waiting = {**session.snapshot.index.waiting, **tasks.touched}
    return [waiting[key] for key in sorted(waiting.keys() - tasks.counted.keys())]


def jobs_apart(session: Session, touched: Mapping[str, JobInfo]) -> list[JobInfo]:
    """Return the waiting jobs in no line, by key: single and touched ones."""
    counted = session.snapshot.tasks.counted
    return [job for job in session.lines.apart(touched) if job.key not in counted]


def first_jobs(session: Session, touched: Mapping[str, JobInfo]) -> Iterator[tuple[Line, JobInfo]]:
    """Yield the lines of enqueued jobs, each with the first job that still waits and was not touched."""
    return session.lines.firsts({**touched, **session.snapshot.tasks.counted})


def representative_jobs(session: Session, *points: Point) -> list[JobInfo]:
    """Return the waiting jobs, only one of each line if equal jobs get the same answers at these points."""
    if not session.functions.same_for_equal_jobs(*points):
        return waiting_jobs(session)
    touched = session.snapshot.tasks.touched
    return [*jobs_apart(session, touched), *[job for _, job in first_jobs(session, touched)]]


def active_waiting_jobs(session: Session) -> list[JobInfo]:
    """Return the waiting jobs that are enqueued and valid; invalid ones are reported."""
    return [job for job in waiting_jobs(session) if is_active(session, job)]


def active_jobs(session: Session) -> list[JobInfo]:
    """Return the jobs that are enqueued and valid, by key; invalid ones are reported."""
    return [job for job in session.jobs.values() if is_active(session, job)]


def is_left_out(session: Session, job: JobInfo, left: Collection[str]) -> bool:
    """Return whether no remaining action considers a job without placed pods.

    Sound, as with enqueue configured no other action considers jobs that were not enqueued, and as only pods
    on a node are evicted.
    """
    if not job.is_pending or "enqueue" in left or "enqueue" not in session.conf.actions:
        return False
    return job.status_counts().keys() == {TaskStatus.PENDING}


def is_active(session: Session, job: JobInfo) -> bool:
    """Return whether a job is enqueued and valid; an invalid one is reported."""
    return not job.is_pending and not report_if_invalid(session, job)


def report_if_invalid(session: Session, job: JobInfo) -> bool:
    """Return whether a job is invalid, and report that."""
    failure = session.plugins.job_valid(job)
    if failure is None:
        return False
    session.observer.job_invalid(job, failure[1])
    return True


def task_heap(session: Session, first: Sequence[TaskInfo], then: Sequence[TaskInfo] = ()) -> Tasks:
    """Return tasks in a heap, or in a list of which `pop` returns the first task.

    They are pushed by uid, `then` after `first`. The order of pushing matters only if some tasks have a pod
    index and others do not.
    """
    tasks = [*first, *then]
    if len(tasks) <= 1:
        return tasks
    indexed = [task.index is not None for task in tasks]
    if all(indexed) or not any(indexed):
        return sorted(tasks, key=session.orders.task_key, reverse=True)
    pushed = [task for part in (first, then) for task in sorted(part, key=lambda task: task.uid)]
    return PriorityQueue(session.orders.task_before, pushed)


def pending_tasks(job: JobInfo) -> list[TaskInfo]:
    """Return the pending tasks without scheduling gates."""
    return [task for task in job.by_status[TaskStatus.PENDING].values() if not task.shape.gated]
