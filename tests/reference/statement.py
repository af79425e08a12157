"""Decisions that can be discarded: ``spec/actions.md`` 0.7, ``session.md`` 6."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.reference.cluster import Node
from tests.reference.pods import Task

if TYPE_CHECKING:
    from tests.reference.session import Session


class Statement:
    """Operations that can be discarded."""

    def __init__(self, session: Session) -> None:
        self.session, self.log = session, []

    def evict(self, victim: Task, preemptor: Task | None) -> None:
        self.session.move(victim, "Releasing")
        self.session.fire("deallocate", victim)
        decision = self.session.decide("evict", victim, pod=victim.key, node=victim.node)
        if preemptor is not None:
            decision["for"] = preemptor.key
        self.log.append((victim, decision))

    def place(self, task: Task, node: Node, status: str, *, evicts: bool = False) -> bool:
        task.node, task.evicts = node.name, evicts
        self.session.move(task, status)
        if self.session.fire("allocate", task):
            self.session.take_back(task)
            return False
        op = "pipeline" if status == "Pipelined" else "allocate"
        self.log.append((task, self.session.decide(op, task, pod=task.key, node=node.name)))
        return True

    def discard(self) -> None:
        for task, decision in reversed(self.log):
            task.last = task.node, task.status, task.evicts
            self.session.take_back(task)
            self.session.decisions = [one for one in self.session.decisions if one is not decision]
        self.log = []

    def commit(self) -> None:
        for task, decision in self.log:
            task.last = None
            decision["state"] = "committed"
            if decision["op"] == "allocate":
                self.session.bind(task)
                decision["op"] = "bind"
        self.log = []
