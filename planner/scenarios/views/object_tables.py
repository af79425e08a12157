"""The tables of nodes and workloads: columns, order, and the values of the snapshot."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.http import QueryDict

from planner.web.templatetags.quantities import amount
from planner.web.views.listing import Listing
from planning.nodes import NodeRow, pool_label
from planning.units import resource_label
from planning.workloads import WorkloadRow

ORDERING, HIDE = "ordering", "hide"
_KINDS = {"jobs": "vcjob", "podgroups": "PodGroup", "pods": "pod"}


@dataclass(frozen=True)
class ObjectColumn:
    """A column after the name: its sort key, and how its value is shown."""

    name: str
    label: str
    value: Callable[[Any], Any]
    say: Callable[[Any], Any] = str
    kind: str = "number"
    """``number`` for a column of numbers, empty for one of words."""
    of_row: bool = False
    """Whether `say` takes the row instead of the value."""

    def text(self, row: Any) -> Any:
        """Return the text of the cell in a row."""
        return self.say(row if self.of_row else self.value(row))


class ObjectTable:
    """One page of rows, in the order and with the columns of an address.

    `before` returns the snapshot's row by key; None for an added one.
    """

    def __init__(
        self,
        rows: Sequence[Any],
        columns: Sequence[ObjectColumn],
        params: QueryDict,
        *,
        key: Callable[[Any], str],
        before: Callable[[], Mapping[str, Any]],
    ) -> None:
        self.params = params
        self.all_columns = columns
        self._rows, self._key, self._before = rows, key, before

    @property
    def hidden(self) -> Sequence[str]:
        """Return the names of the hidden columns."""
        return self.params.getlist(HIDE)

    @property
    def columns(self) -> Sequence[ObjectColumn]:
        """Return the shown columns."""
        return [column for column in self.all_columns if column.name not in self.hidden]

    @cached_property
    def list(self) -> Listing:
        """Return the requested page of rows."""
        return Listing(self._in_order(), name="page", params=self.params)

    def was(self, row: Any, column: ObjectColumn) -> Any:
        """Return the snapshot's row if its cell differs, otherwise None."""
        if row.origin != "changed":
            return None
        earlier = self._imported.get(self._key(row))
        return earlier if earlier and column.value(earlier) != column.value(row) else None

    @cached_property
    def _imported(self) -> Mapping[str, Any]:
        return self._before()

    def _in_order(self) -> Sequence[Any]:
        order = self.params.get(ORDERING, "")
        name, falls = order.removeprefix("-"), order.startswith("-")
        column = next((one for one in self.all_columns if one.name == name), None)
        if column is None:
            by_name = name == "name"
            return sorted(self._rows, key=self._key, reverse=falls) if by_name else self._rows
        with_value = [row for row in self._rows if column.value(row) is not None]
        without = [row for row in self._rows if column.value(row) is None]
        return [*sorted(with_value, key=column.value, reverse=falls), *without]


def node_columns(resources: Sequence[str]) -> list[ObjectColumn]:
    """Return the columns of the table of nodes."""
    return [
        *(_amount(resource, resource_label(resource)) for resource in resources),
        ObjectColumn("pods_held", "Bound pods", lambda row: row.pods),
        ObjectColumn(
            "state", "State", lambda row: "cordoned" if row.unschedulable else "schedulable", kind=""
        ),
        ObjectColumn(
            "taints", "Taints", lambda row: ", ".join(row.taints), lambda text: text or "–", kind=""
        ),
        ObjectColumn("pool", "Pool", lambda row: pool_label(row.pool), kind=""),
    ]


def workload_columns(resources: Sequence[str]) -> list[ObjectColumn]:
    """Return the columns of the table of workloads."""
    return [
        ObjectColumn("kind", "Kind", lambda row: _KINDS[row.kind], kind=""),
        ObjectColumn("queue", "Queue", lambda row: row.queue, kind=""),
        ObjectColumn(
            "class", "Priority class", lambda row: row.priority_class, lambda text: text or "–", kind=""
        ),
        ObjectColumn("min", "minMember", lambda row: row.min_member),
        ObjectColumn("replicas", "Pods", lambda row: row.replicas),
        ObjectColumn("running", "Running", lambda row: row.running),
        ObjectColumn("pending", "Waiting", lambda row: row.pending),
        *(_amount(resource, f"{resource_label(resource)} per pod") for resource in resources),
    ]


def node_key(row: NodeRow) -> str:
    """Return the key of a node."""
    return row.name


def workload_key(row: WorkloadRow) -> str:
    """Return the key of a workload."""
    return f"{row.kind} {row.key}"


def _amount(resource: str, label: str) -> ObjectColumn:
    return ObjectColumn(
        f"amount.{resource}",
        label,
        lambda row: row.amounts.get(resource),
        lambda row: amount(row.amounts, resource),
        of_row=True,
    )
