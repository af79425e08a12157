"""Index of the jobs that may be waiting; a session can skip all others."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping

from scheduler_core.model.job import JobInfo
from scheduler_core.model.roles import roles_are_met
from scheduler_core.model.status import READY_STATUSES, TaskStatus


class JobIndex:
    """The jobs as a session finds them: settled ones, and those that may be waiting.

    A settled job is enqueued, and all its pods, at least its minimum, are placed or have succeeded. Until one
    of its pods changes, it has nothing to enqueue or to place and does not starve.

    Attributes
    ----------
    waiting : dict
        The jobs that are not settled, by key, in no particular order.

    Parameters
    ----------
    jobs : mapping
        By key.

    """

    def __init__(self, jobs: Mapping[str, JobInfo]) -> None:
        self.waiting: dict[str, JobInfo] = {}
        self._queue_of: dict[str, str] = {}
        self._every: dict[str, list[str]] = {}
        self._settled: dict[str, list[str]] = {}
        self.renew(jobs)

    def renew(self, jobs: Mapping[str, JobInfo | None]) -> None:
        """Update the index for rebuilt jobs; None: the job was deleted."""
        for key, job in jobs.items():
            before = self._queue_of.pop(key, None)
            if before is not None:
                _leave(self._every, before, key)
                if self.waiting.pop(key, None) is None:
                    _leave(self._settled, before, key)
            if job is None:
                continue
            self._queue_of[key] = job.queue
            insort(self._every.setdefault(job.queue, []), key)
            if is_settled(job):
                insort(self._settled.setdefault(job.queue, []), key)
            else:
                self.waiting[key] = job

    def queues(self) -> list[str]:
        """Return the queues that have jobs, ordered by the first job of each."""
        return sorted(self._every, key=lambda queue: self._every[queue][0])

    def queues_of(self, jobs: Iterable[JobInfo]) -> list[str]:
        """Return the queues that have settled jobs or any of these jobs, ordered by the first job of each."""
        first = {queue: keys[0] for queue, keys in self._settled.items()}
        for job in jobs:
            if job.queue not in first or job.key < first[job.queue]:
                first[job.queue] = job.key
        return sorted(first, key=first.__getitem__)


def is_settled(job: JobInfo) -> bool:
    """Return whether a job is settled in the state that the session found."""
    return (
        not job.is_pending
        and job.size > 0
        and job.ready_count == job.size
        and job.ready_count >= job.min_available
        and TaskStatus.PENDING not in job.status_counts()
        and roles_are_met(job, READY_STATUSES)
    )


def _leave(keys_of: dict[str, list[str]], queue: str, key: str) -> None:
    keys = keys_of[queue]
    del keys[bisect_left(keys, key)]
    if not keys:
        del keys_of[queue]
