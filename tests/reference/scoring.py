"""Scores of nodes: ``spec/scoring.md`` 2 to 4."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

from tests.reference.cluster import Node, has_affinity
from tests.reference.neighbours import (
    constraints_of,
    matching_pods,
    own_term_matches,
    takes_part,
    term_matches,
)
from tests.reference.plugin import Plugin
from tests.reference.pods import Task
from tests.reference.resources import names_of
from tests.reference.selectors import InvalidSelectorError, term_accepts, tolerates

if TYPE_CHECKING:
    from tests.reference.session import Session

HOST = "kubernetes.io/hostname"
GPU = "nvidia.com/gpu"


class Binpack(Plugin):
    def __init__(self, session: Session, arguments: dict[str, Any]) -> None:
        super().__init__(session, arguments)
        listed = [name.strip() for name in str(arguments.get("binpack.resources", "")).split(",")]
        self.weights = {name: self.number(f"binpack.resources.{name}", 1) for name in listed if name}
        self.weights |= {name: self.number(f"binpack.{name}", 1) for name in ("cpu", "memory")}
        self.weights = {name: weight if weight >= 0 else 1 for name, weight in self.weights.items()}
        self.weight = self.number("binpack.weight", 1)

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
    """Every score is a whole number from 0 to 100, or None if it does not apply."""

    def batch_node_order(self, task: Task, nodes: list[Node]) -> list[float] | None:
        parts = {
            "leastrequested": (1, lambda: [self._by_use(task, node, free=True) for node in nodes]),
            "mostrequested": (0, lambda: [self._by_use(task, node, free=False) for node in nodes]),
            "balancedresource": (1, lambda: [self._balance(task, node) for node in nodes]),
            "nodeaffinity": (2, lambda: self._preferred_nodes(task, nodes)),
            "podaffinity": (2, lambda: self._preferred_neighbours(task, nodes)),
            "tainttoleration": (3, lambda: self._disliked_taints(task, nodes)),
            "podtopologyspread": (2, lambda: self._spread(task, nodes)),
        }
        scores = [0] * len(nodes)
        try:
            for name, (default, part) in parts.items():
                weight = self.number(f"{name}.weight", default)
                values = part() if weight else None
                for position, value in enumerate(values or ()):
                    scores[position] += weight * value
        except InvalidSelectorError:
            return None
        return [float(score) for score in scores]

    def _by_use(self, task: Task, node: Node, *, free: bool) -> int:
        parts = []
        for name in ("cpu", "memory"):
            has = int(node.declared[name])
            if has > 0:
                used = int(sum(pod.near_there[name] for pod in node.seen) + task.near[name])
                parts.append((max(has - used, 0) if free else min(used, has)) * 100 // has)
        return sum(parts) // len(parts) if parts else 0

    def _balance(self, task: Task, node: Node) -> int:
        whole = {name: _units(task.whole, name) for name in ("cpu", "memory", GPU)}
        if not any(whole.values()):
            return 0
        fractions = []
        for name, amount in whole.items():
            has = node.declared.get(name, 0.0) / (1000 if name == GPU else 1)
            if has > 0 and (amount > 0 or name != GPU):
                used = sum(_units(pod.whole_there, name) for pod in node.seen)
                fractions.append(min((used + amount) / has, 1.0))
        if len(fractions) == 2:
            return int((1 - abs((fractions[0] - fractions[1]) / 2)) * 100)
        mean = sum(fractions) / len(fractions) if len(fractions) > 2 else 0.0
        squares = [(part - mean) ** 2 for part in fractions] if len(fractions) > 2 else []
        return int((1 - (math.sqrt(sum(squares) / len(squares)) if squares else 0.0)) * 100)

    @staticmethod
    def _preferred_nodes(task: Task, nodes: list[Node]) -> list[int] | None:
        terms = [
            (entry["weight"], entry["preference"])
            for entry in task.preferred(task.node_affinity)
            if entry.get("weight") and (entry.get("preference") or {})
        ]
        raw = [sum(weight for weight, term in terms if term_accepts(term, node)) for node in nodes]
        most = max(0, *raw) if raw else 0
        return [100 * part // most if most else 0 for part in raw]

    def _preferred_neighbours(self, task: Task, nodes: list[Node]) -> list[int] | None:
        cluster, sums = self.session.cluster, Counter[tuple[str, str]]()
        wanted = [(entry, 1) for entry in task.preferred(task.affinity)]
        wanted += [(entry, -1) for entry in task.preferred(task.anti_affinity)]
        for node in cluster.nodes.values() if wanted else cluster.with_affinity:
            for pod in node.seen:
                if not wanted and not has_affinity(pod):
                    continue
                theirs = [(entry, 1) for entry in pod.preferred(pod.affinity)]
                theirs += [(entry, -1) for entry in pod.preferred(pod.anti_affinity)]
                matching = [
                    (entry, sign)
                    for entry, sign in wanted
                    if own_term_matches(cluster, task, entry["podAffinityTerm"], pod)
                ] + [
                    (entry, sign)
                    for entry, sign in theirs
                    if term_matches(cluster, pod, entry["podAffinityTerm"], task)
                ]
                for entry, sign in matching:
                    key = entry["podAffinityTerm"]["topologyKey"]
                    if key in node.labels:
                        sums[key, node.labels[key]] += sign * entry["weight"]
        if not sums:
            return None
        raw = [sum(sums[pair] for pair in node.labels.items() if pair in sums) for node in nodes]
        least, span = min(raw), max(raw) - min(raw)
        return [int(100.0 * ((part - least) / span)) if span else 0 for part in raw]

    @staticmethod
    def _disliked_taints(task: Task, nodes: list[Node]) -> list[int]:
        raw = [
            sum(
                taint.get("effect") == "PreferNoSchedule" and not tolerates(task, taint)
                for taint in node.taints
            )
            for node in nodes
        ]
        worst = max(raw)
        return [100 - 100 * part // worst if worst else 100 for part in raw]

    def _spread(self, task: Task, nodes: list[Node]) -> list[int] | None:
        constraints = constraints_of(task, "ScheduleAnyway")
        if not constraints:
            return None
        keys = {entry["topologyKey"] for entry in constraints}
        looked_at = [node for node in nodes if keys <= {*node.labels}]
        raw = dict.fromkeys([node.name for node in looked_at], 0.0)
        for entry in constraints:
            key = entry["topologyKey"]
            domains = dict.fromkeys([node.labels[key] for node in looked_at], 0)
            size = len(looked_at) if key == HOST else len(domains)
            for node in self.session.cluster.nodes.values():
                if keys <= {*node.labels} and node.labels[key] in domains and takes_part(task, entry, node):
                    domains[node.labels[key]] += matching_pods(task, entry, node)
            for node in looked_at:
                found = matching_pods(task, entry, node) if key == HOST else domains[node.labels[key]]
                raw[node.name] += found * math.log(size + 2) + (entry["maxSkew"] - 1)
        whole = {name: math.floor(part + 0.5) for name, part in raw.items()}
        least, most = min(whole.values(), default=0), max(whole.values(), default=0)
        return [
            0 if node.name not in whole else 100 * (most + least - whole[node.name]) // most if most else 100
            for node in nodes
        ]


def _units(amounts: dict[str, float], name: str) -> int:
    amount = amounts.get(name, 0.0)
    return math.ceil(amount / 1000) if name == GPU else int(amount)
