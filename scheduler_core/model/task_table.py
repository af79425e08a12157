"""Which tasks does a snapshot have? A task is made when somebody looks at it first.

Most pods run, and what they hold is known by sums: of ten thousands of tasks few are ever looked at.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from scheduler_core.model.composition import Composition
from scheduler_core.model.job import NO_NODE, JobInfo, TaskInfo
from scheduler_core.model.pod import PodShape
from scheduler_core.model.pod_info import PodInfo, Roster
from scheduler_core.model.status import COMPLETED_STATUSES, TaskStatus

_STATUS_BITS = 2 * max(TaskStatus)


class TaskTable:
    """The tasks of one snapshot by number, ascending by uid.

    Attributes
    ----------
    pods : list of PodInfo
        What is read of the task's pods.
    places : (T,) intp
        The number of the node that each task is on, `NO_NODE` for none.
    shapes : sequence of PodShape
        Those of the pods, on the snapshot's axis, by number.
    shape_numbers : (T,) intp
        The number of each task's shape.
    kinds : list of PodKind
        Those of the pods.
    kind_numbers : (T,) intp
        The position in `kinds` of each task's kind.
    statuses : (T,) intp
        The status in which each task was found.
    leaving : (T,) bool
        The task's pod is terminating.

    Parameters
    ----------
    roster : Roster
        The pods.
    jobs : mapping
        By key.
    nodes : mapping
        The nodes' numbers by name.

    """

    def __init__(
        self,
        roster: Roster,
        shapes: Sequence[PodShape],
        jobs: Mapping[str, JobInfo],
        nodes: Mapping[str, int],
    ) -> None:
        self.pods = roster.pods
        self._jobs = jobs
        self._tasks: list[TaskInfo | None] = [None] * len(self.pods)
        of_shape = {shape: shapes[number] for number, shape in enumerate(roster.shapes)}
        self.kinds = roster.kinds
        self.kind_numbers: NDArray[np.intp] = np.array(roster.numbers, dtype=np.intp)
        self._made_of = [(kind, of_shape[kind.shape]) for kind in roster.kinds]
        self._made_of_number = roster.numbers
        self.shapes = shapes
        count = len(self.pods)
        statuses = np.fromiter([info.status for info in self.pods], dtype=np.intp, count=count)
        self.statuses: NDArray[np.intp] = statuses
        named = np.fromiter(
            [nodes.get(info.node_name, NO_NODE) for info in self.pods], dtype=np.intp, count=count
        )
        self.places: NDArray[np.intp] = np.where(np.isin(statuses, list(COMPLETED_STATUSES)), NO_NODE, named)
        numbers = np.array([shape.number for _, shape in self._made_of], dtype=np.intp)
        self.shape_numbers = numbers[self.kind_numbers]
        self.leaving = statuses == TaskStatus.RELEASING
        self._sorts: list[int] = (self.shape_numbers * _STATUS_BITS + statuses).tolist()
        self._compositions: dict[tuple[int, ...], Composition] = {}

    def __getitem__(self, number: int) -> TaskInfo:
        """Return a task."""
        task = self._tasks[number]
        if task is None:
            info = self.pods[number]
            task = self._tasks[number] = TaskInfo(number, info, *self._made_of[self._made_of_number[number]])
            task.job = self._jobs.get(info.job_key)
            task.node = int(self.places[number])
        return task

    def seen(self, number: int) -> TaskInfo | PodInfo:
        """Return a task that was made, else what is read of its pod."""
        return self._tasks[number] or self.pods[number]

    def are_in(self, statuses: Collection[TaskStatus], numbers: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Tell which of some tasks have any of the statuses on their nodes now, (K,)."""
        wanted = np.zeros(max(TaskStatus) + 1, dtype=np.bool_)
        wanted[list(statuses)] = True
        are_in = wanted[self.statuses[numbers]]
        for position, task in enumerate(map(self._tasks.__getitem__, numbers.tolist())):
            if task is not None:
                are_in[position] = task.node_status in statuses
        return are_in

    def composition_of(self, numbers: Iterable[int]) -> Composition:
        """Return what some tasks amount to, worked out once for all that stand alike."""
        sorts = tuple([self._sorts[number] for number in numbers])
        composition = self._compositions.get(sorts)
        if composition is None:
            composition = self._compositions[sorts] = Composition(map(self._meaning, sorts))
        return composition

    def _meaning(self, sort: int) -> tuple[TaskStatus, PodShape]:
        """Return the status and the shape of the tasks of one sort."""
        number, status = divmod(sort, _STATUS_BITS)
        return TaskStatus(status), self.shapes[number]

    def load_jobs(self) -> None:
        """Give every job its tasks."""
        members: dict[str, list[int]] = {}
        for number, info in enumerate(self.pods):
            if info.job_key in members:
                members[info.job_key].append(number)
            elif info.job_key in self._jobs:
                members[info.job_key] = [number]
        for key, numbers in members.items():
            self._jobs[key].load(self, numbers)
