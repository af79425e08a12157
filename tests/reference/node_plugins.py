"""Which nodes take a task, and which are better? ``spec/predicates.md`` 4 to 6, ``scoring.md`` 2 to 4."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tests.reference.cluster import ANY_ADDRESS, Node, Task
from tests.reference.plugin import Plugin
from tests.reference.resources import names_of

if TYPE_CHECKING:
    from tests.reference.session import Session


class Predicates(Plugin):
    def pre_predicate(self, task: Task) -> None:
        task.looked_at = True

    def predicate(self, task: Task, node: Node) -> list[int]:
        codes = [2] if node.allocatable.get("pods", 0.0) <= len(node.seen) else []
        if node.unschedulable and not _tolerated(task, UNSCHEDULABLE):
            return [*codes, 3]
        if not _wants(task.spec, node):
            return [*codes, 3]
        hard = [taint for taint in node.taints if taint.get("effect") in ("NoSchedule", "NoExecute")]
        if not all(_tolerated(task, taint) for taint in hard):
            return [*codes, 3]
        if not task.looked_at:
            return [*codes, 1]
        collide = any(_collide(mine, other) for mine in task.ports for other in node.ports)
        return [*codes, 2] if collide else codes

    def allocate(self, task: Task) -> str | None:
        if not task.looked_at:
            return "no state"
        self.session.cluster.nodes[task.node].show(task)
        return None

    def deallocate(self, task: Task) -> None:
        self.session.cluster.nodes[task.node].hide(task)


UNSCHEDULABLE = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}


def _collide(mine: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    return mine[1:] == other[1:] and (mine[0] == other[0] or ANY_ADDRESS in (mine[0], other[0]))


def _tolerated(task: Task, taint: dict[str, Any]) -> bool:
    return any(_tolerates(entry, taint) for entry in task.spec.get("tolerations") or ())


def _tolerates(toleration: dict[str, Any], taint: dict[str, Any]) -> bool:
    if (toleration.get("effect") or taint["effect"]) != taint["effect"]:
        return False
    if (toleration.get("key") or taint.get("key")) != taint.get("key"):
        return False
    operator = toleration.get("operator") or "Equal"
    same = (toleration.get("value") or "") == (taint.get("value") or "")
    return operator == "Exists" or (operator == "Equal" and same)


def _wants(spec: dict[str, Any], node: Node) -> bool:
    selector = spec.get("nodeSelector") or {}
    return all(node.labels.get(key) == value for key, value in selector.items())


class Binpack(Plugin):
    def __init__(self, session: Session, arguments: dict[str, Any]) -> None:
        super().__init__(session, arguments)
        listed = [name.strip() for name in str(arguments.get("binpack.resources", "")).split(",")]
        self.weights = {name: self._int(f"binpack.resources.{name}", 1) for name in listed if name}
        self.weights |= {"cpu": self._int("binpack.cpu", 1), "memory": self._int("binpack.memory", 1)}
        self.weights = {name: weight if weight >= 0 else 1 for name, weight in self.weights.items()}
        self.weight = self._int("binpack.weight", 1)

    def _int(self, name: str, default: int) -> int:
        value = self.arguments.get(name, default)
        return value if isinstance(value, int) and not isinstance(value, bool) else default

    def node_order(self, task: Task, node: Node) -> float:
        parts, weights = 0.0, 0
        for name in names_of(task.request):
            weight, has = self.weights.get(name), node.allocatable.get(name, 0.0)
            if weight is None:
                continue
            weights += weight
            if weight == 0 or has == 0:
                continue
            filled = task.request[name] + node.used.get(name, 0.0)
            if filled > has:
                return 0.0
            parts += filled * weight / has
        return (parts / weights if weights > 0 else 0.0) * (100 * self.weight)


class NodeOrder(Plugin):
    WEIGHTS = {"leastrequested": 1, "mostrequested": 0, "balancedresource": 1, "tainttoleration": 3}

    def batch_node_order(self, task: Task, nodes: list[Node]) -> list[float]:
        weight = {}
        for name, default in self.WEIGHTS.items():
            value = self.arguments.get(f"{name}.weight", default)
            weight[name] = value if isinstance(value, int) and not isinstance(value, bool) else default
        raw = [self._disliked(task, node) for node in nodes]
        worst = max(raw)
        return [
            float(
                weight["leastrequested"] * self._by_use(task, node, free=True)
                + weight["mostrequested"] * self._by_use(task, node, free=False)
                + weight["balancedresource"] * self._balance(task, node)
                + weight["tainttoleration"] * (100 - 100 * disliked // worst if worst else 100)
            )
            for node, disliked in zip(nodes, raw, strict=True)
        ]

    def _by_use(self, task: Task, node: Node, *, free: bool) -> int:
        parts = []
        for name in ("cpu", "memory"):
            has = int(node.allocatable[name])
            if has > 0:
                used = int(sum(pod.near[name] for pod in node.seen.values()) + task.near[name])
                parts.append((max(has - used, 0) if free else min(used, has)) * 100 // has)
        return sum(parts) // len(parts) if parts else 0

    def _balance(self, task: Task, node: Node) -> int:
        whole = {name: _whole(task, name) for name in ("cpu", "memory", "nvidia.com/gpu")}
        if not any(whole.values()):
            return 0
        fractions = []
        for name, amount in whole.items():
            has = node.allocatable.get(name, 0.0) / (1000 if name == "nvidia.com/gpu" else 1)
            if has > 0 and (amount > 0 or name != "nvidia.com/gpu"):
                used = sum(_whole(pod, name) for pod in node.seen.values())
                fractions.append(min((used + amount) / has, 1.0))
        if len(fractions) == 2:
            return int((1 - abs((fractions[0] - fractions[1]) / 2)) * 100)
        mean = sum(fractions) / len(fractions) if len(fractions) > 2 else 0.0
        squares = [(part - mean) ** 2 for part in fractions] if len(fractions) > 2 else []
        return int((1 - (math.sqrt(sum(squares) / len(squares)) if squares else 0.0)) * 100)

    def _disliked(self, task: Task, node: Node) -> int:
        soft = [taint for taint in node.taints if taint.get("effect") == "PreferNoSchedule"]
        return sum(not _tolerated(task, taint) for taint in soft)


def _whole(task: Task, name: str) -> int:
    amount = task.whole.get(name, 0.0)
    return math.ceil(amount / 1000) if name == "nvidia.com/gpu" else int(amount)
