"""On which nodes may a task run, and which of them is the best?

What a class of tasks is answered is kept as one row over all nodes and caught up for the nodes that changed
since.

Source: volcano ``pkg/scheduler/util/predicate_helper.go``, ``util/scheduler_helper.go`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from scheduler_core.errors import ScoreError
from scheduler_core.framework.choices import MOST_CLASSES, NOWHERE, Choice, Choices, Plugins
from scheduler_core.framework.extension_points import Point
from scheduler_core.model.changes import as_array
from scheduler_core.model.fit import FITS, Code, FitErrors, Status, Why, merge_first, no_refusals
from scheduler_core.model.job import TaskInfo
from scheduler_core.model.node import fits
from scheduler_core.resource import MIN_RESOURCE

if TYPE_CHECKING:
    from scheduler_core.framework.session import Session

Nodes = NDArray[np.intp]
Scores = NDArray[np.float64]
Question = Callable[[TaskInfo, Nodes], NDArray[Any]]
OfOne = Callable[[int], Any]
ScoreOf = Callable[[int], float]
Judge = Callable[[int], tuple[int, float]]

# Up to so many nodes are judged one by one: there the calls of numpy cost more than the numbers.
FEW = 40


class ErrorCache:
    """What tasks of the same job and role were refused earlier in one turn of an action.

    A task without a role neither reads nor writes it.
    """

    def __init__(self, *, enabled: bool) -> None:
        self.enabled = enabled
        self.remembered: dict[str, Why] = {}

    def group_of(self, task: TaskInfo) -> str | None:
        """Return the group whose refusals a task shares, None when it shares none."""
        if not self.enabled or not task.role:
            return None
        return f"{task.job.key if task.job else ''}/{task.role}"

    def remember(self, group: str, refused: Why) -> None:
        """Keep which nodes refused a task of the group, and why they did so first."""
        known = self.remembered.get(group)
        if known is None:
            self.remembered[group] = refused.copy()
        else:
            np.copyto(known, refused, where=known == FITS)


class Answers:
    """What one class of tasks is answered on every node.

    Attributes
    ----------
    values : (N,) array
        By node.
    seen : int
        How much of the nodes' change log is in the answers.
    of_one : callable or None
        ``of_one(node)``: the same for one node, None when a plugin has no such form.

    """

    __slots__ = ("of_one", "seen", "values")

    def __init__(self, values: NDArray[Any], seen: int, of_one: OfOne | None) -> None:
        self.values = values
        self.seen = seen
        self.of_one = of_one


class Row:
    """What is known of one class of tasks.

    Attributes
    ----------
    is_local : bool
        All that is asked about a node holds until the node changes.
    answers : dict
        By the question that was asked of every node.
    choice : Choice or None
        Where the task can be allocated at once, when the class has to catch up on its own.
    judge : callable or None
        ``judge(node)``: both answers for one node. None when a plugin has no such form.

    """

    __slots__ = ("answers", "choice", "is_local", "judge")

    def __init__(self, *, is_local: bool) -> None:
        self.is_local = is_local
        self.answers: dict[Question, Answers] = {}
        self.choice: Choice | None = None
        self.judge: Judge | None = None


class Placement:
    """Examines and scores nodes for the tasks of one session."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.nodes = session.nodes
        self.all: Nodes = np.arange(len(session.nodes), dtype=np.intp)
        self._rows: dict[int, Row] = {}
        self._expected: dict[int, TaskInfo] = {}
        self._plugins = Plugins([], [], [])
        self._together: Choices | None = None
        self._scorers: dict[int, ScoreOf | None] = {}
        self._insufficient = np.array(
            [
                session.statuses.number(Status(Code.UNSCHEDULABLE, f"Insufficient {name}"))
                for name in session.nodes.axis.names
            ],
            dtype=np.int32,
        )
        self._forms_of_one: dict[Question, Callable[[TaskInfo], OfOne | None]] = {
            self._predicate: self._refusal_of,
            self._resource_fit: self._shortage_of,
            self._fits_idle: self._idle_fit_of,
            self._order_score: self._order_scorer_of,
            self._total_score: self._scorer_of_class,
        }

    # where a task is placed

    def find(self, task: TaskInfo, cache: ErrorCache) -> tuple[int | None, FitErrors | None]:
        """Return the node that a task is to take, and why every node refuses it.

        Both are None when nodes passed but none could be chosen.
        """
        choice = self._choice(task)
        if choice is not None:
            node = self._best_at_once(task, choice, cache)
            if node is not None:
                return node, None
        candidates, errors = self.examine(task, resources=True, lenient=False, cache=cache)
        if not len(candidates):
            return None, errors
        return self.choose(task, candidates), None

    def _best_at_once(self, task: TaskInfo, choice: Choice, cache: ErrorCache) -> int | None:
        """Return the best node for a task that fits at once somewhere, None when that takes a closer look."""
        node = int(choice.at_once.argmax())
        if choice.at_once[node] == NOWHERE:
            return None
        group = cache.group_of(task)
        if group is not None:
            remembered = cache.remembered.get(group)
            if remembered is not None and remembered[node] != FITS:
                return None
            cache.remember(group, choice.why)
        return node

    # which nodes a task may run on

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
        choice = self._choice(task) if group is None and among is None and resources and not lenient else None
        if choice is not None:
            return np.flatnonzero(choice.why == FITS), choice.errors(self.session.statuses)
        row = self._row(task)
        if group is None and among is None and not resources and row.is_local:
            refusals = self._answers(row, task, self._predicate)
            rejected = self.session.statuses.rejected(refusals, lenient=lenient)
            return np.flatnonzero(~rejected), FitErrors(
                self.session.statuses, np.where(rejected, refusals, np.int32(FITS))
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
        rejected = self.session.statuses.rejected(why, lenient=lenient)
        refused = np.where(rejected, why, np.int32(FITS))
        if group is not None:
            cache.remember(group, refused)
        passing = np.flatnonzero(~rejected) if among is None else among[~rejected[among]]
        return passing, FitErrors(self.session.statuses, refused)

    def curable(self, task: TaskInfo, cache: ErrorCache, among: Nodes | None) -> Nodes:
        """Return the nodes, of those `among` which to look, that evictions could make fit for a task."""
        row = self._row(task)
        if among is not None or cache.group_of(task) is not None or not row.is_local:
            return self.examine(task, resources=False, lenient=True, cache=cache, among=among)[0]
        rejected = self.session.statuses.rejected(self._answers(row, task, self._predicate), lenient=True)
        return np.flatnonzero(~rejected) if rejected.any() else self.all

    def refused_everywhere(self, status: Status) -> FitErrors:
        """Return the errors of a task that every node refuses for one reason."""
        number = self.session.statuses.number(status)
        return FitErrors(self.session.statuses, np.full(len(self.nodes), number, dtype=np.int32))

    def predicate_on(self, task: TaskInfo, node: int) -> int:
        """Return the number of the statuses with which the plugins refuse a task on one node, 0: it fits."""
        return int(self._predicate(task, np.array([node], dtype=np.intp))[0])

    def _refusals(self, task: TaskInfo, asked: NDArray[np.bool_], *, resources: bool) -> Why:
        """Return why nodes refuse a task, (N,); what is said of nodes that are not `asked` means nothing.

        Answers that are not local are asked for anew, and only where Volcano would ask.
        """
        row = self._row(task)
        fit = self._answers(row, task, self._resource_fit) if resources else None
        if self._is_local(Point.PREDICATE, task):
            predicate = self._answers(row, task, self._predicate)
            return predicate if fit is None else merge_first(fit, predicate)
        why = no_refusals(len(self.nodes)) if fit is None else fit.copy()
        nodes = np.flatnonzero(asked & (why == FITS))
        why[nodes] = self._predicate(task, nodes)
        return why

    def _predicate(self, task: TaskInfo, nodes: Nodes) -> Why:
        """Return the first refusal of each node; plugins after it are not asked."""
        why = no_refusals(len(nodes))
        for fn in self.session.answers(Point.PREDICATE):
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
        now = self._answers(self._row(task), task, self._fits_idle)[candidates]
        node = self.best(task, candidates[now])
        if node is None and not now.all():
            later = candidates[~now]
            node = self.best(task, later[self.will_fit(task, later)])
        return node

    def will_fit(self, task: TaskInfo, nodes: Nodes) -> NDArray[np.bool_]:
        """Tell on which of the nodes a task fits what will be idle, (K,)."""
        fits: NDArray[np.bool_] = self._answers(self._row(task), task, self._resource_fit)[nodes] == FITS
        return fits

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

    def sorted_by_score(self, task: TaskInfo, candidates: Nodes, wanted: NDArray[np.bool_]) -> Nodes:
        """Return the wanted ones of the candidates by falling score, equal ones by name.

        None at all when scoring failed; `wanted` says of every node whether it is, (N,). One alone is not
        scored, unless scoring may fail.
        """
        chosen = wanted.take(candidates)
        left = candidates[chosen]
        if len(left) <= FEW and self._scores_are_local(task):
            score_of = self._scorer_of_class(task) if len(left) > 1 else None
            if score_of is not None:
                return as_array(sorted(left.tolist(), key=score_of, reverse=True))
            if len(left) <= 1:
                return left
        scores = self.scores(task, candidates)
        if scores is None:
            return candidates[:0]
        return left[np.argsort(-scores[chosen], kind="stable")]

    def scores(self, task: TaskInfo, candidates: Nodes) -> Scores | None:
        """Return the total score of each candidate, None when a batch score failed."""
        try:
            row = self._row(task)
            if not self._scores_are_local(task):
                return self._relative_score(row, task, candidates)
            scores: Scores = self._answers(row, task, self._total_score)[candidates]
            return scores
        except ScoreError:
            return None

    def _relative_score(self, row: Row, task: TaskInfo, candidates: Nodes) -> Scores:
        """Return the total score of candidates that are compared with each other, (K,)."""
        batch = self._batch_score(task, candidates)
        if not self._is_local(Point.NODE_ORDER, task):
            return self._order_score(task, candidates) + batch
        total: Scores = self._answers(row, task, self._order_score)[candidates] + batch
        return total

    def _total_score(self, task: TaskInfo, nodes: Nodes) -> Scores:
        return self._order_score(task, nodes) + self._batch_score(task, nodes)

    def _order_score(self, task: TaskInfo, nodes: Nodes) -> Scores:
        order = np.zeros(len(nodes))
        for fn in self.session.answers(Point.NODE_ORDER):
            order = order + fn(task, nodes)
        order[np.isnan(order)] = 0.0
        return order

    def _batch_score(self, task: TaskInfo, nodes: Nodes) -> Scores:
        batch = np.zeros(len(nodes))
        for fn in self.session.answers(Point.BATCH_NODE_ORDER):
            batch = batch + fn(task, nodes)
        return batch

    def _is_local(self, point: Point, task: TaskInfo) -> bool:
        return all(answer.is_local(task) for tier in self.session.tiers_of(point) for _, answer in tier)

    def _scores_are_local(self, task: TaskInfo) -> bool:
        return self._is_local(Point.NODE_ORDER, task) and self._is_local(Point.BATCH_NODE_ORDER, task)

    # rows

    def _row(self, task: TaskInfo) -> Row:
        number = self.session.class_of(task)
        row = self._rows.get(number)
        if row is None:
            is_local = self._is_local(Point.PREDICATE, task) and self._scores_are_local(task)
            row = self._rows[number] = Row(is_local=is_local)
        return row

    def _answers(self, row: Row, task: TaskInfo, question: Question) -> NDArray[Any]:
        """Return what the task's class is answered on every node, (N,); nodes that changed are asked anew."""
        changes, known = self.nodes.changes, row.answers.get(question)
        if known is None:
            of_one = self._forms_of_one[question](task)
            known = row.answers[question] = Answers(question(task, self.all), len(changes), of_one)
        elif known.seen < len(changes):
            changed, values, of_one = changes.since(known.seen), known.values, known.of_one
            if of_one is not None and len(changed) <= FEW:
                for node in changed:
                    values[node] = of_one(node)
            else:
                nodes = as_array(changed)
                values[nodes] = question(task, nodes)
            known.seen = len(changes)
        return known.values

    # choices

    def expect(self, tasks: Iterable[TaskInfo]) -> None:
        """Say for which tasks places are going to be looked for, so that their classes are kept together."""
        self._together = None
        self._expected = {}
        if len(self.nodes) <= FEW:
            return
        points = (Point.PREDICATE, Point.NODE_ORDER, Point.BATCH_NODE_ORDER)
        asked = [[answer for tier in self.session.tiers_of(point) for _, answer in tier] for point in points]
        answers = [answer for answers in asked for answer in answers]
        forms = [[answer.of_classes for answer in answers if answer.of_classes] for answers in asked]
        if sum(map(len, forms)) < len(answers):
            return
        self._plugins = Plugins(*forms)
        seen: set[int] = set()
        for task in tasks:
            number = self.session.class_of(task)
            if number not in seen:
                seen.add(number)
                if all(answer.is_settled(task) for answer in answers):
                    self._expected[number] = task
                    if len(self._expected) == MOST_CLASSES:
                        return

    def _choice(self, task: TaskInfo) -> Choice | None:
        """Return where a task can be allocated at once, None when nodes are compared with each other."""
        number = self.session.class_of(task)
        if number in self._expected:
            if self._together is None:
                self._together = Choices(
                    self.nodes, self._plugins, self._expected, self._insufficient, self._judgement
                )
            return self._together.of(number, task)
        row = self._row(task)
        return self._choice_alone(row, task) if row.is_local else None

    def _choice_alone(self, row: Row, task: TaskInfo) -> Choice:
        """Return the choice of a class that is not kept with others, with what changed judged again."""
        changes, choice = self.nodes.changes, row.choice
        if choice is None:
            row.judge = self._judge_of(task)
            why, at_once = no_refusals(len(self.nodes)), np.zeros(len(self.nodes))
            choice = row.choice = Choice(why, at_once, len(changes))
            self._judge(task, row, choice, range(len(self.nodes)))
        elif choice.seen < len(changes):
            self._judge(task, row, choice, changes.since(choice.seen))
            choice.seen = len(changes)
        return choice

    def _judge(self, task: TaskInfo, row: Row, choice: Choice, nodes: Collection[int]) -> None:
        """Write what a task is answered on some nodes, one by one when they are few."""
        if row.judge is not None and len(nodes) <= FEW:
            judge, whys, scores = row.judge, choice.why, choice.at_once
            for node in nodes:
                whys[node], scores[node] = judge(node)
        else:
            numbers = self.all if len(nodes) == len(self.all) else as_array(nodes)
            choice.why[numbers], choice.at_once[numbers] = self._judgement(task, numbers)

    def _judgement(self, task: TaskInfo, nodes: Nodes) -> tuple[Why, Scores]:
        """Return why nodes refuse a task, and the scores where it can be allocated at once, (K,) each."""
        why = merge_first(self._resource_fit(task, nodes), self._predicate(task, nodes))
        possible = np.flatnonzero(why == FITS)
        if self.nodes.moving and len(possible):
            possible = possible[self._fits_idle(task, nodes[possible])]
        scores = np.full(len(nodes), NOWHERE)
        scores[possible] = self._total_score(task, nodes[possible])
        return why, scores

    def _judge_of(self, task: TaskInfo) -> Judge | None:
        """Return a function that gives the same two answers for one node; None when a plugin has none."""
        refusal_of, score_of = self._refusal_of(task), self._scorer_of(task)
        if refusal_of is None or score_of is None:
            return None
        shortage_of, fits_idle = self._shortage_of(task), self._idle_fit_of(task)
        idle_of, future_of = self.nodes.idle_of, self.nodes.future_of

        def judge(node: int) -> tuple[int, float]:
            number = shortage_of(node) or refusal_of(node)
            if number:
                return number, NOWHERE
            if future_of[node] is not idle_of[node] and not fits_idle(node):
                return FITS, NOWHERE
            return FITS, score_of(node)

        return judge

    def _refusal_of(self, task: TaskInfo) -> Callable[[int], int] | None:
        """Return a function that gives the first refusal of one node, see `_predicate`."""
        refusals = self._of_one(Point.PREDICATE, task)
        if refusals is None:
            return None

        def refusal_of(node: int) -> int:
            for refusal in refusals:
                number: int = refusal(node)
                if number:
                    return number
            return FITS

        return refusal_of

    def _shortage_of(self, task: TaskInfo) -> Callable[[int], int]:
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

    def _idle_fit_of(self, task: TaskInfo) -> Callable[[int], bool]:
        """Return a function that tells whether a task fits what is idle on one node."""
        idle_of = self.nodes.idle_of
        return lambda node: fits(task, idle_of[node])

    def _order_scorer_of(self, task: TaskInfo) -> ScoreOf | None:
        """Return a function that gives the score of one node that is its own, see `_order_score`."""
        orders = self._of_one(Point.NODE_ORDER, task)
        return None if orders is None else lambda node: sum([score(node) for score in orders], start=0.0)

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
        number = self.session.class_of(task)
        if number not in self._scorers:
            self._scorers[number] = self._scorer_of(task)
        return self._scorers[number]

    def _of_one(self, point: Point, task: TaskInfo) -> list[Callable[[int], Any]] | None:
        """Return what answers a point for one node at a time, None unless every plugin offers that."""
        forms = [
            None if answer.of_one is None else answer.of_one(task)
            for tier in self.session.tiers_of(point)
            for _, answer in tier
        ]
        known = [form for form in forms if form is not None]
        return known if len(known) == len(forms) else None
