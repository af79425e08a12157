"""Topology-aware preemption: ``spec/actions.md`` 3.3, the topology-aware variant."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from tests.reference.cluster import Node, Queue
from tests.reference.pods import Task
from tests.reference.resources import Vector, added, fits, minus
from tests.reference.statement import Statement
from tests.reference.times import seconds

if TYPE_CHECKING:
    from tests.reference.session import Session


class Trial:
    """A dry run on a node: copies of the predicates' and queues' state without simulated victims."""

    def __init__(self, session: Session, queue: Queue, task: Task, node: Node) -> None:
        self.session, self.queue, self.task, self.node = session, queue, task, node
        self.available: Vector = node.future()
        self.found = {name: copy.copy(value) for name, value in task.found.items()}
        for value in self.found.values():
            for name in ("repelling", "near", "far"):
                if hasattr(value, name):
                    setattr(value, name, getattr(value, name).copy())
        self.away: list[Task] = []

    def move(self, victim: Task, *, away: bool) -> bool:
        """Simulate removing or restoring a victim; return whether every plugin supports that."""
        if away:
            self.available = added(self.available, victim.request)
            self.away.append(victim)
        else:
            self.available = minus(self.available, victim.request)
            self.away.remove(victim)
        sign = -1 if away else 1
        return all(
            simulate(self.found, self.task, victim, self.node, sign) for simulate in self.session.movers()
        )

    def has_room(self) -> bool:
        allocatable = all(
            answer(self.queue, self.task, self.away) for answer in self.session.every("simulate_allocatable")
        )
        return allocatable and fits(self.task.request, self.available) and self.is_accepted()

    def is_accepted(self) -> bool:
        return all(
            answer(self.found, self.task, self.node) for answer in self.session.every("simulate_predicate")
        )


def by_dry_run(
    session: Session,
    queue: Queue,
    task: Task,
    statement: Statement,
    nodes: list[Node],
    possible: dict[str, list[Task]],
) -> bool:
    """Pipeline a task to the least costly node; return whether that was possible."""
    wanted = max(
        len(nodes) * session.argument("minCandidateNodesPercentage", 10) // 100,
        session.argument("minCandidateNodesAbsolute", 1),
    )
    wanted = min(wanted, session.argument("maxCandidateNodesAbsolute", 100), len(nodes))
    found: list[tuple[Node, list[Task]]] = []
    for node in nodes:
        if len(found) >= wanted:
            break
        victims = victims_of_trial(session, queue, task, node, possible.get(node.name, []))
        if victims:
            found.append((node, victims))
    if not found:
        return False
    node, victims = min(found, key=lambda pair: _cost(session, *pair))
    mine = Statement(session)
    for victim in victims:
        mine.evict(victim, task)
    if not mine.place(task, node, "Pipelined", evicts=True):
        mine.discard()
        return False
    statement.log += mine.log
    return True


def victims_of_trial(
    session: Session, queue: Queue, task: Task, node: Node, victims: list[Task]
) -> list[Task]:
    """Return the victims that a task needs on a node, after reprieving the better ones."""
    trial = Trial(session, queue, task, node)
    heap, potential = session.losing_order(victims, task), []
    while heap:
        potential.append(heap.pop())
        if not trial.move(potential[-1], away=True):
            return []
        if trial.has_room():
            break
    if not potential or not trial.is_accepted():
        return []
    needed = []
    for victim in reversed(potential):
        trial.move(victim, away=False)
        if not trial.has_room():
            trial.move(victim, away=True)
            needed.append(victim)
    return needed


def _cost(session: Session, node: Node, victims: list[Task]) -> tuple[float, float, int, float, str]:
    highest = max(victim.pod_priority for victim in victims)
    starts = [
        seconds(start) if (start := victim.pod_status.get("startTime")) else session.cluster.now
        for victim in victims
        if victim.pod_priority == highest
    ]
    summed = sum(victim.pod_priority + 2**31 for victim in victims)
    return victims[0].pod_priority, summed, len(victims), -min(starts), node.name
