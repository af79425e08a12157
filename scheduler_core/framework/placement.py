"""On which nodes may a task run, and which of them is the best?

What a class of tasks is answered is kept as one row over all nodes and caught up for the nodes that changed
since.

Source: volcano ``pkg/scheduler/util/predicate_helper.go``, ``util/scheduler_helper.go`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scheduler_core.errors import ScoreError
from scheduler_core.framework.choices import MOST_CLASSES, NOWHERE, Choices, Plugins
from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.plugin_fn import NodeFn
from scheduler_core.framework.registry import Registry
from scheduler_core.model.changes import ChangeLog, as_array
from scheduler_core.model.fit import FITS, Code, FitErrors, Status, StatusTable, Why, merge_first, no_refusals
from scheduler_core.model.job import TaskInfo
from scheduler_core.model.node import NodeTable, fits
from scheduler_core.resource import MIN_RESOURCE

Nodes = NDArray[np.intp]
Scores = NDArray[np.float64]
Group = tuple[str, str]
RefusalOf = Callable[[int], int]
ScoreOf = Callable[[int], float]

# Up to so many nodes are judged one by one: there the calls of numpy cost more than the numbers.
FEW = 40


class ErrorCache:
    """What tasks of the same job and role were refused earlier in one turn of an action.

    A task without a role neither reads nor writes it.
    """

    def __init__(self, *, enabled: bool) -> None:
        self.enabled = enabled
        self.remembered: dict[Group, Why] = {}

    def group_of(self, task: TaskInfo) -> Group | None:
        """Return the group whose refusals a task shares, None when it shares none."""
        if not self.enabled or not task.role:
            return None
        return task.job.key if task.job else "", task.role

    def forget(self) -> None:
        """Begin another turn."""
        self.remembered.clear()

    def remember(self, group: Group, refused: Why) -> None:
        """Keep which nodes refused a task of the group, and why they did so first."""
        known = self.remembered.get(group)
        if known is None:
            self.remembered[group] = refused.copy()
        else:
            np.copyto(known, refused, where=known == FITS)


def no_form(_task: TaskInfo) -> None:
    """Say that there is no form for one node."""


@dataclass(frozen=True, eq=False)
class Question:
    """What is asked about nodes for a class of tasks.

    Attributes
    ----------
    kind : dtype
        Of the answers.
    of_many : callable
        ``of_many(task, nodes)``: the answers on several nodes, (K,).
    of_one : callable
        ``of_one(task)``: a function that gives the same for one node; None when there is none.

    """

    kind: type[Any]
    of_many: Callable[[TaskInfo, Nodes], NDArray[Any]]
    of_one: Callable[[TaskInfo], Callable[[int], Any] | None] = no_form


class Answers:
    """What one class of tasks is answered on every node, brought up to date when somebody asks."""

    __slots__ = ("_changes", "_of_one", "_question", "_seen", "_values")

    def __init__(self, question: Question, task: TaskInfo, everywhere: Nodes, changes: ChangeLog) -> None:
        self._question = question
        self._of_one = question.of_one(task)
        self._values: NDArray[Any] = np.empty(len(everywhere), dtype=question.kind)
        self._changes = changes
        self._seen = len(changes)
        self._ask(task, everywhere if len(everywhere) > FEW else range(len(everywhere)))

    def now(self, task: TaskInfo) -> NDArray[Any]:
        """Return the answers to a task of the class as nodes are now, (N,); the next call changes them."""
        seen = self._seen
        if seen < len(self._changes):
            self._seen = len(self._changes)
            self._ask(task, self._changes.since(seen))
        return self._values

    def _ask(self, task: TaskInfo, nodes: Collection[int] | Nodes) -> None:
        """Ask about some nodes, one by one when they are few."""
        of_one = self._of_one
        if of_one is not None and len(nodes) <= FEW:
            for node in nodes:
                self._values[node] = of_one(node)
        else:
            numbers = nodes if isinstance(nodes, np.ndarray) else as_array(nodes)
            self._values[numbers] = self._question.of_many(task, numbers)


class Row:
    """What is known of one class of tasks.

    Attributes
    ----------
    is_local : bool
        All that is asked about a node holds until the node changes.
    has_local_scores : bool
        What is asked about its scores does.
    answers : dict
        By the question that was asked of every node.
    errors : FitErrors or None
        The refusals as they are kept with the tasks that found no node when so many changes were logged.

    """

    __slots__ = ("answers", "errors", "errors_at", "has_local_scores", "is_local")

    def __init__(self, *, is_local: bool, has_local_scores: bool) -> None:
        self.is_local = is_local
        self.has_local_scores = has_local_scores
        self.answers: dict[Question, Answers] = {}
        self.errors: FitErrors | None = None
        self.errors_at = 0


class Ranked:
    """Nodes by falling score, equal ones in their order: mostly the first one will do."""

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


class Placement:
    """Examines and scores nodes for the tasks of one session."""

    def __init__(self, nodes: NodeTable, statuses: StatusTable, registry: Registry) -> None:
        self._registry = registry
        self._statuses = statuses
        self.nodes = nodes
        self.all: Nodes = np.arange(len(nodes), dtype=np.intp)
        self._rows: dict[int, Row] = {}
        self._expected: dict[int, TaskInfo] = {}
        self._plugins = Plugins([], [], [])
        self._together: Choices | None = None
        self._scorers: dict[int, ScoreOf | None] = {}
        self._insufficient = np.array(
            [
                statuses.number(Status(Code.UNSCHEDULABLE, f"Insufficient {name}"))
                for name in nodes.axis.names
            ],
            dtype=np.int32,
        )
        self._fit = Question(np.int32, self._resource_fit, self._shortage_of)
        self._will_fit = Question(np.bool_, self._fits_future, self._future_fit_of)
        self._idle = Question(np.bool_, self._fits_idle, self._idle_fit_of)
        self._passes = Question(np.int32, self._predicate, self._predicate_of)
        self._may_be_cured = Question(np.bool_, self._curable, self._curable_of)
        self._refuses = Question(np.int32, self._refusal, self._refusal_of)
        self._takes_at_once = Question(np.float64, self._score_at_once, self._score_at_once_of)
        self._order = Question(np.float64, self._order_score, self._order_scorer_of)
        self._total = Question(np.float64, self._total_score, self._scorer_of_class)

    # where a task is placed

    def find(self, task: TaskInfo, cache: ErrorCache) -> tuple[int | None, FitErrors | None]:
        """Return the node that a task is to take, and why every node refuses it.

        Both are None when nodes passed but none could be chosen.
        """
        at_once = self._at_once(task)
        if at_once is not None:
            node = self._best_at_once(task, at_once, cache)
            if node is not None:
                return node, None
        candidates, errors = self.examine(task, resources=True, lenient=False, cache=cache)
        if not len(candidates):
            return None, errors
        return self.choose(task, candidates), None

    def _best_at_once(self, task: TaskInfo, at_once: Scores, cache: ErrorCache) -> int | None:
        """Return the best node for a task that fits at once somewhere, None when that takes a closer look."""
        node = int(at_once.argmax())
        if at_once.item(node) == NOWHERE:
            return None
        group = cache.group_of(task)
        if group is not None:
            remembered = cache.remembered.get(group)
            if remembered is not None and remembered[node] != FITS:
                return None
            cache.remember(group, self._answers(self._row(task), task, self._refuses))
        return node

    # which nodes a task may run on

    def fits_nowhere(self, task: TaskInfo) -> bool:
        """Tell whether every node refuses a task until it changes, for reasons that evictions might cure."""
        row = self._row(task)
        if not row.is_local:
            return False
        why = self._answers(row, task, self._refuses)
        return not (why == FITS).any() and self._errors(row, why).hopeful() is None

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
            Who is to be placed.
        resources : bool
            Whether the request must fit what will be idle.
        lenient : bool
            Whether refusals that evictions could cure are forgiven.
        cache : ErrorCache
            What tasks of the same job and role were refused before.
        among : (K,) intp, optional
            The nodes to examine; None stands for all.

        """
        group = cache.group_of(task)
        row = self._row(task)
        unbounded = group is None and among is None and row.is_local
        if unbounded and resources and not lenient:
            why = self._answers(row, task, self._refuses)
            return np.flatnonzero(why == FITS), self._errors(row, why)
        if unbounded and not resources:
            refusals = self._answers(row, task, self._passes)
            rejected = self._statuses.rejected(refusals, lenient=lenient)
            return np.flatnonzero(~rejected), FitErrors(
                self._statuses, np.where(rejected, refusals, np.int32(FITS))
            )
        remembered = cache.remembered.get(group) if group is not None else None
        asked = np.ones(len(self.nodes), dtype=np.bool_) if remembered is None else remembered == FITS
        if among is not None:
            outside = np.ones(len(self.nodes), dtype=np.bool_)
            outside[among] = False
            asked &= ~outside
        why = self._refusals(task, asked, resources=resources)
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
        """Tell whether all that is asked about a node for a task holds until the node changes."""
        return self._row(task).is_local

    def curable(self, task: TaskInfo, cache: ErrorCache, among: Nodes | None) -> Nodes:
        """Return the nodes, of those `among` which to look, that evictions could make fit for a task."""
        row = self._row(task)
        if among is not None or cache.group_of(task) is not None or not row.is_local:
            return self.examine(task, resources=False, lenient=True, cache=cache, among=among)[0]
        curable = self._answers(row, task, self._may_be_cured)
        return self.all if curable.all() else np.flatnonzero(curable)

    def refused_everywhere(self, status: Status) -> FitErrors:
        """Return the errors of a task that every node refuses for one reason."""
        number = self._statuses.number(status)
        return FitErrors(self._statuses, np.full(len(self.nodes), number, dtype=np.int32))

    def predicate_on(self, task: TaskInfo, node: int) -> int:
        """Return the number of the statuses with which the plugins refuse a task on one node, 0: it fits."""
        return int(self._predicate(task, np.array([node], dtype=np.intp))[0])

    def admission(self, task: TaskInfo) -> Why:
        """Return why nodes would refuse a task that had room on all of them, (N,).

        It is asked for the sake of an explanation: nothing is remembered of it.
        """
        if self._is_local(Point.PREDICATE, task):
            return self._answers(self._row(task), task, self._passes)
        why = no_refusals(len(self.nodes))
        for predicate in self._registry.of_kind(Point.PREDICATE, NodeFn):
            left = np.flatnonzero(why == FITS)
            why[left] = predicate.explain(task, left)
        return why

    def _refusals(self, task: TaskInfo, asked: NDArray[np.bool_], *, resources: bool) -> Why:
        """Return why nodes refuse a task, (N,); what is said of nodes that are not `asked` means nothing.

        Answers that are not local are asked for anew, and only where Volcano would ask.
        """
        row = self._row(task)
        fit = self._answers(row, task, self._fit) if resources else None
        if self._is_local(Point.PREDICATE, task):
            predicate = self._answers(row, task, self._passes)
            return predicate if fit is None else merge_first(fit, predicate)
        why = no_refusals(len(self.nodes)) if fit is None else fit.copy()
        nodes = np.flatnonzero(asked & (why == FITS))
        why[nodes] = self._predicate(task, nodes)
        return why

    def _predicate(self, task: TaskInfo, nodes: Nodes) -> Why:
        """Return the first refusal of each node; plugins after it are not asked."""
        why = no_refusals(len(nodes))
        for fn in self._registry.functions[Point.PREDICATE]:
            left = why == FITS
            why[left] = fn(task, nodes[left])
        return why

    def _resource_fit(self, task: TaskInfo, nodes: Nodes) -> Why:
        """Return the first resource, by order of the axis, of which each node will not have enough."""
        available = self.nodes.future if nodes is self.all else self.nodes.future[nodes]
        why = no_refusals(len(nodes))
        for position, amount in reversed(task.shape.demands):
            why[amount - available[:, position] >= MIN_RESOURCE] = self._insufficient[position]
        return why

    def _fits_future(self, task: TaskInfo, nodes: Nodes) -> NDArray[np.bool_]:
        fits: NDArray[np.bool_] = self._resource_fit(task, nodes) == FITS
        return fits

    def _fits_idle(self, task: TaskInfo, nodes: Nodes) -> NDArray[np.bool_]:
        available = self.nodes.idle if nodes is self.all else self.nodes.idle[nodes]
        fits = np.ones(len(nodes), dtype=np.bool_)
        for position, amount in task.shape.demands:
            fits &= amount - available[:, position] < MIN_RESOURCE
        return fits

    # which node is the best

    def choose(self, task: TaskInfo, candidates: Nodes) -> int | None:
        """Return the best node where a task fits at once, else the best where it will fit.

        None when there is none.
        """
        now = self._answers(self._row(task), task, self._idle)[candidates]
        node = self.best(task, candidates[now])
        if node is None and not now.all():
            later = candidates[~now]
            node = self.best(task, later[self.will_fit(task, later)])
        return node

    def will_fit(self, task: TaskInfo, nodes: Nodes) -> NDArray[np.bool_]:
        """Tell on which of the nodes a task fits what will be idle, (K,)."""
        fits: NDArray[np.bool_] = self._answers(self._row(task), task, self._will_fit)[nodes]
        return fits

    def fits_future_idle(self, task: TaskInfo) -> NDArray[np.bool_]:
        """Tell on which nodes a task fits what will be idle, (N,); the next call changes it."""
        return self._answers(self._row(task), task, self._will_fit)

    def best(self, task: TaskInfo, candidates: Nodes) -> int | None:
        """Return the candidate with the highest score, the smallest name among equals.

        One alone is not scored.
        """
        if len(candidates) <= 1:
            return int(candidates[0]) if len(candidates) else None
        scores = self.scores(task, candidates)
        if scores is None:
            return None
        best = int(np.argmax(scores))
        return int(candidates[best]) if scores[best] > NOWHERE else None

    def by_score(self, task: TaskInfo, candidates: Nodes, wanted: Nodes) -> Ranked:
        """Return the wanted ones of the candidates by falling score, equal ones by name.

        None at all when scoring failed. One alone is not scored, unless scoring may fail.
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
            scores: Scores = self._answers(row, task, self._total)[candidates]
            return scores
        except ScoreError:
            return None

    def _relative_score(self, row: Row, task: TaskInfo, candidates: Nodes) -> Scores:
        """Return the total score of candidates that are compared with each other, (K,)."""
        batch = self._batch_score(task, candidates)
        if not self._is_local(Point.NODE_ORDER, task):
            return self._order_score(task, candidates) + batch
        total: Scores = self._answers(row, task, self._order)[candidates] + batch
        return total

    def _total_score(self, task: TaskInfo, nodes: Nodes) -> Scores:
        return self._order_score(task, nodes) + self._batch_score(task, nodes)

    def _order_score(self, task: TaskInfo, nodes: Nodes) -> Scores:
        order = np.zeros(len(nodes))
        for fn in self._registry.functions[Point.NODE_ORDER]:
            order = order + fn(task, nodes)
        order[np.isnan(order)] = 0.0
        return order

    def _batch_score(self, task: TaskInfo, nodes: Nodes) -> Scores:
        batch = np.zeros(len(nodes))
        for fn in self._registry.functions[Point.BATCH_NODE_ORDER]:
            batch = batch + fn(task, nodes)
        return batch

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

    def _answers(self, row: Row, task: TaskInfo, question: Question) -> NDArray[Any]:
        """Return what the task's class is answered on every node, (N,); nodes that changed are asked anew."""
        known = row.answers.get(question)
        if known is None:
            known = row.answers[question] = Answers(question, task, self.all, self.nodes.changes)
        return known.now(task)

    def _errors(self, row: Row, why: Why) -> FitErrors:
        """Return the refusals of a class as they are kept with its tasks, made once until a node changes."""
        if row.errors is None or row.errors_at != len(self.nodes.changes):
            row.errors, row.errors_at = FitErrors(self._statuses, why.copy()), len(self.nodes.changes)
        return row.errors

    # choices

    def expect(self, tasks: Iterable[TaskInfo]) -> None:
        """Say for which tasks places are going to be looked for, so that their classes are kept together.

        Classes that were expected before stay, as long as they are not too many: what is known of them
        follows the nodes.
        """
        known, self._expected = self._expected, {}
        if len(self.nodes) <= FEW:
            return
        points = (Point.PREDICATE, Point.NODE_ORDER, Point.BATCH_NODE_ORDER)
        asked = [self._registry.of_kind(point, NodeFn) for point in points]
        forms = [[fn.for_classes for fn in fns if fn.for_classes] for fns in asked]
        if sum(map(len, forms)) < sum(map(len, asked)):
            return
        self._plugins = Plugins(*forms)
        seen: set[int] = set()
        for task in tasks:
            number = self._registry.class_of(task)
            if number not in seen:
                seen.add(number)
                if all(fn.static_for_class(task) for fns in asked for fn in fns):
                    self._expected[number] = task
                    if len(self._expected) == MOST_CLASSES:
                        break
        if self._expected.keys() <= known.keys():
            self._expected = known
        else:
            self._together = None
            if len(known.keys() | self._expected.keys()) <= MOST_CLASSES:
                self._expected = {**known, **self._expected}

    def _at_once(self, task: TaskInfo) -> Scores | None:
        """Return the scores of a task where it can be allocated at once, else minus infinity, (N,).

        None when nodes are compared with each other.
        """
        number = self._registry.class_of(task)
        if number in self._expected:
            if self._together is None:
                self._together = Choices(self.nodes, self._plugins, self._expected, self._settled_score_of)
            return self._together.at_once(number, task)
        row = self._row(task)
        return self._answers(row, task, self._takes_at_once) if row.is_local else None

    def _refusal(self, task: TaskInfo, nodes: Nodes) -> Why:
        """Return why nodes refuse a task, resources first, (K,)."""
        return merge_first(self._resource_fit(task, nodes), self._predicate(task, nodes))

    def _score_at_once(self, task: TaskInfo, nodes: Nodes) -> Scores:
        """Return the scores of nodes where a task can be allocated at once, else minus infinity, (K,)."""
        possible = np.flatnonzero(self._refusal(task, nodes) == FITS)
        if self.nodes.moving and len(possible):
            possible = possible[self._fits_idle(task, nodes[possible])]
        scores = np.full(len(nodes), NOWHERE)
        scores[possible] = self._total_score(task, nodes[possible])
        return scores

    def _refusal_of(self, task: TaskInfo) -> RefusalOf | None:
        """Return a function that gives the same as `_refusal` for one node; None when a plugin has none."""
        shortage_of, predicate_of = self._shortage_of(task), self._predicate_of(task)
        return None if predicate_of is None else lambda node: shortage_of(node) or predicate_of(node)

    def _curable(self, task: TaskInfo, nodes: Nodes) -> NDArray[np.bool_]:
        """Tell on which nodes no predicate refuses a task for good, (K,)."""
        return ~self._statuses.rejected(self._predicate(task, nodes), lenient=True)

    def _curable_of(self, task: TaskInfo) -> Callable[[int], bool] | None:
        """Return a function that tells the same of one node; None when a plugin has none."""
        predicate_of, is_curable = self._predicate_of(task), self._statuses.is_curable
        return None if predicate_of is None else lambda node: is_curable(predicate_of(node))

    def _predicate_of(self, task: TaskInfo) -> RefusalOf | None:
        """Return a function that gives the first refusal of one node, see `_predicate`."""
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

    def _shortage_of(self, task: TaskInfo) -> RefusalOf:
        """Return a function that tells of what one node will not have enough, see `_resource_fit`."""
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

    def _future_fit_of(self, task: TaskInfo) -> Callable[[int], bool]:
        """Return a function that tells whether a task fits what will be idle on one node."""
        future_of = self.nodes.future_of
        return lambda node: fits(task, future_of[node])

    def _idle_fit_of(self, task: TaskInfo) -> Callable[[int], bool]:
        """Return a function that tells whether a task fits what is idle on one node."""
        idle_of = self.nodes.idle_of
        return lambda node: fits(task, idle_of[node])

    def _score_at_once_of(self, task: TaskInfo) -> ScoreOf | None:
        """Return a function that gives the same as `_score_at_once` for one node; None when there is none."""
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

    def _order_scorer_of(self, task: TaskInfo) -> ScoreOf | None:
        """Return a function that gives the score of one node that is its own, see `_order_score`."""
        orders = self._of_one(Point.NODE_ORDER, task)
        return None if orders is None else lambda node: sum([score(node) for score in orders], start=0.0)

    def _settled_score_of(self, task: TaskInfo) -> ScoreOf:
        """Return `_score_at_once_of` a settled task, of which there is one."""
        score_of = self._score_at_once_of(task)
        assert score_of is not None, "who answers for several classes answers for one node"
        return score_of

    def _scorer_of(self, task: TaskInfo) -> ScoreOf | None:
        """Return a function that gives the total score of one node; None when a plugin has none."""
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

    def _scorer_of_class(self, task: TaskInfo) -> ScoreOf | None:
        """Return `_scorer_of` a task, made once for its class."""
        number = self._registry.class_of(task)
        if number not in self._scorers:
            self._scorers[number] = self._scorer_of(task)
        return self._scorers[number]

    def _of_one(self, point: Point, task: TaskInfo) -> list[Callable[[int], Any]] | None:
        """Return what answers a point for one node at a time, None unless every plugin offers that."""
        forms = [
            None if fn.for_node is None else fn.for_node(task) for fn in self._registry.of_kind(point, NodeFn)
        ]
        known = [form for form in forms if form is not None]
        return known if len(known) == len(forms) else None
