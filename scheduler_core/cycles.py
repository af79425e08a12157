"""The transition of a cluster from one cycle to the next.

After a session the PodGroups' status is written, bound pods run, evicted pods terminate and may be recreated.
"""

from __future__ import annotations

import re
from collections.abc import Hashable

from scheduler_core.framework.session import Session
from scheduler_core.model.job import TaskInfo
from scheduler_core.model.messages import is_waiting
from scheduler_core.model.pods import Pods
from scheduler_core.model.snapshot import Cluster
from scheduler_core.model.status import TaskStatus
from scheduler_core.model.timestamps import format_time
from scheduler_core.recurrence import Recurrence
from scheduler_core.transitions import (
    Object,
    bound,
    created_again,
    evicted,
    nominated,
    nominated_node,
    standing,
    write_status,
)

_REQUEUED = re.compile(r"-re\d+$")


class ClusterTransition:
    """Moves a cluster from one cycle to the next.

    Parameters
    ----------
    requeue : bool
        Whether evicted pods are recreated as pending.
    termination_cycles : int
        The number of sessions in which an evicted pod is terminating.
    cycle_seconds : float
        The time between two cycles.

    Attributes
    ----------
    recurrence : Recurrence or None
        Detects that the cluster returns to an earlier state; None: not detected.

    """

    def __init__(
        self, cluster: Cluster, *, requeue: bool, termination_cycles: int, cycle_seconds: float
    ) -> None:
        self.cluster = cluster
        self.requeue = requeue
        self.termination_cycles = termination_cycles
        self.cycle_seconds = cycle_seconds
        self.terminating: dict[str, int] = {}
        self.recurrence: Recurrence | None = None

    @property
    def pods(self) -> Pods:
        """Return the current pods."""
        return self.cluster.pods

    def advance(self, session: Session, cycle: int) -> None:
        """Write the decisions of cycle number `cycle`, at the time of the next one.

        Only jobs that changed have a status to write.
        """
        cluster = self.cluster
        cluster.now += self.cycle_seconds
        moved = session.moved.in_order()
        for job in moved:
            write_status(cluster.podgroups, job)
            if job.phase != job.phase_before:
                self._changed(("podgroup", job.key), job.phase_before, job.phase)
        victims = {
            decision.pod
            for decision in session.decisions
            if decision.op == "evict" and decision.state == "committed"
        }
        for job in moved:
            for task in job.tasks.values():
                if task.key in victims:
                    continue
                if task.status is TaskStatus.BINDING:
                    self._write(task.key, bound(task.pod, task.node_name, format_time(cluster.now)))
                elif is_waiting(task):
                    self._nominate(task)
        self._terminate(cycle)
        for key in sorted(victims):
            if self.termination_cycles > 0:
                self._write(key, evicted(self.pods[key], format_time(cluster.now)))
                self.terminating[key] = cycle + self.termination_cycles
            else:
                self._remove(key, cycle)
        if self.recurrence is not None:
            left = [(key, last - cycle) for key, last in self.terminating.items()]
            self.recurrence.close(cycle, terminating=left, evicts=bool(victims))

    def _terminate(self, cycle: int) -> None:
        for key in sorted(key for key, last in self.terminating.items() if last <= cycle):
            del self.terminating[key]
            self._remove(key, cycle)

    def _remove(self, key: str, cycle: int) -> None:
        pod = self.pods.pop(key)
        if self.requeue:
            uid = f"{_REQUEUED.sub('', pod['metadata']['uid'])}-re{cycle}"
            names = self.cluster.pods.reader.scheduler_names
            self.pods[key] = created_again(pod, uid, format_time(self.cluster.now), names)
            if self.recurrence is not None:
                self.recurrence.requeue(key)
        self._changed(("pod", key), standing(pod), standing(self.pods[key]) if self.requeue else None)

    def _nominate(self, task: TaskInfo) -> None:
        node = nominated_node(task)
        if node:
            self._write(task.key, nominated(self.pods[task.key], node))

    def _write(self, key: str, pod: Object) -> None:
        self._changed(("pod", key), standing(self.pods[key]), standing(pod))
        self.pods[key] = pod

    def _changed(self, part: Hashable, before: object, after: object) -> None:
        if self.recurrence is not None:
            self.recurrence.change(part, before, after)
