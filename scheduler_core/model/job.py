"""Tasks (pods) and jobs (PodGroups with their pods), as the scheduler sees them.

Source: volcano ``pkg/scheduler/api/job_info.go`` at v1.15.1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from scheduler_core.model.gang import Gang
from scheduler_core.model.pod import PodShape
from scheduler_core.model.pod_info import PodInfo
from scheduler_core.model.pod_kind import PodKind
from scheduler_core.model.status import CHANGES, TaskStatus
from scheduler_core.model.task import Task
from scheduler_core.model.tasks_by_status import Table, TasksByStatus
from scheduler_core.resource import Resource, total_of

if TYPE_CHECKING:
    from scheduler_core.model.fit import FitErrors
    from scheduler_core.model.job_totals import JobTotals


class TaskInfo(Task):
    """A task and its job, None if it has none: in one module, since each names the other."""

    __slots__ = ("job",)

    def __init__(self, number: int, info: PodInfo, kind: PodKind, shape: PodShape) -> None:
        super().__init__(number, info, kind, shape)
        self.job: JobInfo | None = None


class Tasks(Table[TaskInfo], Protocol):
    """The tasks of a snapshot by number, see `model.task_table`."""

    touched: dict[str, JobInfo]

    def totals_of_job(self, numbers: Iterable[int], /) -> JobTotals:
        """Return the totals over some tasks."""


class JobInfo(Gang):
    """One PodGroup and its tasks.

    Attributes
    ----------
    size : int
        The number of its tasks.
    copied : bool
        Whether a gang action has placed copies of its tasks, which may then differ from the job's records.
    members : sequence of int
        The numbers of its tasks in the snapshot.
    moved : bool
        Whether a session changed more of it than its phase.
    totals : JobTotals or None
        The totals over its tasks in the state that the session found.
    by_status : dict
        Tasks by status, then uid.
    order : tuple or None
        The job's key in the job order; None: not computed yet.
    fit_errors : dict
        Why tasks fitted no node in this session, by uid.
    failed_roles : set of str
        The roles of those tasks.

    """

    __slots__ = (
        "_counts",
        "_overlooked",
        "_pending_roles",
        "_samples",
        "_touched",
        "by_status",
        "copied",
        "failed_roles",
        "fit_errors",
        "members",
        "moved",
        "order",
        "size",
        "totals",
        "unschedulable",
    )

    def __init__(self, podgroup: Mapping[str, Any], queue: str, priority: int, creation: float) -> None:
        super().__init__(podgroup, queue, priority, creation)
        self.size = 0
        self.members: Sequence[int] = ()
        self.totals: JobTotals | None = None
        self._touched: dict[str, JobInfo] = {}
        self._begin()

    def _begin(self) -> None:
        """Reset to the status of the PodGroup, without tasks and changes by sessions."""
        super()._begin()
        self.copied = self.moved = False
        self._overlooked: dict[str, TaskInfo] = {}
        self.by_status: TasksByStatus[TaskInfo] = TasksByStatus()
        self._counts: Mapping[TaskStatus, int] | None = None
        self.order: tuple[Any, ...] | None = None
        self._samples: Sequence[TaskInfo] | None = None
        self.fit_errors: dict[str, FitErrors] = {}
        self.failed_roles: set[str] = set()
        self._pending_roles: dict[str, int] | None = None
        self.unschedulable = False

    # membership and status

    def load(self, table: Tasks, members: Sequence[int]) -> None:
        """Load all tasks of a new snapshot by their numbers; pending ones are created at once."""
        self.members, self.size = members, len(members)
        self._touched = table.touched
        self._set_totals(table, table.totals_of_job(members))

    def reload(self, table: Tasks) -> None:
        """Reset to what would be built from the same PodGroup and pods, after sessions changed the job."""
        assert self.totals is not None, "it was loaded before"
        self._begin()
        self._set_totals(table, self.totals)

    def _set_totals(self, table: Tasks, totals: JobTotals) -> None:
        self.totals, self._counts = totals, totals.counts
        self.pending_best_effort = totals.pending_best_effort
        self.valid_count, self.ready_count = totals.valid_count, totals.ready_count
        self.allocated_count, self.allocated = totals.allocated_count, totals.allocated.clone()
        self.by_status.load(table, self.members, totals.counts)

    def enter(self, phase: str) -> None:
        """Set the PodGroup's phase."""
        if phase != self.phase:
            self.phase = phase
            self._touched[self.key] = self

    def touch(self) -> None:
        """Record that a session changed the job, so that it is reset before the next session."""
        self.moved = True
        self._touched[self.key] = self

    def forget_touch(self) -> None:
        """Reset to the state of a job that no session has touched."""
        self.moved = False
        self._touched.pop(self.key, None)

    def keep(self) -> None:
        """Update to what would be built from the PodGroup, after a session changed nothing but the phase."""
        self.phase_before = self.phase
        self.conditions = list(self.conditions)
        self.order = None
        self.unschedulable = False

    @property
    def tasks(self) -> Mapping[str, TaskInfo]:
        """Return the tasks by uid, ascending."""
        return self.by_status.make()

    def seen(self) -> Iterable[TaskInfo | PodInfo]:
        """Return the tasks, or the pods of tasks not created yet."""
        return self.by_status.seen()

    def status_counts(self) -> Mapping[TaskStatus, int]:
        """Return the number of tasks by status, without statuses that no task has."""
        if self._counts is None:
            self._counts = self.by_status.counts()
        return self._counts

    def update_task_status(self, task: TaskInfo, status: TaskStatus) -> None:
        """Move a task to another status."""
        by_status = self.by_status
        before = self._exchange(task, status) if self.copied else task.status
        if len(by_status[before]) == 1 and status not in by_status and status not in by_status.unmade:
            by_status[status] = by_status.pop(before)
        else:
            del by_status[before][task.uid]
            by_status[status][task.uid] = task
        task.status = status
        self.moved = True
        self._touched[self.key] = self
        self.order = self._counts = self._samples = None
        change = CHANGES[before][status]
        if change is None:
            return
        valid, ready, allocated, waiting, pending = change
        self.valid_count += valid
        self.ready_count += ready
        self.waiting_count += waiting
        if pending:
            if self._pending_roles is not None:
                self._pending_roles[task.role] = self._pending_roles.get(task.role, 0) + pending
            if task.shape.best_effort:
                self.pending_best_effort += pending
        if allocated:
            self.allocated_count += allocated
            if allocated > 0:
                self.allocated.add(task.shape.request)
            else:
                self.allocated.sub(task.shape.request)

    def _exchange(self, task: TaskInfo, status: TaskStatus) -> TaskStatus:
        """Replace the job's record of a task's pod by this task; return the status of the previous record.

        Volcano keeps a second index of pending tasks, that of the sub job, from which it removes a task by
        the status of the new record. A pending task that a placed copy replaces therefore remains in it.
        """
        known, uid = self.tasks[task.uid], task.uid
        if known is not task:
            if known.status is TaskStatus.PENDING:
                self._overlooked[uid] = known
            self.by_status.replace(known, task)
        if TaskStatus.PENDING in (task.status, status):
            self._overlooked.pop(uid, None)
        return known.status

    def pending_of_sub_job(self) -> list[TaskInfo]:
        """Return the pending tasks in the sub job's index; some may already be placed."""
        pending = self.by_status[TaskStatus.PENDING]
        return list({**pending, **self._overlooked}.values() if self._overlooked else pending.values())

    def samples(self) -> Sequence[TaskInfo]:
        """Return a pending task of each kind, and all that have a nominated node; kept until a task moves."""
        if self._samples is None:
            pending = self.pending_of_sub_job()
            if len(pending) == 1:
                self._samples = pending
            else:
                of_kind = {task.kind: task for task in pending}
                self._samples = [*of_kind.values(), *(task for task in pending if task.nominated)]
        return self._samples

    def tasks_in(self, statuses: Iterable[TaskStatus]) -> list[TaskInfo]:
        """Return the tasks in any of the statuses, by uid."""
        found = [task for status in statuses for task in self.by_status[status].values()]
        return sorted(found, key=lambda task: task.uid)

    def total_request(self) -> Resource:
        """Return the sum of the requests of all tasks."""
        return total_of(task.request for task in self.tasks.values())

    def count(self, statuses: Collection[TaskStatus]) -> int:
        """Return how many tasks are in any of the statuses."""
        return sum([count for status, count in self.status_counts().items() if status in statuses])

    @property
    def pending_roles(self) -> Mapping[str, int]:
        """Return how many tasks of each role are pending, maintained once it has been read."""
        if self._pending_roles is None:
            self._pending_roles = Counter(task.role for task in self.by_status[TaskStatus.PENDING].values())
        return self._pending_roles
