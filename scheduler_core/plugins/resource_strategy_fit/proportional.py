"""Filter that keeps cpu and memory free for idle accelerators."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scheduler_core.conf import Arguments
from scheduler_core.errors import SchedulerPanic
from scheduler_core.framework.session import Session
from scheduler_core.model.fit import Code, Status, Why, merge_first, no_refusals, numbers_where
from scheduler_core.model.job import TaskInfo
from scheduler_core.plugins.resource_strategy_fit.arguments import (
    NAME,
    field_of,
    read_boolean,
    read_mapping,
    read_names,
    read_text,
)

Nodes = NDArray[np.intp]


class Rate(NamedTuple):
    """The amounts kept free per idle accelerator: cores, and gigabytes of 10^9 bytes."""

    cpu: float
    memory: float


class ProportionalFilter:
    """Refuses tasks that would take the cpu or memory that idle accelerators need."""

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
        """Return the filter that the plugin's arguments define, None if they define none."""
        table = read_mapping(arguments.values.get("proportional"), "proportional")
        given = read_mapping(field_of(table, "resourceProportion"), "proportional.resourceProportion")
        listed = read_names(read_text(field_of(table, "resources"), "proportional.resources"))
        rates = {name: Rate(_rate(given, f"{name}.cpu"), _rate(given, f"{name}.memory")) for name in listed}
        return cls(session, rates) if read_boolean(field_of(table, "enable"), "proportional.enable") else None

    def predicate(self, task: TaskInfo, nodes: Nodes) -> Why:
        """Return why each node refuses a task, (K,); a task that requests any accelerator passes."""
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
