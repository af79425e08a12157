"""Which node suits a task resource by resource, and is something scarce kept for those who need it?

Three answers with arguments of their own: a score by strategy per resource, a score that avoids nodes with
scarce resources (sra), and a filter that keeps cpu and memory beside idle accelerators (proportional).

Source: volcano ``pkg/scheduler/plugins/resource-strategy-fit/*.go`` at v1.15.1.
"""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scheduler_core.conf import Arguments
from scheduler_core.errors import SchedulerPanic
from scheduler_core.framework.plugin_fn import shape_only
from scheduler_core.framework.session import Session
from scheduler_core.model.fit import Code, Status, Why, merge_first, no_refusals, numbers_where
from scheduler_core.model.job import TaskInfo
from scheduler_core.model.node import NodeTable
from scheduler_core.resource import CPU, MEMORY

NAME = "resource-strategy-fit"
SCORING_TYPE = "volcano.sh/resource-strategy-scoring-type"
SCORING_WEIGHT = "volcano.sh/resource-strategy-weight"
MOST = "MostAllocated"
LEAST = "LeastAllocated"
MAX_NODE_SCORE = 100

Nodes = NDArray[np.intp]
Scores = NDArray[np.float64]


class Strategy(NamedTuple):
    """How one resource is scored."""

    kind: str
    weight: int


DEFAULT_STRATEGIES: Mapping[str, Strategy] = {CPU: Strategy(LEAST, 1), MEMORY: Strategy(LEAST, 1)}


def open_session(session: Session, arguments: Arguments) -> None:
    """Register what resource-strategy-fit answers."""
    strategies = StrategyScore.read(session.nodes, arguments)
    scarce = ScarceScore.read(session.nodes, arguments)
    if strategies.scale > 0 or scarce.scale > 0:
        session.registry.add_node_order(
            NAME,
            lambda task, nodes: strategies.score(task, nodes) + scarce.score(task, nodes),
            class_key=own_strategy,
        )
    reserve = ProportionalFilter.read(session, arguments)
    if reserve is not None:
        session.registry.add_predicate(NAME, reserve.predicate, class_key=shape_only)


def own_strategy(task: TaskInfo) -> Hashable:
    """Return what a pod's annotations say of its own scoring."""
    annotations = task.annotations()
    return annotations.get(SCORING_TYPE), annotations.get(SCORING_WEIGHT)


# reading arguments: names of fields match in any case; Volcano ends where a value has another type


def _field(table: Mapping[str, Any], name: str) -> Any:
    return next((table[key] for key in sorted(table) if key.lower() == name.lower()), None)


def _mapping(value: object, where: str) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise SchedulerPanic(f"{NAME}: {where} is not a mapping")
    return value


def _integer(value: object, where: str) -> int:
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise SchedulerPanic(f"{NAME}: {where} is not a number")
    return int(value)


def _boolean(value: object, where: str) -> bool:
    if value is None:
        return False
    if not isinstance(value, bool):
        raise SchedulerPanic(f"{NAME}: {where} is not true or false")
    return value


