"""The jobs that might lose a task to a preempting job."""

from __future__ import annotations

from collections.abc import Collection

from scheduler_core.framework.bounds import PerJobBound
from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.living_view import LivingView
from scheduler_core.framework.plugin_fn import EvictableFn
from scheduler_core.framework.session import Session
from scheduler_core.model.job import JobInfo
from scheduler_core.model.renewal import Renewal

BoundKey = tuple[PerJobBound, int]


class PreemptableJobs(LivingView):
    """The jobs of which plugins with per-job bounds accept any task, by plugin and the preemptor's priority.

    Updated from the rebuilt jobs: such a plugin's answer for a job changes only when a task of the job
    changes its status, and then the job is rebuilt or the session has touched it.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        tiers = [tier for tier in session.functions.tiers_of(Point.PREEMPTABLE) if tier]
        self._tiers = [
            [
                added.bound
                for added in tier
                if isinstance(added, EvictableFn) and isinstance(added.bound, PerJobBound)
            ]
            for tier in tiers
        ]
        self._known: dict[BoundKey, set[str]] = {}

    def renew(self, renewal: Renewal) -> bool:
        """Recompute the answers for the rebuilt jobs."""
        for (bound, priority), keys in self._known.items():
            for key, job in renewal.jobs.items():
                if job is not None and bound.most(job, priority) > 0:
                    keys.add(key)
                else:
                    keys.discard(key)
        return True

    def none_for(self, preemptor: JobInfo, more: Collection[JobInfo] = ()) -> bool:
        """Return whether no other job can lose a task to this one, on any node.

        `more` are jobs that the session does not contain. Sound, as a plugin that accepts no task ends its
        tier, and each tier has a plugin that accepts no task of any of the jobs. The preemptor's own tasks
        are not considered.
        """
        return all(
            any(not self._accepts_any(bound, preemptor.priority, more) for bound in tier)
            for tier in self._tiers
        )

    def _accepts_any(self, bound: PerJobBound, priority: int, more: Collection[JobInfo]) -> bool:
        known = self._known.get((bound, priority))
        if known is None:
            jobs = self._session.jobs.values()
            known = self._known[bound, priority] = {job.key for job in jobs if bound.most(job, priority) > 0}
        touched = self._session.snapshot.tasks.touched.values()
        return bool(known) or any(bound.most(job, priority) > 0 for job in (*touched, *more))
