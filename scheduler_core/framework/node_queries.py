"""Queries about nodes, each for many nodes at once and for a single one.

Source: volcano ``pkg/scheduler/util/predicate_helper.go``, ``util/scheduler_helper.go`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scheduler_core.framework.class_scores import NOWHERE
from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.functions import Functions
from scheduler_core.framework.node_columns import NodeQuery, Nodes
from scheduler_core.framework.plugin_fn import NodeFn
from scheduler_core.model.fit import FITS, Code, Status, StatusTable, Why, merge_first, no_refusals
from scheduler_core.model.job import TaskInfo
from scheduler_core.model.node import NodeTable
from scheduler_core.model.rows import fits
from scheduler_core.resource import MIN_RESOURCE

Scores = NDArray[np.float64]
RefusalOf = Callable[[int], int]
ScoreOf = Callable[[int], float]


class NodeQueries:
    """The queries about the nodes of one session: whether they accept a task, and their scores for it.

    Attributes
    ----------
    fit, will_fit, idle : NodeQuery
        The first resource missing in the future idle amounts; whether none is missing; whether none is
        missing now.
    passes, resolvable : NodeQuery
        The first refusal of the predicates; whether none of the refusals is unresolvable.
    refuses : NodeQuery
        The first refusal, resources first.
    takes_at_once : NodeQuery
        The total score where a task can be allocated at once, else minus infinity.
    takes_later : NodeQuery
        The total score where a task fits the future idle amounts only, infinity where it fits now, else minus
        infinity.
    order, total : NodeQuery
        The sum of the per-node scores; that plus the batch scores.

    """

    def __init__(
        self, nodes: NodeTable, statuses: StatusTable, functions: Functions, everywhere: Nodes
    ) -> None:
        self.nodes = nodes
        self.all = everywhere
        self._functions = functions
        self._statuses = statuses
        self._scorers: dict[int, ScoreOf | None] = {}
        self._insufficient = np.array(
            [
                statuses.number(Status(Code.UNSCHEDULABLE, f"Insufficient {name}"))
                for name in nodes.axis.names
            ],
            dtype=np.int32,
        )
        self.fit = NodeQuery(np.int32, self._resource_fit, self._shortage_of)
        self.will_fit = NodeQuery(np.bool_, self._fits_future, self._future_fit_of)
        self.idle = NodeQuery(np.bool_, self._fits_idle, self._idle_fit_of)
        self.passes = NodeQuery(np.int32, self.predicate, self._predicate_of)
        self.resolvable = NodeQuery(np.bool_, self._resolvable, self._resolvable_of)
        self.refuses = NodeQuery(np.int32, self._refusal, self._refusal_of)
        self.takes_at_once = NodeQuery(np.float64, self._score_at_once, self._score_at_once_of)
        self.takes_later = NodeQuery(np.float64, self._score_later, self._score_later_of)
        self.order = NodeQuery(np.float64, self.order_score, self._order_scorer_of)
        self.total = NodeQuery(np.float64, self._total_score, self._scorer_of_class)

    # resources

    def _resource_fit(self, task: TaskInfo, nodes: Nodes) -> Why:
        """Return for each node the first resource of the axis of which it will not have enough."""
        available = self.nodes.future if nodes is self.all else self.nodes.future[nodes]
        why = no_refusals(len(nodes))
        for position, amount in reversed(task.shape.demands):
            why[amount - available[:, position] >= MIN_RESOURCE] = self._insufficient[position]
        return why

    def _shortage_of(self, task: TaskInfo) -> RefusalOf:
        """Return a function for the first resource that one node lacks, see `_resource_fit`."""
        future_of, demands = self.nodes.future_of, task.shape.demands
        insufficient = self._insufficient.tolist()

        def shortage_of(node: int) -> int:
            future = future_of[node]
            for position, amount in demands:
                if amount - future[position] >= MIN_RESOURCE:
                    number: int = insufficient[position]
                    return number
            return FITS

        return shortage_of

    def _fits_future(self, task: TaskInfo, nodes: Nodes) -> NDArray[np.bool_]:
        fits: NDArray[np.bool_] = self._resource_fit(task, nodes) == FITS
        return fits

    def _future_fit_of(self, task: TaskInfo) -> Callable[[int], bool]:
        """Return a function for whether a task fits the future idle amounts of one node."""
        future_of = self.nodes.future_of
        return lambda node: fits(task, future_of[node])

    def _fits_idle(self, task: TaskInfo, nodes: Nodes) -> NDArray[np.bool_]:
        available = self.nodes.idle if nodes is self.all else self.nodes.idle[nodes]
        fits = np.ones(len(nodes), dtype=np.bool_)
        for position, amount in task.shape.demands:
            fits &= amount - available[:, position] < MIN_RESOURCE
        return fits

    def _idle_fit_of(self, task: TaskInfo) -> Callable[[int], bool]:
        """Return a function for whether a task fits the idle amounts of one node."""
        idle_of = self.nodes.idle_of
        return lambda node: fits(task, idle_of[node])

    # predicates

    def predicate(self, task: TaskInfo, nodes: Nodes) -> Why:
        """Return the first refusal of each node; plugins after it are not called."""
        why = no_refusals(len(nodes))
        for fn in self._functions[Point.PREDICATE]:
            left = why == FITS
            why[left] = fn(task, nodes[left])
        return why

    def _predicate_of(self, task: TaskInfo) -> RefusalOf | None:
        """Return a function for the first refusal of one node, see `predicate`."""
        refusals = self._of_one(Point.PREDICATE, task)
        if refusals is None:
            return None

        def predicate_of(node: int) -> int:
            for refusal in refusals:
                number: int = refusal(node)
                if number:
                    return number
            return FITS

        return refusals[0] if len(refusals) == 1 else predicate_of

    def _resolvable(self, task: TaskInfo, nodes: Nodes) -> NDArray[np.bool_]:
        """Return the nodes on which no refusal of a predicate is unresolvable, (K,)."""
        return ~self._statuses.rejected(self.predicate(task, nodes), lenient=True)

    def _resolvable_of(self, task: TaskInfo) -> Callable[[int], bool] | None:
        """Return the form of `_resolvable` for one node; None if a plugin has none."""
        predicate_of, is_resolvable = self._predicate_of(task), self._statuses.is_resolvable
        return None if predicate_of is None else lambda node: is_resolvable(predicate_of(node))

    def _refusal(self, task: TaskInfo, nodes: Nodes) -> Why:
        """Return why nodes refuse a task, resources first, (K,)."""
        return merge_first(self._resource_fit(task, nodes), self.predicate(task, nodes))

    def _refusal_of(self, task: TaskInfo) -> RefusalOf | None:
        """Return the form of `_refusal` for one node; None if a plugin has none."""
        shortage_of, predicate_of = self._shortage_of(task), self._predicate_of(task)
        return None if predicate_of is None else lambda node: shortage_of(node) or predicate_of(node)

    # scores

    def order_score(self, task: TaskInfo, nodes: Nodes) -> Scores:
        """Return the sum of the per-node scores, (K,); NaN counts as 0."""
        order = np.zeros(len(nodes))
        for fn in self._functions[Point.NODE_ORDER]:
            order = order + fn(task, nodes)
        order[np.isnan(order)] = 0.0
        return order

    def _order_scorer_of(self, task: TaskInfo) -> ScoreOf | None:
        """Return a function for the per-node score of one node, see `order_score`."""
        orders = self._of_one(Point.NODE_ORDER, task)
        return None if orders is None else lambda node: sum([score(node) for score in orders], start=0.0)

    def batch_score(self, task: TaskInfo, nodes: Nodes) -> Scores:
        """Return the sum of the batch scores of the candidates, (K,)."""
        batch = np.zeros(len(nodes))
        for fn in self._functions[Point.BATCH_NODE_ORDER]:
            batch = batch + fn(task, nodes)
        return batch

    def _total_score(self, task: TaskInfo, nodes: Nodes) -> Scores:
        return self.order_score(task, nodes) + self.batch_score(task, nodes)

    def _scorer_of_class(self, task: TaskInfo) -> ScoreOf | None:
        """Return `_scorer_of` for a task, created once per class."""
        number = self._functions.class_of(task)
        if number not in self._scorers:
            self._scorers[number] = self._scorer_of(task)
        return self._scorers[number]

    def _scorer_of(self, task: TaskInfo) -> ScoreOf | None:
        """Return a function for the total score of one node; None if a plugin has none."""
        orders = self._of_one(Point.NODE_ORDER, task)
        batches = self._of_one(Point.BATCH_NODE_ORDER, task)
        if orders is None or batches is None:
            return None

        def score_of(node: int) -> float:
            order = batch = 0.0
            for score in orders:
                order += score(node)
            for score in batches:
                batch += score(node)
            return order + batch

        return score_of

    def _score_at_once(self, task: TaskInfo, nodes: Nodes) -> Scores:
        """Return the scores of nodes where a task can be allocated at once, else minus infinity, (K,)."""
        possible = np.flatnonzero(self._refusal(task, nodes) == FITS)
        if self.nodes.releasing_or_pipelined and len(possible):
            possible = possible[self._fits_idle(task, nodes[possible])]
        scores = np.full(len(nodes), NOWHERE)
        scores[possible] = self._total_score(task, nodes[possible])
        return scores

    def _score_at_once_of(self, task: TaskInfo) -> ScoreOf | None:
        """Return the form of `_score_at_once` for one node; None if there is none."""
        predicate_of, score_of = self._predicate_of(task), self._scorer_of_class(task)
        if predicate_of is None or score_of is None:
            return None
        idle_of, future_of = self.nodes.idle_of, self.nodes.future_of

        def score_at_once_of(node: int) -> float:
            idle, future = idle_of[node], future_of[node]
            if not fits(task, future) or (future is not idle and not fits(task, idle)) or predicate_of(node):
                return NOWHERE
            return score_of(node)

        return score_at_once_of

    def _score_later(self, task: TaskInfo, nodes: Nodes) -> Scores:
        """Return the scores of nodes where a task will fit, minus infinity where not, (K,).

        The score is infinity where it fits now.
        """
        possible = np.flatnonzero(self._refusal(task, nodes) == FITS)
        scores = np.full(len(nodes), NOWHERE)
        scores[possible] = self._total_score(task, nodes[possible])
        scores[possible[self._fits_idle(task, nodes[possible])]] = np.inf
        return scores

    def _score_later_of(self, task: TaskInfo) -> ScoreOf | None:
        """Return the form of `_score_later` for one node; None if there is none."""
        predicate_of, score_of = self._predicate_of(task), self._scorer_of_class(task)
        if predicate_of is None or score_of is None:
            return None
        idle_of, future_of = self.nodes.idle_of, self.nodes.future_of

        def score_later_of(node: int) -> float:
            if not fits(task, future_of[node]) or predicate_of(node):
                return NOWHERE
            return np.inf if fits(task, idle_of[node]) else score_of(node)

        return score_later_of

    def settled_score_of(self, task: TaskInfo) -> ScoreOf:
        """Return `_score_at_once_of` for a task that is known to have it."""
        score_of = self._score_at_once_of(task)
        assert score_of is not None, "who answers for several classes answers for one node"
        return score_of

    # forms

    def _of_one(self, point: Point, task: TaskInfo) -> list[Callable[[int], Any]] | None:
        """Return the forms for one node of a point's functions, None unless every plugin has one."""
        forms = [
            None if fn.for_node is None else fn.for_node(task)
            for fn in self._functions.of_kind(point, NodeFn)
        ]
        known = [form for form in forms if form is not None]
        return known if len(known) == len(forms) else None
