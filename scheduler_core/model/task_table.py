"""The tasks of a snapshot by number, each created when it is first read.

Most pods run, and sums contain their amounts, so that few of tens of thousands of tasks are ever read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from scheduler_core.model.axis import ResourceAxis
from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.model.job_totals import JobTotals
from scheduler_core.model.pod import PodShape
from scheduler_core.model.pod_info import PodInfo
from scheduler_core.model.pod_kind import PodKind
from scheduler_core.model.pods import KnownPods
from scheduler_core.model.rows import Matrix, sums_on_nodes
from scheduler_core.model.status import COMPLETED_STATUSES, TaskStatus
from scheduler_core.model.task import NO_NODE

_STATUS_BITS = 2 * max(TaskStatus)
_LEAST_ROOM = 64
# The maximum number of cached totals.
_MOST_TOTALS = 4096


class TaskTable:
    """The tasks of a state by number; numbers of removed tasks are reused.

    Attributes
    ----------
    pods : list of PodInfo
        The pods of the tasks, by number; entries of removed tasks are meaningless.
    uids : list of str
        Their uids.
    node_of : (T,) intp
        The node number of each task, `NO_NODE` for none.
    shapes : list of PodShape
        The pods' shapes on the state's axis, by number.
    shape_numbers : (T,) intp
        The number of each task's shape.
    kinds : list of PodKind
        The pods' kinds.
    kind_numbers : (T,) intp
        The position in `kinds` of each task's kind.
    statuses : (T,) intp
        The status of each task when the session opened.
    leaving : (T,) bool
        Whether each task's pod is terminating.
    touched : dict
        The jobs that sessions have changed since the state was last renewed, by key.
    counted : dict
        The jobs whose only pod was counted as pipelined since then, by key; neither job nor task records
        that.

    Parameters
    ----------
    known_pods : KnownPods
        The pods.
    axis : ResourceAxis
        The axis of the state.
    jobs : mapping
        The jobs by key, for the tasks' `job`.
    nodes : mapping
        The nodes' numbers by name.

    """

    def __init__(
        self, known_pods: KnownPods, axis: ResourceAxis, jobs: Mapping[str, JobInfo], nodes: Mapping[str, int]
    ) -> None:
        self.pods = list(known_pods.pods)
        self.uids = [info.uid for info in self.pods]
        self.touched: dict[str, JobInfo] = {}
        self.counted: dict[str, JobInfo] = {}
        self._axis = axis
        self._jobs = jobs
        self._nodes = nodes
        self._tasks: list[TaskInfo | None] = [None] * len(self.pods)
        self.shapes = known_pods.shapes_on(axis)
        self._of_shape = {shape: self.shapes[number] for number, shape in enumerate(known_pods.shapes)}
        self.kinds = list(known_pods.kinds)
        self._number_of_kind = {kind: number for number, kind in enumerate(self.kinds)}
        self._made_of = [(kind, self._of_shape[kind.shape]) for kind in self.kinds]
        self._made_of_number = list(known_pods.numbers)
        self._free: list[int] = []
        count = len(self.pods)
        self.kind_numbers: NDArray[np.intp] = np.array(known_pods.numbers, dtype=np.intp)
        statuses = np.fromiter([info.status for info in self.pods], dtype=np.intp, count=count)
        self.statuses: NDArray[np.intp] = statuses
        self.node_of: NDArray[np.intp] = self._places()
        numbers = np.array([shape.number for _, shape in self._made_of], dtype=np.intp)
        self.shape_numbers = numbers[self.kind_numbers]
        self.leaving = statuses == TaskStatus.RELEASING
        self._sorts: list[int] = (self.shape_numbers * _STATUS_BITS + statuses).tolist()
        self._totals: dict[tuple[int, ...], JobTotals] = {}
        self._rows: Matrix = np.zeros((0, len(axis)))

    def _places(self) -> NDArray[np.intp]:
        """Return the node number of each pod, NO_NODE if it is on none, (T,)."""
        nodes, count = self._nodes, len(self.pods)
        named = np.fromiter(
            [nodes.get(info.node_name, NO_NODE) for info in self.pods], dtype=np.intp, count=count
        )
        return np.where(np.isin(self.statuses, list(COMPLETED_STATUSES)), NO_NODE, named)

    def move_to(self, nodes: Mapping[str, int]) -> None:
        """Move the same pods to other nodes, given by number; no pod may have been added or removed."""
        assert len(self.pods) == len(self.node_of), "no pod was added"
        assert not self._free, "no pod was removed"
        self._nodes = nodes
        self.node_of = self._places()
        for number in range(len(self._tasks)):
            self.renew(number)

    def __getitem__(self, number: int) -> TaskInfo:
        """Return a task."""
        task = self._tasks[number]
        if task is None:
            info = self.pods[number]
            task = self._tasks[number] = TaskInfo(number, info, *self._made_of[self._made_of_number[number]])
            self.renew(number)
        return task

    def seen(self, number: int) -> TaskInfo | PodInfo:
        """Return a task if it was created, else its pod."""
        return self._tasks[number] or self.pods[number]

    def shape_of(self, number: int) -> PodShape:
        """Return the shape of a task, created or not."""
        return self._made_of[self._made_of_number[number]][1]

    # adding and removing pods

    def knows(self, kind: PodKind) -> bool:
        """Return whether pods of a kind can be added: the axis has all resources that they request."""
        return set(kind.shape.request.scalars or ()) <= self._axis.index.keys()

    def sample(self, info: PodInfo, kind: PodKind) -> TaskInfo | None:
        """Return a task without a name that represents the pods of a kind; None if the kind is unknown."""
        if not self.knows(kind):
            return None
        number = self._number_of_kind.get(kind)
        sample = TaskInfo(NO_NODE, info, *self._made_of[self._add_kind(kind) if number is None else number])
        sample.uid = sample.key = ""
        return sample

    def put(self, info: PodInfo, kind: PodKind) -> int:
        """Add a pod of a known kind; return its number."""
        number_of_kind = self._number_of_kind.get(kind)
        if number_of_kind is None:
            number_of_kind = self._add_kind(kind)
        shape = self._made_of[number_of_kind][1]
        number = self._free.pop() if self._free else self._new_number(info)
        node = NO_NODE if info.status in COMPLETED_STATUSES else self._nodes.get(info.node_name, NO_NODE)
        self.pods[number], self.uids[number] = info, info.uid
        self._made_of_number[number] = self.kind_numbers[number] = number_of_kind
        self.statuses[number] = info.status
        self.node_of[number] = node
        self.shape_numbers[number] = shape.number
        self.leaving[number] = info.status is TaskStatus.RELEASING
        self._sorts[number] = shape.number * _STATUS_BITS + info.status
        return number

    def drop(self, number: int) -> None:
        """Remove a pod; its number may be reused. Its task leaves its job, and neither keeps the other."""
        task, self._tasks[number] = self._tasks[number], None
        if task is not None:
            task.job = None
        self.node_of[number] = NO_NODE
        self._free.append(number)

    def renew(self, number: int) -> None:
        """Reset a task to the state of its pod."""
        task = self._tasks[number]
        if task is not None:
            task.reset(int(self.node_of[number]))
            task.job = self._jobs.get(task.info.job_key)

    def _add_kind(self, kind: PodKind) -> int:
        shape = self._of_shape.get(kind.shape)
        if shape is None:
            shape = self._of_shape[kind.shape] = kind.shape.on_axis(self._axis, len(self.shapes))
            self.shapes.append(shape)
        number = self._number_of_kind[kind] = len(self.kinds)
        self.kinds.append(kind)
        self._made_of.append((kind, shape))
        return number

    def _new_number(self, info: PodInfo) -> int:
        """Return a new number."""
        number = len(self.pods)
        self.pods.append(info)
        self.uids.append(info.uid)
        self._tasks.append(None)
        self._made_of_number.append(0)
        self._sorts.append(0)
        if number == len(self.node_of):
            zeros = np.zeros(max(number, _LEAST_ROOM), dtype=np.intp)
            self.kind_numbers = np.concatenate([self.kind_numbers, zeros])
            self.statuses = np.concatenate([self.statuses, zeros])
            self.shape_numbers = np.concatenate([self.shape_numbers, zeros])
            self.node_of = np.concatenate([self.node_of, zeros + NO_NODE])
            self.leaving = np.concatenate([self.leaving, zeros.astype(np.bool_)])
        return number

    def sums_on_nodes(
        self, numbers: NDArray[np.intp], node_of: NDArray[np.intp], nodes: int
    ) -> tuple[Matrix, Matrix]:
        """Return what some tasks use and what of it will be released on each of N nodes, (N, R) each."""
        rows, shape = self._shape_rows(), (nodes, len(self._axis))
        kinds, leaving = self.shape_numbers[numbers], self.leaving[numbers]
        used = sums_on_nodes(rows, kinds, node_of, shape)
        return used, sums_on_nodes(rows, kinds[leaving], node_of[leaving], shape)

    def _shape_rows(self) -> Matrix:
        """Return the requests of all shapes, (S, R)."""
        if len(self._rows) != len(self.shapes):
            self._rows = np.array([shape.row for shape in self.shapes])
        return self._rows

    def statuses_on_nodes(self, numbers: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the current statuses of some tasks on their nodes, (K,)."""
        statuses = self.statuses[numbers]
        for position, task in enumerate(map(self._tasks.__getitem__, numbers.tolist())):
            if task is not None:
                statuses[position] = task.node_status
        return statuses

    def totals_of_job(self, numbers: Iterable[int]) -> JobTotals:
        """Return the totals over some tasks, computed once for equal tasks."""
        sorts = tuple([self._sorts[number] for number in numbers])
        totals = self._totals.get(sorts)
        if totals is None:
            if len(self._totals) >= _MOST_TOTALS:
                self._totals.clear()
            totals = self._totals[sorts] = JobTotals(map(self._sort_key_parts, sorts))
        return totals

    def _sort_key_parts(self, sort: int) -> tuple[TaskStatus, PodShape]:
        """Return the status and the shape that a sort key stands for."""
        number, status = divmod(sort, _STATUS_BITS)
        return TaskStatus(status), self.shapes[number]

    def members(self) -> dict[str, list[int]]:
        """Return the numbers of the pods that name a job, by its key, ascending by uid."""
        members: dict[str, list[int]] = {}
        for number, info in enumerate(self.pods):
            if info.job_key in members:
                members[info.job_key].append(number)
            elif info.job_key:
                members[info.job_key] = [number]
        return members
