"""Turns of jobs in allocate that are skipped because their result is known in advance.

Source: volcano ``pkg/scheduler/actions/allocate/allocate.go`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from scheduler_core.errors import PrePredicateError
from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.lines import InLine
from scheduler_core.framework.placement import LaterPlaces
from scheduler_core.framework.plugin_fn import JobPipelinedFn
from scheduler_core.framework.session import Session
from scheduler_core.framework.statement import count_as_pipelined
from scheduler_core.framework.worklist import Jobs, WorkList
from scheduler_core.model.job import JobInfo, TaskInfo

GANG_ACTIONS = frozenset({"gangpreempt", "gangreclaim"})
"""Actions that read the pods pipelined on a node."""


class SkippedTurns:
    """The turns that one execution of allocate skips.

    Attributes
    ----------
    possible : bool
        Whether turns that place nothing may be skipped.

    """

    def __init__(self, session: Session, work: WorkList, served_by_gang_action: AbstractSet[str]) -> None:
        self._session = session
        self._served_by_gang_action = served_by_gang_action
        self._counts = _may_count(session)
        self.possible = not session.reasons and session.functions.classes_are_shapes and work.has_key
        # The nodes that classes which fit nowhere at once will fit later, and the classes that fit nowhere
        # later.
        self._later_only: dict[int, LaterPlaces] = {}
        self._hopeless: set[int] = set()
        self._asks_who_was_seen = "preempt" in session.conf.actions
        # The result of a class, with the number of node changes at that time.
        self._fit_nowhere: dict[int, tuple[int, bool]] = {}

    def is_hopeless(self, job: JobInfo) -> bool:
        """Return whether a job's turns can be skipped, as no node accepts any of its tasks.

        Sound, as nodes only fill up while the action runs, so that none accepts them later, and turns that
        place nothing change no share, so that the other turns keep their order. The reasons why the tasks
        wait are not recorded, and the pre-predicates are not called for the tasks; preempt relies on these
        calls for tasks with a nominated node.
        """
        if not self.possible or job.key in self._served_by_gang_action:
            return False
        return all(map(self._fits_nowhere, job.samples()))

    def keeps_waiting(self, job: JobInfo, jobs: Jobs) -> bool:
        """Count the only pod of a job on the node where it is pipelined, or skip it if it fits nowhere.

        Returns False, without any effect, if it might be allocated or this shortcut cannot decide. A class
        that fits nowhere, at once or at all, does not fit later while the action runs. As usual, the
        pre-predicates are called for a task after its queue has accepted it; those of a hopeless task only if
        preempt depends on the call, see `is_hopeless`.
        """
        if not (self._counts and _is_one_pod(job)):
            return False
        session, task = self._session, job.samples()[0]
        number, later_only = session.functions.class_of(task), self._later_only
        is_hopeless = number in self._hopeless
        if is_hopeless and not self._asks_who_was_seen:
            skip_equal_jobs(jobs)
            return True
        if task.shape.gated or session.plugins.allocatable(session.queues[job.queue], task) is not None:
            return False
        try:
            session.plugins.pre_predicate(task)
        except PrePredicateError:
            return False
        if not is_hopeless:
            places = later_only.get(number)
            if places is None:
                if session.placement.might_fit_at_once(task):
                    return False
                places = later_only[number] = session.placement.later_places(task)
            node = places.best(task)
            if node is not None:
                return count_as_pipelined(session, task, node)
            if not session.placement.fits_nowhere_later(task):
                return False
            self._hopeless.add(number)
        if not task.nominated:
            skip_equal_jobs(jobs)
        return True

    def fails_as_equals_do(self, job: JobInfo) -> bool:
        """Return whether jobs equal to one that was not placed will not be placed either.

        Sound, as their queue and the nodes only fill up while the action runs: whatever refused the tasks of
        this job also refuses theirs. Not valid if the recorded errors rule out nodes for evictions that the
        predicates do not, because preempt and reclaim read those of each job; nor with a nominated node, see
        `is_hopeless`.
        """
        placement, errors = self._session.placement, job.fit_errors.values()
        return all(
            placement.is_local(task)
            and not task.nominated
            and all(placement.rules_out_no_more(task, of_task) for of_task in errors)
            for task in job.samples()
        )

    def _fits_nowhere(self, task: TaskInfo) -> bool:
        if task.nominated:
            return False
        if task.best_effort or task.shape.gated_by_others:
            return True  # the job gets no turn
        session, number = self._session, self._session.functions.class_of(task)
        known = self._fit_nowhere.get(number)
        if known is not None and (known[1] or known[0] == len(session.nodes.changes)):
            return known[1]
        try:
            session.plugins.pre_predicate(task)
        except PrePredicateError:
            return False
        fits_nowhere = session.placement.fits_nowhere(task)
        self._fit_nowhere[number] = len(session.nodes.changes), fits_nowhere
        return fits_nowhere


def _may_count(session: Session) -> bool:
    """Return whether a job of one pod may be pipelined by counting alone."""
    if not (session.counts_pipelined and session.is_renewable and len(session.nodes)):
        return False
    votes = session.functions.of_kind(Point.JOB_PIPELINED, JobPipelinedFn)
    return GANG_ACTIONS.isdisjoint(session.conf.actions) and all(vote.keeps_whole_jobs for vote in votes)


def _is_one_pod(job: JobInfo) -> bool:
    """Return whether a job has one pod and needs no more."""
    return job.size == 1 and job.min_available <= 1 and not job.task_min_available


def skip_equal_jobs(jobs: Jobs) -> None:
    """Remove the jobs behind the last popped one in its line."""
    if isinstance(jobs, InLine):
        jobs.skip_rest_of_line()
