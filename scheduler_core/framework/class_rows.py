"""The plugins' answers for each class of tasks on every node, cached until nodes change."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.functions import Functions
from scheduler_core.framework.node_columns import NodeColumn, NodeQuery, Nodes, Row
from scheduler_core.framework.plugin_fn import NodeFn
from scheduler_core.model.fit import FitErrors, StatusTable, Why
from scheduler_core.model.job import TaskInfo
from scheduler_core.model.node import NodeTable


class ClassRows:
    """One row over all nodes for each class, updated for the nodes that changed since it was last read."""

    def __init__(
        self, nodes: NodeTable, statuses: StatusTable, functions: Functions, everywhere: Nodes
    ) -> None:
        self._nodes = nodes
        self._statuses = statuses
        self._functions = functions
        self._all = everywhere
        self._rows: dict[int, Row] = {}

    def of(self, task: TaskInfo) -> Row:
        """Return the row of a task's class."""
        number = self._functions.class_of(task)
        row = self._rows.get(number)
        if row is None:
            has_local_scores = self._scores_are_local(task)
            is_local = has_local_scores and self.is_local(Point.PREDICATE, task)
            row = self._rows[number] = Row(is_local=is_local, has_local_scores=has_local_scores)
        return row

    def column(self, row: Row, task: TaskInfo, query: NodeQuery) -> NDArray[Any]:
        """Return the current answers for the task's class on every node, (N,)."""
        return self.known(row, task, query).now(task)

    def known(self, row: Row, task: TaskInfo, query: NodeQuery) -> NodeColumn:
        """Return the column of a query for a task's class, which may be outdated."""
        known = row.columns.get(query)
        if known is None:
            known = row.columns[query] = NodeColumn(query, task, self._all, self._nodes.changes)
        return known

    def errors(self, row: Row, why: Why) -> FitErrors:
        """Return the refusals of a class in the form stored with its tasks, cached until a node changes."""
        if row.errors is None or row.errors_at != len(self._nodes.changes):
            row.errors, row.errors_at = FitErrors(self._statuses, why.copy()), len(self._nodes.changes)
        return row.errors

    def keeps_refusals(self, row: Row, task: TaskInfo) -> bool:
        """Return whether permanent refusals are always given: one predicate, static, lists all of its own."""
        if row.keeps_refusals is None:
            predicates = self._functions.of_kind(Point.PREDICATE, NodeFn)
            is_static = len(predicates) == 1 and predicates[0].static_for_class(task)
            row.keeps_refusals = row.is_local and is_static
        return row.keeps_refusals

    def is_local(self, point: Point, task: TaskInfo) -> bool:
        """Return whether all answers at a point for a task and a node hold until the node changes."""
        return all(fn.cacheable_per_node(task) for fn in self._functions.of_kind(point, NodeFn))

    def _scores_are_local(self, task: TaskInfo) -> bool:
        return self.is_local(Point.NODE_ORDER, task) and self.is_local(Point.BATCH_NODE_ORDER, task)
