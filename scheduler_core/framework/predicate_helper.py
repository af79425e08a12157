"""The nodes on which a task may run, and why the others refuse it.

Source: volcano ``pkg/scheduler/util/predicate_helper.go`` at v1.15.1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scheduler_core.framework.class_rows import ClassRows
from scheduler_core.framework.error_cache import ErrorCache
from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.functions import Functions
from scheduler_core.framework.node_columns import Nodes
from scheduler_core.framework.node_queries import NodeQueries
from scheduler_core.framework.plugin_fn import NodeFn
from scheduler_core.model.fit import FITS, FitErrors, Status, StatusTable, Why, merge_first, no_refusals
from scheduler_core.model.job import TaskInfo
from scheduler_core.model.node import NodeTable


class PredicateHelper:
    """Examines nodes for the tasks of one session."""

    def __init__(
        self,
        nodes: NodeTable,
        statuses: StatusTable,
        functions: Functions,
        queries: NodeQueries,
        rows: ClassRows,
    ) -> None:
        self._nodes = nodes
        self._statuses = statuses
        self._functions = functions
        self._queries = queries
        self._rows = rows

    def examine(
        self,
        task: TaskInfo,
        *,
        resources: bool,
        lenient: bool,
        cache: ErrorCache,
        among: Nodes | None = None,
    ) -> tuple[Nodes, FitErrors]:
        """Return the nodes that a task may run on, in order of their names, and why the others refuse it.

        Parameters
        ----------
        task : TaskInfo
            The task to place.
        resources : bool
            Whether the request must fit the future idle amounts.
        lenient : bool
            Whether refusals that evictions could resolve are ignored.
        cache : ErrorCache
            The refusals of earlier tasks of the same job and role.
        among : (K,) intp, optional
            The nodes to examine; None stands for all.

        """
        group = cache.group_of(task)
        row = self._rows.of(task)
        unbounded = group is None and among is None and row.is_local
        if unbounded and resources and not lenient:
            why = self._rows.column(row, task, self._queries.refuses)
            return np.flatnonzero(why == FITS), self._rows.errors(row, why)
        if unbounded and not resources:
            refusals = self._rows.column(row, task, self._queries.passes)
            rejected = self._statuses.rejected(refusals, lenient=lenient)
            return np.flatnonzero(~rejected), FitErrors(
                self._statuses, np.where(rejected, refusals, np.int32(FITS))
            )
        remembered = cache.remembered.get(group) if group is not None else None
        examined = np.ones(len(self._nodes), dtype=np.bool_) if remembered is None else remembered == FITS
        if among is not None:
            outside = np.ones(len(self._nodes), dtype=np.bool_)
            outside[among] = False
            examined &= ~outside
        why = self._refusals(task, examined, resources=resources)
        if remembered is not None:
            why = merge_first(remembered, why)
        if among is not None:
            why = np.where(outside, FITS, why)
        rejected = self._statuses.rejected(why, lenient=lenient)
        refused = np.where(rejected, why, np.int32(FITS))
        if group is not None:
            cache.remember(group, refused)
        passing = np.flatnonzero(~rejected) if among is None else among[~rejected[among]]
        return passing, FitErrors(self._statuses, refused)

    def resolvable(self, task: TaskInfo, cache: ErrorCache, among: Nodes | None) -> Nodes:
        """Return the nodes `among` the given ones that a task could fit after evictions."""
        row = self._rows.of(task)
        if among is not None or cache.group_of(task) is not None or not row.is_local:
            return self.examine(task, resources=False, lenient=True, cache=cache, among=among)[0]
        resolvable = self._rows.column(row, task, self._queries.resolvable)
        return self._queries.all if resolvable.all() else np.flatnonzero(resolvable)

    def refused_everywhere(self, status: Status) -> FitErrors:
        """Return the errors of a task that every node refuses for the same reason."""
        number = self._statuses.number(status)
        return FitErrors(self._statuses, np.full(len(self._nodes), number, dtype=np.int32))

    def predicate_on(self, task: TaskInfo, node: int) -> int:
        """Return the number, in the status table, of the refusals of a task on one node; 0: it fits."""
        return int(self._queries.predicate(task, np.array([node], dtype=np.intp))[0])

    def admission(self, task: TaskInfo) -> Why:
        """Return why nodes would refuse a task if all of them had room, (N,).

        Only for explanations: nothing is cached.
        """
        if self._rows.is_local(Point.PREDICATE, task):
            return self._rows.column(self._rows.of(task), task, self._queries.passes)
        why = no_refusals(len(self._nodes))
        for predicate in self._functions.of_kind(Point.PREDICATE, NodeFn):
            left = np.flatnonzero(why == FITS)
            why[left] = predicate.explain(task, left)
        return why

    def _refusals(self, task: TaskInfo, examined: NDArray[np.bool_], *, resources: bool) -> Why:
        """Return why nodes refuse a task, (N,); for nodes that are not `examined` the answer is undefined.

        Answers that are not local are computed again, but only for nodes for which Volcano would do so.
        """
        row = self._rows.of(task)
        fit = self._rows.column(row, task, self._queries.fit) if resources else None
        if self._rows.is_local(Point.PREDICATE, task):
            predicate = self._rows.column(row, task, self._queries.passes)
            return predicate if fit is None else merge_first(fit, predicate)
        why = no_refusals(len(self._nodes)) if fit is None else fit.copy()
        nodes = np.flatnonzero(examined & (why == FITS))
        why[nodes] = self._queries.predicate(task, nodes)
        return why
