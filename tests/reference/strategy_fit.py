"""Plugin resource-strategy-fit: ``spec/scoring.md`` 6, ``predicates.md`` 7."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.reference.cluster import Node
from tests.reference.plugin import Plugin
from tests.reference.pods import Task
from tests.reference.resources import names_of

if TYPE_CHECKING:
    from tests.reference.session import Session

TYPE, WEIGHT = "volcano.sh/resource-strategy-scoring-type", "volcano.sh/resource-strategy-weight"
STRATEGIES = ("MostAllocated", "LeastAllocated")
DEFAULT = {"cpu": ("LeastAllocated", 1), "memory": ("LeastAllocated", 1)}


class ResourceStrategyFit(Plugin):
    def __init__(self, session: Session, arguments: dict[str, Any]) -> None:
        super().__init__(session, arguments)
        weight = int(arguments.get("resourceStrategyFitWeight", 10))
        self.weight = weight if weight >= 0 else 10
        self.table = {
            name: (
                entry.get("type") if entry.get("type") in STRATEGIES else STRATEGIES[1],
                max(int(entry.get("weight") or 0), 0) or 1,
            )
            for name, entry in (arguments.get("resources") or {}).items()
            if "*" not in name or (len(name) > 1 and name.index("*") == len(name) - 1)
        } or DEFAULT
        sra = arguments.get("sra") or {}
        self.sra_weight = int(sra.get("weight") or 0) if sra.get("enable") else 0
        self.sra = _weights(sra, "resourceWeight", [""])[0]
        part = arguments.get("proportional") or {}
        kept = _weights(part, "resourceProportion", [".cpu", ".memory"])
        self.kept = kept if part.get("enable") else [{}, {}]

    def predicate(self, task: Task, node: Node) -> list[int]:
        if any(task.request.get(name, 0.0) > 0 for name in self.kept[0]):
            return []
        for name in self.kept[0]:
            if name not in node.idle:
                continue
            cpu, memory = (node.idle[name] * kept[name] for kept in self.kept)
            left = {basic: node.idle[basic] - task.request[basic] for basic in ("cpu", "memory")}
            if left["cpu"] < cpu or left["memory"] < memory * 1_000_000:
                return [3]
        return []

    def node_order(self, task: Task, node: Node) -> float:
        if self.weight <= 0 and self.sra_weight <= 0:
            return 0.0
        strategy = self._strategy(task, node) if self.weight > 0 else 0.0
        return strategy + (self._scarcity(task, node) if self.sra_weight > 0 else 0.0)

    def _strategies(self, task: Task) -> dict[str, tuple[str, int]]:
        names = names_of(task.request)
        if task.notes.get(TYPE):
            try:
                weights = json.loads(task.notes.get(WEIGHT) or "{}")
            except ValueError:
                weights = {}
            return {name: (task.notes[TYPE], weights[name]) for name in names if name in weights}
        found = {}
        for name in names:
            patterns = [
                key for key in self.table if key.endswith("*") and name.startswith(key.removesuffix("*"))
            ]
            key = name if name in self.table else max(patterns, key=len, default=None)
            found |= {name: self.table[key]} if key is not None else {}
        return found

    def _strategy(self, task: Task, node: Node) -> float:
        parts, weights = 0.0, 0
        for name, (kind, weight) in self._strategies(task).items():
            has, filled = node.allocatable.get(name, 0.0), task.request[name] + node.used.get(name, 0.0)
            weights += weight
            if weight == 0 or has == 0 or kind not in STRATEGIES:
                continue
            if filled > has:
                return 0.0
            parts += (filled if kind == "MostAllocated" else has - filled) * weight / has
        return (parts / weights if weights > 0 else 0.0) * 100 * self.weight

    def _scarcity(self, task: Task, node: Node) -> float:
        if any(node.allocatable.get(name, 0.0) == 0 for name in names_of(task.request)):
            return 0.0
        whole = sum(self.sra.values())
        owned = sum(weight for name, weight in self.sra.items() if node.allocatable.get(name, 0.0) > 0)
        return (1 - owned / whole) * (100 * self.sra_weight) if whole > 0 else 0.0


def _weights(part: dict[str, Any], key: str, endings: list[str]) -> list[dict[str, int]]:
    """Return the weights of the listed resources, one map for each suffix of their keys."""
    listed = [name.strip() for name in str(part.get("resources") or "").split(",") if name.strip()]
    given = part.get(key) or {}
    return [
        {name: weight if (weight := int(given.get(f"{name}{ending}", 1))) >= 0 else 1 for name in listed}
        for ending in endings
    ]
