"""The jobs that have changed since the previous session."""

from __future__ import annotations

from collections.abc import Mapping

from scheduler_core.model.job import JobInfo
from scheduler_core.model.snapshot import Snapshot


class MovedJobs:
    """The jobs that changed since the last closed session opened, or were touched in this one.

    Attributes
    ----------
    found : dict
        The jobs that had changed when the session opened, by key.

    """

    def __init__(self, snapshot: Snapshot) -> None:
        self.found = dict(snapshot.jobs)
        self._snapshot = snapshot
        self._sorted: tuple[int, list[JobInfo]] = -1, []

    def in_order(self) -> list[JobInfo]:
        """Return the jobs by key."""
        touched, (count, jobs) = self._snapshot.tasks.touched, self._sorted
        if count != len(touched):
            moved = {**self.found, **touched}
            jobs = [moved[key] for key in sorted(moved)]
            self._sorted = len(touched), jobs
        return jobs

    def renew(self, jobs: Mapping[str, JobInfo | None], *, forgets: bool) -> None:
        """Add the jobs that changed before the next session, None: deleted; `forgets` drops all others."""
        if forgets:
            self.found.clear()
        for key, job in jobs.items():
            if job is None:
                self.found.pop(key, None)
            else:
                self.found[key] = job
        self._sorted = -1, []
