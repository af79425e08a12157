"""Filters of nodes for a task: ``spec/predicates.md`` 4 to 6."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.reference.cluster import Node
from tests.reference.neighbours import Neighbours, Spread
from tests.reference.plugin import Plugin
from tests.reference.pods import ANY_ADDRESS, Task
from tests.reference.selectors import (
    InvalidSelectorError,
    accepts_node,
    names_no_node,
    tolerates,
    tolerates_hard,
)

if TYPE_CHECKING:
    from tests.reference.session import Session

UNSCHEDULABLE = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
TEMPLATE = "volcano.sh/template-uid"


class Predicates(Plugin):
    def __init__(self, session: Session, arguments: dict[str, Any]) -> None:
        super().__init__(session, arguments)
        self.remembered: dict[tuple[str, str], bool] = {}

    def has(self, name: str) -> bool:
        return self.flag(f"predicate.{name}Enable", True)

    def pre_predicate(self, task: Task) -> str | None:
        if self.has("NodeAffinity") and names_no_node(task):
            return "pod affinity terms conflict"
        cluster = self.session.cluster
        try:
            if self.has("PodAffinity"):
                self.store(task, "PodAffinity", Neighbours(cluster, task))
            if self.has("PodTopologySpread"):
                task.found["PodTopologySpread"] = Spread(cluster, task)
        except InvalidSelectorError as error:
            return str(error)
        task.looked_at = True
        return None

    @staticmethod
    def store(task: Task, name: str, found: Neighbours) -> None:
        """Store the result; a filter that was skipped once is skipped for the whole session."""
        if found.says_nothing:
            task.skipped.add(name)
        else:
            task.found[name] = found

    def predicate(self, task: Task, node: Node) -> list[int]:
        codes = [2] if node.declared.get("pods", 0.0) <= len(node.seen) else []
        stable = self.stable(task, node)
        if stable:
            return [*codes, *stable]
        if not task.looked_at:
            return [*codes, 1]
        if self.has("NodePorts") and any(
            _collide(mine, other) for mine in task.ports for other in node.ports
        ):
            codes.append(2)
        for name in ("PodAffinity", "PodTopologySpread"):
            if name in task.found and name not in task.skipped:
                codes += task.found[name].codes(node)
                if 3 in codes:
                    break
        return codes

    def stable(self, task: Task, node: Node) -> list[int]:
        """Return the codes of the filters that do not depend on other pods. Section 5.4 has their cache."""
        memory = (node.name, task.notes.get(TEMPLATE, ""))
        if not (self.flag("predicate.CacheEnable", False) and TEMPLATE in task.notes):
            return [] if self.takes(task, node) else [3]
        if memory in self.remembered:
            return [] if self.remembered[memory] else [1]
        self.remembered[memory] = self.takes(task, node)
        return [] if self.remembered[memory] else [3]

    def takes(self, task: Task, node: Node) -> bool:
        if node.unschedulable and not tolerates(task, UNSCHEDULABLE):
            return False
        if self.has("NodeAffinity") and not accepts_node(task, node):
            return False
        return not self.has("TaintToleration") or tolerates_hard(task, node)

    def allocate(self, task: Task) -> str | None:
        if not task.looked_at:
            return "no state"
        self.session.cluster.nodes[task.node].show(task)
        return None

    def deallocate(self, task: Task) -> None:
        if task.node:
            self.session.cluster.nodes[task.node].hide(task)

    # topology-aware preemption, section 8

    def simulate_move(self, found: dict[str, Any], task: Task, pod: Task, node: Node, amount: int) -> bool:
        if self.has("PodAffinity") and "PodAffinity" not in task.skipped:
            if "PodAffinity" not in found:
                return False
            found["PodAffinity"].move(self.session.cluster, pod, node, amount)
        return True

    def simulate_predicate(self, found: dict[str, Any], task: Task, node: Node) -> bool:
        if "PodAffinity" in found and "PodAffinity" not in task.skipped:
            return not found["PodAffinity"].codes(node)
        return True


def _collide(mine: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    return mine[1:] == other[1:] and (mine[0] == other[0] or ANY_ADDRESS in (mine[0], other[0]))
