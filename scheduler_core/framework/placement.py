"""The nodes on which tasks are placed.

The plugins' answers for a class of tasks are cached as one row over all nodes, and updated for nodes that
changed.

Source: volcano ``pkg/scheduler/util/scheduler_helper.go`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from scheduler_core.errors import ScoreError
from scheduler_core.framework.class_rows import ClassRows
from scheduler_core.framework.class_scores import NOWHERE
from scheduler_core.framework.error_cache import ErrorCache
from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.functions import Functions
from scheduler_core.framework.node_columns import NodeColumn, Nodes, Row
from scheduler_core.framework.node_queries import NodeQueries, Scores
from scheduler_core.framework.predicate_helper import PredicateHelper
from scheduler_core.framework.scores_together import ScoresTogether
from scheduler_core.model.fit import FITS, FitErrors, StatusTable
from scheduler_core.model.job import TaskInfo
from scheduler_core.model.node import NodeTable


class Ranked:
    """Nodes by descending score, equal ones in node order, sorted lazily: mostly only the first is read."""

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
    """The nodes that tasks of a class, which fit nowhere at once, will fit later."""

    __slots__ = ("_column", "_index")

    def __init__(self, column: NodeColumn, index: Mapping[str, int]) -> None:
        self._column = column
        self._index = index

    def best(self, task: TaskInfo) -> int | None:
        """Return the node on which the only task of a job is pipelined.

        That is its nominated node, if the task will fit it. None if there is no such node, or if this
        shortcut cannot decide.
        """
        scores: Scores = self._column.now(task)
        node = self._index.get(task.nominated) if task.nominated else None
        if node is None or not scores.item(node) > NOWHERE:
            node = int(scores.argmax())
        return node if NOWHERE < scores.item(node) < np.inf else None


class Placement:
    """Finds the best nodes for the tasks of one session.

    Attributes
    ----------
    all : (N,) intp
        The numbers of all nodes.
    predicates : PredicateHelper
        The nodes on which tasks may run.

    """

    def __init__(self, nodes: NodeTable, statuses: StatusTable, functions: Functions) -> None:
        self.nodes = nodes
        self.all: Nodes = np.arange(len(nodes), dtype=np.intp)
        self._queries = NodeQueries(nodes, statuses, functions, self.all)
        self._rows = ClassRows(nodes, statuses, functions, self.all)
        self.predicates = PredicateHelper(nodes, statuses, functions, self._queries, self._rows)
        self._together = ScoresTogether(nodes, functions, self._queries)

    # placing a task

    def find(self, task: TaskInfo, cache: ErrorCache) -> tuple[int | None, FitErrors | None]:
        """Return the node for a task, or why every node refuses it.

        Both are None if nodes passed the predicates but none could be chosen.
        """
        at_once = self._scores_at_once(task)
        if at_once is not None:
            node = self._best_of(at_once, task, cache)
            if node is not None:
                return node, None
        candidates, errors = self.predicates.examine(task, resources=True, lenient=False, cache=cache)
        if not len(candidates):
            return None, errors
        return self.choose(task, candidates), None

    def best_at_once(self, task: TaskInfo) -> int | None:
        """Return the node on which `find` would allocate a task at once, None if it fits nowhere.

        Valid if all cached refusals of tasks of the same job are by nodes that have only filled up since
        then.

        Raises
        ------
        ScoreError
            If the best score is NaN, which only `find` handles.

        """
        scores = self._together.at_once(task)
        if scores is None:
            self.prefetch([task])
            scores = self._scores_at_once(task)
        node = -1 if scores is None else int(scores.argmax())
        score = np.inf if scores is None else scores.item(node)
        if score == np.inf:
            raise ScoreError
        return node if score > NOWHERE else None

    def might_fit_at_once(self, task: TaskInfo) -> bool:
        """Return whether a task fits any node at once; True also if this shortcut cannot decide."""
        scores = self._scores_at_once(task)
        return scores is None or scores.item(scores.argmax()) > NOWHERE

    def later_places(self, task: TaskInfo) -> LaterPlaces:
        """Return the nodes that tasks of this task's class, which fit nowhere at once, will fit later."""
        return LaterPlaces(
            self._rows.known(self._rows.of(task), task, self._queries.takes_later), self.nodes.index
        )

    def fits_nowhere_later(self, task: TaskInfo) -> bool:
        """Return whether a task that fits nowhere at once fits nowhere later.

        False also if its errors would rule out more nodes for evictions than the predicates do.
        """
        row = self._rows.of(task)
        later = self._rows.column(row, task, self._queries.takes_later)
        if later.item(later.argmax()) != NOWHERE:
            return False
        return self._rules_out_no_more_now(row, task)

    def rules_out_no_more(self, task: TaskInfo, errors: FitErrors) -> bool:
        """Return whether a task's errors rule out no more nodes for evictions than the predicates do.

        Sound, as preempt and reclaim also leave out the nodes that the predicates refuse for reasons that no
        eviction resolves, and as these refusals do not change.
        """
        if errors.resolvable_nodes() is None:
            return True
        return errors.rule_out_permanently() and self._rows.keeps_refusals(self._rows.of(task), task)

    def _rules_out_no_more_now(self, row: Row, task: TaskInfo) -> bool:
        """Return `rules_out_no_more` for the errors that a task that every node refuses would get now."""
        resolvable = self._rows.column(row, task, self._queries.resolvable)
        if resolvable.item(resolvable.argmin()):
            return True
        why = self._rows.column(row, task, self._queries.refuses)
        return self.rules_out_no_more(task, self._rows.errors(row, why))

    def _best_of(self, scores: Scores, task: TaskInfo, cache: ErrorCache) -> int | None:
        """Return the node with the best finite score, None if this shortcut cannot decide.

        Sound for the scores of nodes where a task can be allocated at once, which are then the candidates.
        Removing nodes with cached refusals changes the best one only if it is itself removed.
        """
        node = int(scores.argmax())
        if not NOWHERE < scores.item(node) < np.inf:
            return None
        group = cache.group_of(task)
        if group is not None:
            remembered = cache.remembered.get(group)
            if remembered is not None and remembered[node] != FITS:
                return None
            cache.remember(group, self._rows.column(self._rows.of(task), task, self._queries.refuses))
        return node

    def fits_nowhere(self, task: TaskInfo) -> bool:
        """Return whether all nodes refuse a task until they change.

        False also if its errors would rule out more nodes for evictions than the predicates do.
        """
        row = self._rows.of(task)
        if not row.is_local:
            return False
        if not len(self.nodes):
            return True
        if self.nodes.releasing_or_pipelined:
            later = self._rows.column(row, task, self._queries.takes_later)
            if later.item(later.argmax()) > NOWHERE:
                return False
        why = self._rows.column(row, task, self._queries.refuses)
        if why.item(why.argmin()) == FITS:
            return False
        return self._rules_out_no_more_now(row, task)

    def is_local(self, task: TaskInfo) -> bool:
        """Return whether all answers for a task and a node hold until the node changes."""
        return self._rows.of(task).is_local

    # choosing the best node

    def choose(self, task: TaskInfo, candidates: Nodes) -> int | None:
        """Return the best node that a task fits at once, else the best that it will fit.

        None if there is none.
        """
        now = self._rows.column(self._rows.of(task), task, self._queries.idle)[candidates]
        node = self.best(task, candidates[now])
        if node is None and not now.all():
            later = candidates[~now]
            node = self.best(task, later[self.will_fit(task, later)])
        return node

    def will_fit(self, task: TaskInfo, nodes: Nodes) -> NDArray[np.bool_]:
        """Return which of the nodes have enough future idle for a task, (K,)."""
        fits: NDArray[np.bool_] = self._rows.column(self._rows.of(task), task, self._queries.will_fit)[nodes]
        return fits

    def fits_future_idle(self, task: TaskInfo) -> NDArray[np.bool_]:
        """Return which nodes have enough future idle for a task, (N,), valid until the next call."""
        return self._rows.column(self._rows.of(task), task, self._queries.will_fit)

    def best(self, task: TaskInfo, candidates: Nodes) -> int | None:
        """Return the candidate with the highest score, of equal ones the first by name.

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

        Empty if scoring failed. A single candidate is not scored unless scoring may fail.
        """
        if candidates is not self.all:
            is_candidate = np.zeros(len(self.nodes), dtype=np.bool_)
            is_candidate[candidates] = True
            wanted = wanted[is_candidate[wanted]]
        if self._rows.of(task).has_local_scores:
            scores = self.scores(task, wanted) if len(wanted) > 1 else np.zeros(len(wanted))
        else:
            of_all = self.scores(task, candidates)
            scores = None if of_all is None else of_all[candidates.searchsorted(wanted)]
        return Ranked(wanted, scores) if scores is not None else Ranked(wanted[:0], np.zeros(0))

    def scores(self, task: TaskInfo, candidates: Nodes) -> Scores | None:
        """Return the total score of each candidate, None if a batch score failed."""
        try:
            row = self._rows.of(task)
            if not row.has_local_scores:
                return self._relative_score(row, task, candidates)
            scores: Scores = self._rows.column(row, task, self._queries.total)[candidates]
            return scores
        except ScoreError:
            return None

    def _relative_score(self, row: Row, task: TaskInfo, candidates: Nodes) -> Scores:
        """Return the total score of candidates whose scores depend on each other, (K,)."""
        batch = self._queries.batch_score(task, candidates)
        if not self._rows.is_local(Point.NODE_ORDER, task):
            return self._queries.order_score(task, candidates) + batch
        total: Scores = self._rows.column(row, task, self._queries.order)[candidates] + batch
        return total

    # scores of several classes

    def prefetch(self, tasks: Iterable[TaskInfo]) -> None:
        """Announce the tasks to be placed, so that their classes are scored together."""
        self._together.announce(tasks)

    def _scores_at_once(self, task: TaskInfo) -> Scores | None:
        """Return the scores of a task where it can be allocated at once, else minus infinity, (N,).

        None if scores compare nodes with each other.
        """
        scores = self._together.at_once(task)
        if scores is not None:
            return scores
        row = self._rows.of(task)
        return self._rows.column(row, task, self._queries.takes_at_once) if row.is_local else None