def _text(value: object, where: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise SchedulerPanic(f"{NAME}: {where} is not a string")
    return value


def _weights(table: object, where: str) -> dict[str, int]:
    return {name: _integer(value, f"{where}.{name}") for name, value in _mapping(table, where).items()}


def _listed(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def read_strategies(table: object) -> dict[str, Strategy]:
    """Return the strategy of each resource or pattern; an absent or empty table gives the default.

    A pattern is a prefix with one asterisk at its end; any other use of an asterisk is dropped.
    """
    entries = _mapping(table, "resources")
    if not entries:
        return dict(DEFAULT_STRATEGIES)
    strategies = {name: _strategy(_mapping(entry, name), name) for name, entry in entries.items()}
    return {name: found for name, found in strategies.items() if "*" not in name[:-1] and name != "*"}


def _strategy(entry: Mapping[str, Any], name: str) -> Strategy:
    kind = _text(_field(entry, "type"), f"resources.{name}.type")
    weight = _integer(_field(entry, "weight"), f"resources.{name}.weight")
    return Strategy(kind if kind in (MOST, LEAST) else LEAST, weight if weight > 0 else 1)


def strategy_of(name: str, strategies: Mapping[str, Strategy]) -> Strategy | None:
    """Return the strategy of a resource: by its name, else by the longest matching prefix.

    Examples
    --------
    >>> table = {"nvidia.com/*": Strategy(MOST, 2), "nvidia.com/gpu*": Strategy(LEAST, 3)}
    >>> strategy_of("nvidia.com/gpu-a100", table)
    Strategy(kind='LeastAllocated', weight=3)

    """
    if name in strategies:
        return strategies[name]
    prefixes = [key for key in strategies if key.endswith("*") and name.startswith(key[:-1])]
    return strategies[max(prefixes, key=len)] if prefixes else None


# the score by strategy


@dataclass(frozen=True)
class StrategyScore:
    """The part of the score that fills or spreads, resource by resource.

    Attributes
    ----------
    scale : int
        The score of a node that suits perfectly; 0: this part is off.

    """

    nodes: NodeTable
    strategies: Mapping[str, Strategy]
    scale: int

    @classmethod
    def read(cls, nodes: NodeTable, arguments: Arguments) -> StrategyScore:
        """Return the part that the plugin's arguments define."""
        weight = _integer(arguments.values.get("resourceStrategyFitWeight", 10), "resourceStrategyFitWeight")
        weight = weight if weight >= 0 else 10
        return cls(nodes, read_strategies(arguments.values.get("resources")), MAX_NODE_SCORE * weight)

    def score(self, task: TaskInfo, nodes: Nodes) -> Scores:
        """Return the score of each node, (K,); 0 where a resource that counts would not suffice.

        A resource that the node lacks counts in the weights only. Used amounts include those of terminating
        pods and leave out pipelined ones.
        """
        total = np.zeros(len(nodes))
        if self.scale == 0:
            return total
        enough = np.ones(len(nodes), dtype=np.bool_)
        weight_sum = 0
        for name, strategy in self._strategies_of(task):
            weight_sum += strategy.weight
            column = self.nodes.axis.index[name]
            allocatable = self.nodes.allocatable[nodes, column]
            filled = task.request.get(name) + self.nodes.used[nodes, column]
            counts = allocatable != 0
            if strategy.weight == 0 or strategy.kind not in (MOST, LEAST):
                continue
            enough &= (filled <= allocatable) | ~counts
            part = filled if strategy.kind == MOST else allocatable - filled
            total += np.divide(part * strategy.weight, allocatable, out=np.zeros(len(nodes)), where=counts)
        if weight_sum > 0:
            total /= weight_sum
        return np.where(enough, total * self.scale, 0.0)

    def _strategies_of(self, task: TaskInfo) -> list[tuple[str, Strategy]]:
        kind, text = task.annotations().get(SCORING_TYPE), task.annotations().get(SCORING_WEIGHT)
        names = task.request.names()
        if kind:
            weights = own_weights(text)
            return [(name, Strategy(kind, weights[name])) for name in names if name in weights]
        found = [(name, strategy_of(name, self.strategies)) for name in names]
        return [(name, strategy) for name, strategy in found if strategy is not None]


def own_weights(text: str | None) -> dict[str, int]:
    """Return the weights of a pod's annotation; none when it does not hold a JSON map of whole numbers.

    Examples
    --------
    >>> own_weights('{"cpu": 2}'), own_weights('{"cpu": 2.5}')
    ({'cpu': 2}, {})

    """
    try:
        weights = json.loads(text or "")
    except ValueError:
        return {}
    if not isinstance(weights, dict):
        return {}
    if any(isinstance(weight, bool) or not isinstance(weight, int) for weight in weights.values()):
        return {}
    return weights


# the score that keeps scarce resources free


@dataclass(frozen=True)
class ScarceScore:
    """The part of the score that prefers nodes without the scarce resources.

    Attributes
    ----------
    weights : mapping
        Of the scarce resources, by name.
    scale : int
        The score of a node that has none of them; 0: this part is off.

    """

    nodes: NodeTable
    weights: Mapping[str, int]
    scale: int

    @classmethod
    def read(cls, nodes: NodeTable, arguments: Arguments) -> ScarceScore:
        """Return the part that the plugin's arguments define."""
        table = _mapping(arguments.values.get("sra"), "sra")
        given = _weights(_field(table, "resourceWeight"), "sra.resourceWeight")
        listed = _listed(_text(_field(table, "resources"), "sra.resources"))
        weights = {name: given.get(name, 1) for name in listed}
        weight = _integer(_field(table, "weight"), "sra.weight")
        enabled = _boolean(_field(table, "enable"), "sra.enable")
        return cls(
            nodes,
            {name: own if own >= 0 else 1 for name, own in weights.items()},
            MAX_NODE_SCORE * weight if enabled and weight > 0 else 0,
        )

    def score(self, task: TaskInfo, nodes: Nodes) -> Scores:
        """Return the score of each node, (K,); 0 for a node that lacks anything the task requests."""
        total = sum(self.weights.values())
        if self.scale == 0 or total == 0:
            return np.zeros(len(nodes))
        index = self.nodes.axis.index
        owned = np.zeros(len(nodes))
        for name, weight in self.weights.items():
            if name in index:
                owned += weight * (self.nodes.allocatable[nodes, index[name]] > 0)
        suits = np.ones(len(nodes), dtype=np.bool_)
        for name in task.request.names():
            suits &= self.nodes.allocatable[nodes, index[name]] != 0
        return np.where(suits, (1 - owned / total) * self.scale, 0.0)


# the filter that keeps cpu and memory beside accelerators


class Rate(NamedTuple):
    """What is kept per idle unit of an accelerator: cores, and gigabytes of 10^9 bytes."""

    cpu: float
    memory: float


class ProportionalFilter:
    """Refuses tasks that would take the cpu or memory that idle accelerators need beside them."""

    def __init__(self, session: Session, rates: Mapping[str, Rate]) -> None:
        self.session = session
        self.rates = rates
        tables = [(node.get("status") or {}).get("allocatable") or {} for node in session.nodes.objects]
        self._columns = {
            name: (
                session.nodes.axis.index[name],
                np.array([name in table for table in tables], dtype=np.bool_),
            )
            for name in rates
            if name in session.nodes.axis.index
        }

    @classmethod
    def read(cls, session: Session, arguments: Arguments) -> ProportionalFilter | None:
        """Return the filter that the plugin's arguments define, None when they define none."""
        table = _mapping(arguments.values.get("proportional"), "proportional")
        given = _mapping(_field(table, "resourceProportion"), "proportional.resourceProportion")
        listed = _listed(_text(_field(table, "resources"), "proportional.resources"))
        rates = {name: Rate(_rate(given, f"{name}.cpu"), _rate(given, f"{name}.memory")) for name in listed}
        return cls(session, rates) if _boolean(_field(table, "enable"), "proportional.enable") else None

    def predicate(self, task: TaskInfo, nodes: Nodes) -> Why:
        """Return why each node refuses a task, (K,); one that requests any accelerator passes."""
        why = no_refusals(len(nodes))
        if any(task.request.get(name) > 0 for name in self.rates):
            return why
        idle = self.session.nodes.idle[nodes]
        for name, (column, named) in self._columns.items():
            rate, units = self.rates[name], idle[:, column]
            short = (idle[:, 0] - task.request.cpu < units * rate.cpu) | (
                idle[:, 1] - task.request.memory < units * rate.memory * 1000 * 1000
            )
            refusal = Status(
                Code.UNSCHEDULABLE_AND_UNRESOLVABLE, f"proportional of resource {name} check failed", NAME
            )
            applies = short & (named[nodes] | (units != 0))
            why = merge_first(why, numbers_where(applies, self.session.statuses.number(refusal)))
        return why


def _rate(given: Mapping[str, Any], key: str) -> float:
    if key not in given:
        return 1.0
    value = given[key]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise SchedulerPanic(f"{NAME}: proportional.resourceProportion.{key} is not a number")
    return float(value) if value >= 0 else 1.0
