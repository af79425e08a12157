"""Checks whether preempt or reclaim might evict for a job that waits in a calm session."""

from __future__ import annotations

from collections.abc import Collection

from scheduler_core.actions import preempt
from scheduler_core.actions.preempt_dry_run import DryRunArguments
from scheduler_core.framework.session import Session
from scheduler_core.release import Rule
from scheduler_core.replay.calm.kinds import JobKinds
from scheduler_core.replay.calm.lines import Line, Lines
from scheduler_core.victims.eviction import never_evicts
from scheduler_core.victims.preemptable_jobs import PreemptableJobs


class Evictions:
    """The possible evictions of consecutive calm sessions.

    Parameters
    ----------
    is_flat : bool
        Whether the answers about a queue depend on its own jobs alone.

    """

    def __init__(self, session: Session, kinds: JobKinds, *, is_flat: bool) -> None:
        self._session = session
        self._kinds = kinds
        self._is_flat = is_flat
        actions, arguments = session.conf.actions, session.conf.arguments_of(preempt.NAME)
        self._preempts, self._reclaims = "preempt" in actions, "reclaim" in actions
        preempts_by_search = session.release.follows(Rule.PREEMPT_ROLLBACK)
        self._knows_preempt = preempts_by_search and not DryRunArguments.read(arguments).enabled
        self._no_victims: dict[tuple[int, int], bool] = {}
        self._refused: dict[tuple[str, int], int] = {}

    def might_follow(self, enqueued: Lines, full: Collection[int]) -> bool:
        """Return whether a job that still waits might evict; `full` are the classes that fit no node."""
        if not (self._preempts or self._reclaims):
            return False
        return any(self._may_evict(line, full) for lines in enqueued.values() for line in lines.values())

    def _may_evict(self, line: Line, full: Collection[int]) -> bool:
        return (self._preempts and self._may_preempt(line, full)) or (
            self._reclaims and self._may_reclaim(line)
        )

    def _may_preempt(self, line: Line, full: Collection[int]) -> bool:
        """Return whether preempt might evict for jobs of a line, see `actions.preempt`."""
        job, task = line.kind.job, line.kind.task
        if not self._knows_preempt or task.shape.number not in full:
            return True
        running = self._kinds.running()
        key = job.priority, len(running)
        if key not in self._no_victims:
            self._no_victims[key] = self._session.view(PreemptableJobs).none_for(job, running)
        return not self._no_victims[key]

    def _may_reclaim(self, line: Line) -> bool:
        queue, task = line.kind.queue, line.kind.task
        if never_evicts(task):
            return False
        key, account = (queue.name, task.shape.number), self._session.queue_accounts().get(queue.name)
        if account is not None and self._is_flat and self._refused.get(key) == account.version:
            return False
        if self._session.plugins.preemptive(queue, [task]) is None:
            return True
        if account is not None:
            self._refused[key] = account.version
        return False
