"""Plugin tdm: let preemptable workloads use revocable nodes at certain times of day.

Source: volcano ``pkg/scheduler/plugins/tdm/tdm.go`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scheduler_core.conf import Arguments
from scheduler_core.decision import Why
from scheduler_core.errors import SchedulerPanic
from scheduler_core.framework.extension_points import PERMIT, REJECT, Point, Vote
from scheduler_core.framework.session import Session
from scheduler_core.model.annotations import may_use_revocable_nodes, revocable_zone_of
from scheduler_core.model.fit import Code, Status
from scheduler_core.model.fit import Why as Refusals
from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.model.status import TaskStatus
from scheduler_core.model.timestamps import parse_duration
from scheduler_core.plugins.tdm.disruption import evictable_at_once
from scheduler_core.plugins.tdm.zones import edges_after, inactive_because, zones_of

__all__ = ["NAME", "Tdm", "edges_after", "evict_period_of", "open_session", "zones_of"]

NAME = "tdm"

EVICT_PERIOD = "tdm.evict.period"
DEFAULT_EVICT_PERIOD = 60.0
ACTIVE_ZONE_SCORE = 100.0
NOT_ALLOWED = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, "not allow to dispatch to revocable node", NAME)


def open_session(session: Session, arguments: Arguments) -> None:
    """Register the callbacks of tdm."""
    tdm = Tdm(session, arguments)
    session.registry.add_predicate(NAME, tdm.predicate, class_key=may_use_revocable)
    session.registry.add_node_order(NAME, tdm.node_order, class_key=may_use_revocable)
    session.registry.add_evictable(Point.PREEMPTABLE, NAME, tdm.preemptable)
    session.registry.add_victim_tasks(NAME, tdm.victim_tasks, returns_records=True)
    session.registry.add_job_order(NAME, job_order)
    session.registry.add_job_pipelined(NAME, job_pipelined)
    session.registry.add_job_starving(NAME, job_starving)


def may_use_revocable(task: TaskInfo) -> bool:
    """Return whether a pod's annotations allow revocable nodes."""
    return may_use_revocable_nodes(task.annotations())


