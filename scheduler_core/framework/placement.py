"""The nodes on which a task may run, and the best of them.

The answers for a class of tasks are cached as one row over all nodes and updated for the nodes that changed
since.

Source: volcano ``pkg/scheduler/util/predicate_helper.go``, ``util/scheduler_helper.go`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scheduler_core.errors import ScoreError
from scheduler_core.framework.class_scores import MOST_CLASSES, NOWHERE, ClassScoreMatrix, Plugins
from scheduler_core.framework.error_cache import ErrorCache
from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.node_columns import FEW, NodeColumn, NodeQuery, Nodes, Row
from scheduler_core.framework.node_queries import NodeQueries, Scores
from scheduler_core.framework.plugin_fn import NodeFn
from scheduler_core.framework.registry import Registry
from scheduler_core.model.fit import FITS, FitErrors, Status, StatusTable, Why, merge_first, no_refusals
from scheduler_core.model.job import TaskInfo
from scheduler_core.model.node import NodeTable

NODE_POINTS = (Point.PREDICATE, Point.NODE_ORDER, Point.BATCH_NODE_ORDER)


class Ranked:
    """Nodes by descending score, equal ones in node order; mostly only the first one is read."""

    __slots__ = ("_nodes", "_scores")

    def __init__(self, nodes: Nodes, scores: Scores) -> None:
        self._nodes = nodes
        self._scores = scores

    def __len__(self) -> int:
        return len(self._nodes)

    def __iter__(self) -> Iterator[int]:
        if len(self):
            yield self._nodes.item(self._scores.argmax())
            yield from self._nodes[np.argsort(-self._scores, kind="stable")[1:]].tolist()


class LaterPlaces:
    """The nodes where tasks of a class will fit that fit nowhere at once."""

    __slots__ = ("_column", "_index")

    def __init__(self, column: NodeColumn, index: Mapping[str, int]) -> None:
        self._column = column
        self._index = index

    def best(self, task: TaskInfo) -> int | None:
        """Return the node where a task that is its whole job is pipelined.

        That is its nominated node, if it will fit there. None if there is no such node, or if this shortcut
        cannot tell.
        """
        scores: Scores = self._column.now(task)
        node = self._index.get(task.nominated) if task.nominated else None
        if node is None or not scores.item(node) > NOWHERE:
            node = int(scores.argmax())
        return node if NOWHERE < scores.item(node) < np.inf else None


class Placement:
    """Examines and scores nodes for the tasks of one session."""

    def __init__(self, nodes: NodeTable, statuses: StatusTable, registry: Registry) -> None:
        self._registry = registry
        self._statuses = statuses
        self.nodes = nodes
        self.all: Nodes = np.arange(len(nodes), dtype=np.intp)
        self._rows: dict[int, Row] = {}
        self._prefetched: dict[int, TaskInfo] = {}
        self._together: ClassScoreMatrix | None = None
        self._queries = NodeQueries(nodes, statuses, registry, self.all)

    # where a task is placed

    def find(self, task: TaskInfo, cache: ErrorCache) -> tuple[int | None, FitErrors | None]:
        """Return the node for a task, and why every node refuses it.

        Both are None when nodes passed but none could be chosen.
        """
        at_once = self._at_once(task)
        if at_once is not None:
            node = self._best_of(at_once, task, cache)
            if node is None and self.nodes.releasing_or_pipelined:
                later = self._column(self._row(task), task, self._queries.takes_later)
                node = self._best_of(later, task, cache)
            if node is not None:
                return node, None
        candidates, errors = self.examine(task, resources=True, lenient=False, cache=cache)
        if not len(candidates):
            return None, errors
        return self.choose(task, candidates), None

    def best_at_once(self, task: TaskInfo) -> int | None:
        """Return the node where `find` allocates a task at once, None if it fits nowhere.

        Valid if the only cached refusals of tasks of the same job are by nodes that have only filled up
        since.

        Raises
        ------
        ScoreError
            If the best score is NaN, which only `find` handles.

        """
        if self._registry.class_of(task) not in self._prefetched:
            self.prefetch([task])
        scores = self._at_once(task)
        node = -1 if scores is None else int(scores.argmax())
        score = np.inf if scores is None else scores.item(node)
        if score == np.inf:
            raise ScoreError
        return node if score > NOWHERE else None

    def might_fit_at_once(self, task: TaskInfo) -> bool:
        """Return whether a task fits any node at once; True, too, if this shortcut cannot tell."""
        scores = self._at_once(task)
        return scores is None or scores.item(scores.argmax()) > NOWHERE

    def later_places(self, task: TaskInfo) -> LaterPlaces:
        """Return the nodes where tasks of this task's class will fit that fit nowhere at once."""
        return LaterPlaces(self._known(self._row(task), task, self._queries.takes_later), self.nodes.index)

    def fits_nowhere_later(self, task: TaskInfo) -> bool:
        """Return whether a task that fits nowhere at once fits nowhere later, and evictions resolve that."""
        row = self._row(task)
        later = self._column(row, task, self._queries.takes_later)
        if later.item(later.argmax()) != NOWHERE:
            return False
        resolvable = self._column(row, task, self._queries.resolvable)
        return bool(resolvable.item(resolvable.argmin()))

    def _best_of(self, scores: Scores, task: TaskInfo, cache: ErrorCache) -> int | None:
        """Return the node with the best finite score, None if this shortcut cannot tell.

        Sound for the scores where a task can be allocated at once, and if there are none, for those where it
        will fit: these are the candidates. Removing cached refusals from them changes the best only if the
        best itself is removed.
        """
        node = int(scores.argmax())
        if not NOWHERE < scores.item(node) < np.inf:
            return None
        group = cache.group_of(task)
        if group is not None:
            remembered = cache.remembered.get(group)
            if remembered is not None and remembered[node] != FITS:
                return None
            cache.remember(group, self._column(self._row(task), task, self._queries.refuses))
        return node

    # which nodes a task may run on

    def fits_nowhere(self, task: TaskInfo) -> bool:
        """Return whether all nodes refuse a task until they change, for reasons that evictions resolve."""
        row = self._row(task)
        if not row.is_local:
            return False
        if not len(self.nodes):
            return True
        if self._fits_at_once(task):
            return False
        if self.nodes.releasing_or_pipelined:
            later = self._column(row, task, self._queries.takes_later)
            if later.item(later.argmax()) > NOWHERE:
                return False
        why = self._column(row, task, self._queries.refuses)
        if why.item(why.argmin()) == FITS:
            return False
        resolvable = self._column(row, task, self._queries.resolvable)
        resolves = bool(resolvable.item(resolvable.argmin()))
        return resolves or self._errors(row, why).hopeful() is None

    def _fits_at_once(self, task: TaskInfo) -> bool:
        """Return whether a task is known to fit at once somewhere, as its class is scored with others."""
        if self._together is None or self._registry.class_of(task) not in self._prefetched:
            return False
        at_once = self._together.at_once(self._registry.class_of(task), task)
        return bool(at_once.item(at_once.argmax()) > NOWHERE)

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
        row = self._row(task)
        unbounded = group is None and among is None and row.is_local
        if unbounded and resources and not lenient:
            why = self._column(row, task, self._queries.refuses)
            return np.flatnonzero(why == FITS), self._errors(row, why)
        if unbounded and not resources:
            refusals = self._column(row, task, self._queries.passes)
            rejected = self._statuses.rejected(refusals, lenient=lenient)
            return np.flatnonzero(~rejected), FitErrors(
                self._statuses, np.where(rejected, refusals, np.int32(FITS))
            )
        remembered = cache.remembered.get(group) if group is not None else None
        examined = np.ones(len(self.nodes), dtype=np.bool_) if remembered is None else remembered == FITS
        if among is not None:
            outside = np.ones(len(self.nodes), dtype=np.bool_)
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

    def is_local(self, task: TaskInfo) -> bool:
        """Return whether all answers about a node for a task hold until the node changes."""
        return self._row(task).is_local

    def resolvable(self, task: TaskInfo, cache: ErrorCache, among: Nodes | None) -> Nodes:
        """Return the nodes `among` those given that evictions could make fit for a task."""
        row = self._row(task)
        if among is not None or cache.group_of(task) is not None or not row.is_local:
            return self.examine(task, resources=False, lenient=True, cache=cache, among=among)[0]
        resolvable = self._column(row, task, self._queries.resolvable)
        return self.all if resolvable.all() else np.flatnonzero(resolvable)

    def refused_everywhere(self, status: Status) -> FitErrors:
        """Return the errors of a task that every node refuses for one reason."""
        number = self._statuses.number(status)
        return FitErrors(self._statuses, np.full(len(self.nodes), number, dtype=np.int32))

    def predicate_on(self, task: TaskInfo, node: int) -> int:
        """Return the number of the statuses with which the plugins refuse a task on one node, 0: it fits."""
        return int(self._queries.predicate(task, np.array([node], dtype=np.intp))[0])

    def admission(self, task: TaskInfo) -> Why:
        """Return why nodes would refuse a task if all of them had room, (N,).

        Only for explanations: nothing is cached.
        """
        if self._is_local(Point.PREDICATE, task):
            return self._column(self._row(task), task, self._queries.passes)
        why = no_refusals(len(self.nodes))
        for predicate in self._registry.of_kind(Point.PREDICATE, NodeFn):
            left = np.flatnonzero(why == FITS)
            why[left] = predicate.explain(task, left)
        return why

    def _refusals(self, task: TaskInfo, examined: NDArray[np.bool_], *, resources: bool) -> Why:
        """Return why nodes refuse a task, (N,); for nodes that are not `examined` the answer is undefined.

        Answers that are not local are computed again, and only where Volcano would do so.
        """
        row = self._row(task)
        fit = self._column(row, task, self._queries.fit) if resources else None
        if self._is_local(Point.PREDICATE, task):
            predicate = self._column(row, task, self._queries.passes)
            return predicate if fit is None else merge_first(fit, predicate)
        why = no_refusals(len(self.nodes)) if fit is None else fit.copy()
        nodes = np.flatnonzero(examined & (why == FITS))
        why[nodes] = self._queries.predicate(task, nodes)
        return why

    # which node is the best

    def choose(self, task: TaskInfo, candidates: Nodes) -> int | None:
        """Return the best node where a task fits at once, else the best where it will fit.

        None when there is none.
        """
        now = self._column(self._row(task), task, self._queries.idle)[candidates]
        node = self.best(task, candidates[now])
        if node is None and not now.all():
            later = candidates[~now]
            node = self.best(task, later[self.will_fit(task, later)])
        return node

    def will_fit(self, task: TaskInfo, nodes: Nodes) -> NDArray[np.bool_]:
        """Return on which of the nodes a task fits the future idle amounts, (K,)."""
        fits: NDArray[np.bool_] = self._column(self._row(task), task, self._queries.will_fit)[nodes]
        return fits

    def fits_future_idle(self, task: TaskInfo) -> NDArray[np.bool_]:
        """Return on which nodes a task fits the future idle amounts, (N,), valid until the next call."""
        return self._column(self._row(task), task, self._queries.will_fit)

    def best(self, task: TaskInfo, candidates: Nodes) -> int | None:
        """Return the candidate with the highest score, the smallest name among equals.

        A single candidate is not scored.
        """
        if len(candidates) <= 1:
            return int(candidates[0]) if len(candidates) else None
        scores = self.scores(task, candidates)
        if scores is None:
            return None
        best = int(np.argmax(scores))
        return int(candidates[best]) if scores[best] > NOWHERE else None

    def by_score(self, task: TaskInfo, candidates: Nodes, wanted: Nodes) -> Ranked:
        """Return the wanted candidates by descending score, equal ones by name.

        Return none if scoring failed. A single candidate is not scored unless scoring may fail.
        """
        if candidates is not self.all:
            is_candidate = np.zeros(len(self.nodes), dtype=np.bool_)
            is_candidate[candidates] = True
            wanted = wanted[is_candidate[wanted]]
        if self._row(task).has_local_scores:
            scores = self.scores(task, wanted) if len(wanted) > 1 else np.zeros(len(wanted))
        else:
            of_all = self.scores(task, candidates)
            scores = None if of_all is None else of_all[candidates.searchsorted(wanted)]
        return Ranked(wanted, scores) if scores is not None else Ranked(wanted[:0], np.zeros(0))

    def scores(self, task: TaskInfo, candidates: Nodes) -> Scores | None:
        """Return the total score of each candidate, None when a batch score failed."""
        try:
            row = self._row(task)
            if not row.has_local_scores:
                return self._relative_score(row, task, candidates)
            scores: Scores = self._column(row, task, self._queries.total)[candidates]
            return scores
        except ScoreError:
            return None

    def _relative_score(self, row: Row, task: TaskInfo, candidates: Nodes) -> Scores:
        """Return the total score of candidates that are compared with each other, (K,)."""
        batch = self._queries.batch_score(task, candidates)
        if not self._is_local(Point.NODE_ORDER, task):
            return self._queries.order_score(task, candidates) + batch
        total: Scores = self._column(row, task, self._queries.order)[candidates] + batch
        return total

    def _is_local(self, point: Point, task: TaskInfo) -> bool:
        return all(fn.cacheable_per_node(task) for fn in self._registry.of_kind(point, NodeFn))

    def _scores_are_local(self, task: TaskInfo) -> bool:
        return self._is_local(Point.NODE_ORDER, task) and self._is_local(Point.BATCH_NODE_ORDER, task)

    # rows

    def _row(self, task: TaskInfo) -> Row:
        number = self._registry.class_of(task)
        row = self._rows.get(number)
        if row is None:
            has_local_scores = self._scores_are_local(task)
            is_local = has_local_scores and self._is_local(Point.PREDICATE, task)
            row = self._rows[number] = Row(is_local=is_local, has_local_scores=has_local_scores)
        return row

    def _column(self, row: Row, task: TaskInfo, query: NodeQuery) -> NDArray[Any]:
        """Return the current answers for the task's class on every node, (N,)."""
        return self._known(row, task, query).now(task)

    def _known(self, row: Row, task: TaskInfo, query: NodeQuery) -> NodeColumn:
        """Return the column of a query for a task's class, which may be outdated."""
        known = row.columns.get(query)
        if known is None:
            known = row.columns[query] = NodeColumn(query, task, self.all, self.nodes.changes)
        return known

    def _errors(self, row: Row, why: Why) -> FitErrors:
        """Return the refusals of a class as stored with its tasks, cached until a node changes."""
        if row.errors is None or row.errors_at != len(self.nodes.changes):
            row.errors, row.errors_at = FitErrors(self._statuses, why.copy()), len(self.nodes.changes)
        return row.errors

    # choices

    def prefetch(self, tasks: Iterable[TaskInfo]) -> None:
        """Announce the tasks to be placed, so that their classes are scored together.

        Previously announced classes are kept as long as there are not too many, because their scores are up
        to date.
        """
        known, self._prefetched = self._prefetched, {}
        if len(self.nodes) <= FEW or self._plugins is None:
            return
        seen: set[int] = set()
        for task in tasks:
            number = self._registry.class_of(task)
            if number not in seen:
                seen.add(number)
                if self._is_static(task):
                    self._prefetched[number] = task
                    if len(self._prefetched) == MOST_CLASSES:
                        break
        if self._prefetched.keys() <= known.keys():
            self._prefetched = known
        else:
            self._together = None
            if len(known.keys() | self._prefetched.keys()) <= MOST_CLASSES:
                self._prefetched = {**known, **self._prefetched}

    def _is_static(self, task: TaskInfo) -> bool:
        """Return whether all answers for a task's class follow from the class and the node alone."""
        return all(
            fn.static_for_class(task) for point in NODE_POINTS for fn in self._registry.of_kind(point, NodeFn)
        )

    @cached_property
    def _plugins(self) -> Plugins | None:
        """Return the plugins' forms for several classes at once, None if one has none."""
        registered = [self._registry.of_kind(point, NodeFn) for point in NODE_POINTS]
        forms = [[fn.for_classes for fn in fns if fn.for_classes] for fns in registered]
        return Plugins(*forms) if sum(map(len, forms)) == sum(map(len, registered)) else None

    def _at_once(self, task: TaskInfo) -> Scores | None:
        """Return the scores of a task where it can be allocated at once, else minus infinity, (N,).

        None if scores compare nodes with each other.
        """
        number = self._registry.class_of(task)
        if number in self._prefetched:
            if self._together is None:
                assert self._plugins is not None, "classes are prefetched where all answer for several"
                self._together = ClassScoreMatrix(
                    self.nodes, self._plugins, self._prefetched, self._queries.settled_score_of
                )
            return self._together.at_once(number, task)
        row = self._row(task)
        return self._column(row, task, self._queries.takes_at_once) if row.is_local else None
