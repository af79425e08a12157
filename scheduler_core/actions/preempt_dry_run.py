"""Topology-aware preemption: dry runs on copies of the nodes, to find the victims of least importance.

Source: volcano ``pkg/scheduler/actions/preempt/preempt.go`` (topology-aware variant) at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from scheduler_core.conf import Arguments
from scheduler_core.framework.dry_run import DryRun
from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.node_columns import Nodes
from scheduler_core.framework.session import Session
from scheduler_core.framework.statement import Statement
from scheduler_core.model.job import TaskInfo
from scheduler_core.model.queue import QueueInfo
from scheduler_core.model.timestamps import parse_time
from scheduler_core.victims.eviction import evict_for, pipeline_after
from scheduler_core.victims.order import victims_queue
from scheduler_core.victims.selection import Verdict, select_victims, victims_suffice

REASON = "preempt"
PRIORITY_OFFSET = 2**31


class DryRunArguments(NamedTuple):
    """The arguments of dry runs: limits on the number of candidate nodes."""

    enabled: bool
    percentage: int
    at_least: int
    at_most: int

    @classmethod
    def read(cls, arguments: Arguments) -> DryRunArguments:
        """Return the dry-run arguments of action preempt."""
        return cls(
            arguments.get_bool("enableTopologyAwarePreemption", False),
            arguments.get_int("minCandidateNodesPercentage", 10),
            arguments.get_int("minCandidateNodesAbsolute", 1),
            arguments.get_int("maxCandidateNodesAbsolute", 100),
        )

    def wanted(self, nodes: int) -> int:
        """Return how many candidate nodes are enough in a cluster of `nodes` nodes.

        Examples
        --------
        >>> DryRunArguments(True, 10, 1, 100).wanted(25)
        2

        """
        return min(max(nodes * self.percentage // 100, self.at_least), self.at_most, nodes)


class Candidate(NamedTuple):
    """A node where evicting the victims, most important first, would make room."""

    node: int
    victims: list[TaskInfo]
    verdict: Verdict


def preempt_by_dry_run(
    statement: Statement,
    queue: QueueInfo,
    task: TaskInfo,
    nodes: Nodes,
    candidates_on: Callable[[int], list[TaskInfo]],
    arguments: DryRunArguments,
) -> bool:
    """Evict on the node whose victims matter least; return whether the task was pipelined."""
    session = statement.session
    found: list[Candidate] = []
    for node in nodes.tolist():
        candidate = try_node(session, queue, task, node, candidates_on(node))
        if candidate is not None:
            found.append(candidate)
            if len(found) >= arguments.wanted(len(nodes)):
                break
    if not found:
        return False
    chosen = least_loss(found, session.now)
    local = Statement(session)
    for victim in chosen.victims:
        evict_for(local, victim, REASON, task, chosen.verdict, dry_run=True)
    return pipeline_after(statement, local, task, chosen.node, has_room=True, evicted=True)


def try_node(
    session: Session, queue: QueueInfo, task: TaskInfo, node: int, tasks: Sequence[TaskInfo]
) -> Candidate | None:
    """Return the candidates that must be evicted from a node, None if that would not help."""
    verdict = select_victims(session, Point.PREEMPTABLE, task, tasks)
    session.observer.plugins_voted(task, tasks, verdict.votes)
    if not victims_suffice(session, task, node, verdict.victims):
        return None
    dry_run = DryRun(session, queue, task, node)
    potential = _potential_victims(dry_run, verdict)
    if not potential or not dry_run.passes_filters():
        return None
    victims = []
    for victim in reversed(potential):
        if not dry_run.add(victim):
            return None
        if not dry_run.takes_preemptor():
            if not dry_run.remove(victim):
                return None
            victims.append(victim)
    return Candidate(node, victims, verdict) if victims else None


def _potential_victims(dry_run: DryRun, verdict: Verdict) -> list[TaskInfo]:
    """Remove all victims; return them if the preemptor then fits, none if a plugin fails."""
    waiting = victims_queue(dry_run.session, verdict.victims, dry_run.preemptor)
    potential: list[TaskInfo] = []
    while waiting:
        victim = waiting.pop()
        if not dry_run.remove(victim):
            return []
        potential.append(victim)
        if dry_run.takes_preemptor():
            break
    return potential


def least_loss(candidates: Sequence[Candidate], now: float) -> Candidate:
    """Return the candidate with the least loss; ties are broken by node name.

    Compared in order: lower priority of the first victim, smaller sum of priorities, fewer victims, later
    start of the most important ones.
    """

    def loss(candidate: Candidate) -> tuple[float, ...]:
        priorities = [_priority(victim) for victim in candidate.victims]
        highest = max(priorities)
        earliest = min(
            _start(victim, now)
            for victim, priority in zip(candidate.victims, priorities, strict=True)
            if priority == highest
        )
        total = sum(priority + PRIORITY_OFFSET for priority in priorities)
        return priorities[0], total, len(priorities), -earliest

    return min(candidates, key=loss)


def _priority(task: TaskInfo) -> int:
    return int(task.pod["spec"].get("priority") or 0)


def _start(task: TaskInfo, now: float) -> float:
    text = (task.pod.get("status") or {}).get("startTime")
    return parse_time(text) if text else now