class Tdm:
    """The revocable zones of one session.

    Attributes
    ----------
    zone : list of str
        The zone of each node, empty if it is not revocable.
    inactive : (N,) int32
        For each node, the number of the status that refuses tasks if its zone is inactive, else 0.

    """

    def __init__(self, session: Session, arguments: Arguments) -> None:
        self.session = session
        self.zones = zones_of(arguments)
        self.evict_period = evict_period_of(arguments)
        nodes = session.nodes
        self.zone = [revocable_zone_of(nodes.labels(number)) for number in range(len(nodes))]
        numbers = {"": 0, **{zone: self._refusal(zone) for zone in sorted(set(self.zone)) if zone}}
        self.inactive: Refusals = np.array([numbers[zone] for zone in self.zone], dtype=np.int32)
        self.revocable: NDArray[np.bool_] = np.array([bool(zone) for zone in self.zone], dtype=np.bool_)

    def _refusal(self, zone: str) -> int:
        reason = inactive_because(zone, self.zones, self.session.now)
        if reason is None:
            return 0
        return self.session.statuses.number(Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, reason, NAME))

    # predicate, node order

    def predicate(self, task: TaskInfo, nodes: NDArray[np.intp]) -> Refusals:
        """Refuse nodes of inactive zones, and revocable nodes to tasks that may not use them."""
        inactive = self.inactive[nodes]
        if may_use_revocable_nodes(task.annotations()):
            return inactive
        not_allowed = np.int32(self.session.statuses.number(NOT_ALLOWED))
        return np.where(self.revocable[nodes] & (inactive == 0), not_allowed, inactive)

    def node_order(self, task: TaskInfo, nodes: NDArray[np.intp]) -> NDArray[np.float64]:
        """Prefer revocable nodes for tasks that may use them; NaN for nodes of inactive zones."""
        allowed = may_use_revocable_nodes(task.annotations())
        scores = np.where(self.revocable[nodes] & allowed, ACTIVE_ZONE_SCORE, 0.0)
        scores[self.inactive[nodes] != 0] = np.nan
        return scores

    # victims

    def preemptable(
        self, preemptor: TaskInfo, candidates: Sequence[TaskInfo], why: Why | None
    ) -> list[TaskInfo]:
        """Return the preemptable tasks on non-revocable nodes that each job can lose at once.

        A preemptor that is preemptable itself (pods are by default) or may use revocable nodes gets none.
        """
        if preemptor.preemptable or may_use_revocable_nodes(preemptor.annotations()):
            if why is not None:
                text = "the preemptor is preemptable itself or may use revocable nodes"
                why.update((task.uid, (text, {})) for task in candidates)
            return []
        accepted = self._within_budgets(task for task in candidates if not self.revocable[task.node])
        if why is not None:
            self._explain(candidates, accepted, why)
        return accepted

    def victim_tasks(self, _running: Sequence[TaskInfo]) -> list[TaskInfo]:
        """Return the tasks to evict from nodes of inactive zones, at most once per period."""
        session, last = self.session, self.session.kept.get(NAME)
        if last is not None and last + self.evict_period > session.now:
            return []
        victims = []
        for zone in sorted(self.zones):
            if inactive_because(zone, self.zones, session.now) is not None:
                numbers = [number for number, name in enumerate(self.zone) if name == zone]
                victims += self._within_budgets(
                    task for number in numbers for task in session.nodes.tasks.in_order(number)
                )
        session.kept[NAME] = session.now
        return victims

    def _within_budgets(self, tasks: Iterable[TaskInfo]) -> list[TaskInfo]:
        """Return the running preemptable tasks that each job can lose at once, by job."""
        by_job: dict[str, list[TaskInfo]] = {}
        for task in tasks:
            if task.preemptable and task.node_status is TaskStatus.RUNNING and task.job is not None:
                by_job.setdefault(task.job.key, []).append(task)
        jobs = self.session.jobs
        return [task for key in sorted(by_job) for task in by_job[key][: evictable_at_once(jobs[key])]]

    def _explain(self, candidates: Sequence[TaskInfo], accepted: Sequence[TaskInfo], why: Why) -> None:
        uids = {task.uid for task in accepted}
        for task in candidates:
            numbers: dict[str, Any] = {}
            if task.uid in uids:
                text = "the job allows the disruption"
            elif self.revocable[task.node]:
                text = "on a revocable node"
            elif not task.preemptable or task.node_status is not TaskStatus.RUNNING or task.job is None:
                text = "not a running preemptable pod"
            else:
                text = "the job allows fewer disruptions at once"
                numbers = {"at_once": evictable_at_once(task.job)}
            why[task.uid] = (text, numbers)


def job_order(job: JobInfo) -> bool:
    """Return whether the job is preemptable, as a sort key: those that are not are first."""
    return job.preemptable


def job_pipelined(job: JobInfo) -> Vote:
    """Permit a job that has its minimum once resources are released; reject any other."""
    return PERMIT if job.is_pipelined() else REJECT


def job_starving(job: JobInfo) -> bool:
    """Return whether a job that is not preemptable has pending tasks."""
    return not job.preemptable and bool(job.by_status[TaskStatus.PENDING])


def evict_period_of(arguments: Arguments) -> float:
    """Return the seconds between two rounds of evictions by action shuffle."""
    text = arguments.values.get(EVICT_PERIOD)
    if text is None:
        return DEFAULT_EVICT_PERIOD
    if not isinstance(text, str):
        raise SchedulerPanic(f"argument {EVICT_PERIOD} of plugin {NAME} is not a string")
    seconds = parse_duration(text)
    return DEFAULT_EVICT_PERIOD if seconds is None else seconds
