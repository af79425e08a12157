"""Where can each class of tasks be allocated at once? Nodes that changed are judged for all classes together.

Nodes that hold the same are answered alike, so that what was once worked out for one serves the next.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scheduler_core.model.changes import as_array
from scheduler_core.model.job import TaskInfo
from scheduler_core.model.node import NodeTable
from scheduler_core.resource import MIN_RESOURCE

Nodes = NDArray[np.intp]
Scores = NDArray[np.float64]
Mask = NDArray[np.bool_]
ScoreOf = Callable[[int], float]
Judge = Callable[[TaskInfo, Nodes], Scores]

NOWHERE = -np.inf

# So many nodes in a new state wait to be judged together, while classes that ask judge them one by one.
MOST_WAITING = 8

# The scores of so many nodes that changed are copied one by one.
FEW_CHANGES = 12
# So many classes are told of a changed node together; with more of them each catches up when its turn comes.
MOST_CLASSES = 512
# Answers to so many states of nodes are remembered, and to twice as many as there are nodes.
MOST_STATES = 4096


class ClassAnswers(NamedTuple):
    """What a plugin answers to several classes of tasks.

    Attributes
    ----------
    on : callable
        ``on(nodes)``: the answers, (K, C), to the classes on some nodes, (K,): of a filter whether the nodes
        take them, of a score the scores, never NaN.
    fixed : sequence, optional
        By node, what of it is read and stays the same all session long; None: nothing.
    moving : callable, optional
        ``moving(node)``: what else is read of a node; None: nothing. Nodes that are equal in both are
        answered alike.

    """

    on: Callable[[Nodes], NDArray[Any]]
    fixed: Sequence[Hashable] | None = None
    moving: Callable[[int], Hashable] | None = None


OfClasses = Callable[[Sequence[TaskInfo]], ClassAnswers]


class Plugins(NamedTuple):
    """Who refuses nodes, and who scores them one by one and all together."""

    refusing: list[OfClasses]
    ordering: list[OfClasses]
    batch_ordering: list[OfClasses]


class Choices:
    """Where several classes of tasks can be allocated at once.

    Each state that a node is found in has a number and one row of scores, (C,), once it has been judged. A
    class copies the scores of the nodes that changed since it was asked last. Nodes in a new state wait until
    there are some of them; until then a class that asks judges them for itself.

    Parameters
    ----------
    nodes : NodeTable
        The session's nodes.
    plugins : Plugins
        All that refuse or score nodes.
    tasks : mapping
        One task of each class, by the number of the class.
    judge : callable
        ``judge(task, nodes)``: the scores of one class on several nodes, (K,).
    judge_of : callable
        ``judge_of(task)``: a function that gives the same for one node.

    """

    def __init__(
        self,
        nodes: NodeTable,
        plugins: Plugins,
        tasks: Mapping[int, TaskInfo],
        judge: Judge,
        judge_of: Callable[[TaskInfo], ScoreOf],
    ) -> None:
        self.nodes = nodes
        self._judge_class, self._judge_of = judge, judge_of
        asking = list(tasks.values())
        demands, self._whose = distinct_rows(np.array([task.shape.demand for task in asking]))
        self._asked = np.flatnonzero((demands > -np.inf).any(axis=0))
        self._demands = demands.T[self._asked, np.newaxis]
        self._refusals, self._orders, self._batches = (
            [of_classes(asking) for of_classes in forms] for forms in plugins
        )
        answers = [*self._refusals, *self._orders, *self._batches]
        self._moving = [answer.moving for answer in answers if answer.moving is not None]
        fixed = [answer.fixed for answer in answers if answer.fixed is not None]
        self._kinds = _numbered(fixed, len(nodes))
        self._columns = {number: column for column, number in enumerate(tasks)}
        self._classes: dict[int, _Class] = {}
        self._seen = len(nodes.changes)
        self._waiting: dict[int, tuple[int, Hashable]] = {}
        self._known: dict[Hashable, int] = {}
        self._scores = np.empty((max(MOST_STATES, 2 * len(nodes)), len(asking)))
        self._state_of = np.full(len(nodes), -1, dtype=np.intp)
        states = {node: self._state(node) for node in range(len(nodes))}
        self._all_known = len(set(states.values())) <= len(asking)
        if self._all_known:
            self._judge(states)

    def at_once(self, number: int, task: TaskInfo) -> Scores:
        """Return the scores of a class where it can be allocated at once, else minus infinity, (N,).

        They are those of now, and change when the class is asked again.
        """
        changes = self.nodes.changes
        now = len(changes.entries)
        if self._seen < now:
            self._follow(changes.since(self._seen), now)
        known = self._classes.get(number)
        if known is None:
            known = self._classes[number] = self._ask_first(number, task)
        elif known.seen < now:
            self._catch_up(known)
        return known.scores

    def _follow(self, changed: Iterable[int], now: int) -> None:
        """Find the states of nodes that changed."""
        for node in changed:
            state = self._state(node)
            number = self._known.get(state)
            if number is None:
                self._waiting[node] = now, state
            else:
                self._state_of[node] = number
                self._waiting.pop(node, None)
        if len(self._waiting) > MOST_WAITING:
            self._judge({node: state for node, (_, state) in self._waiting.items()})
            self._waiting.clear()
        self._seen = now

    def _ask_first(self, number: int, task: TaskInfo) -> _Class:
        """Return a class that has not been asked before."""
        column, judge_of_one = self._columns[number], self._judge_of(task)
        if not self._all_known:
            scores = self._judge_class(task, np.arange(len(self.nodes), dtype=np.intp))
            return _Class(column, judge_of_one, scores, len(self.nodes.changes))
        known = _Class(column, judge_of_one, self._scores[self._state_of, column], 0)
        self._catch_up(known)
        return known

    def _catch_up(self, known: _Class) -> None:
        """Copy the scores of the nodes that changed since a class was asked last."""
        seen, scores, column, changes = known.seen, known.scores, known.column, self.nodes.changes
        if self._seen - seen <= FEW_CHANGES:
            for node in changes.entries[seen:]:
                scores[node] = self._scores.item(self._state_of.item(node), column)
        else:
            changed = changes.nodes_since(seen)
            scores[changed] = self._scores[self._state_of.take(changed), column]
        for node, (since, _) in self._waiting.items():
            if since > seen:
                scores[node] = known.judge(node)
        known.seen = self._seen

    def _state(self, node: int) -> Hashable:
        """Return all that is read of a node."""
        idle, future = self.nodes.idle_of[node], self.nodes.future_of[node]
        parts = [moving(node) for moving in self._moving]
        return self._kinds[node], tuple(idle), None if future is idle else tuple(future), *parts

    def _judge(self, states: Mapping[int, Hashable]) -> None:
        """Judge nodes in states that are new, one for each state."""
        alike: dict[Hashable, list[int]] = {}
        for node, state in states.items():
            alike.setdefault(state, []).append(node)
        if len(self._known) + len(alike) > len(self._scores):
            self._forget_past_states()
        first = len(self._known)
        scores = self._judged(as_array([nodes[0] for nodes in alike.values()]))
        self._scores[first : first + len(alike)] = scores
        for number, (state, nodes) in enumerate(alike.items(), first):
            self._known[state] = number
            for node in nodes:
                self._state_of[node] = number

    def _forget_past_states(self) -> None:
        """Number anew those states only that nodes are in."""
        present = np.unique(self._state_of[self._state_of >= 0])
        self._scores[: len(present)] = self._scores[present]
        renamed = {old: new for new, old in enumerate(present.tolist())}
        self._known = {state: renamed[old] for state, old in self._known.items() if old in renamed}
        self._state_of = np.where(self._state_of >= 0, np.searchsorted(present, self._state_of), -1)

    def _judged(self, nodes: Nodes) -> Scores:
        """Return the scores of nodes for each class that can be allocated there at once, (K, C)."""
        numbers = nodes.tolist()
        future_of, idle_of = self.nodes.future_of, self.nodes.idle_of
        possible = self._fits([future_of[node] for node in numbers])
        if any(future_of[node] is not idle_of[node] for node in numbers):
            possible &= self._fits([idle_of[node] for node in numbers])
        for refusals in self._refusals:
            possible &= refusals.on(nodes)
        return np.where(possible, self._score(nodes), NOWHERE)

    def _fits(self, available: Sequence[Sequence[float]]) -> Mask:
        """Tell which classes find enough of everything that they ask for on some nodes, (K, C)."""
        lacking = self._demands - np.array(available).T[self._asked, :, np.newaxis]
        fits: Mask = np.maximum.reduce(lacking) < MIN_RESOURCE
        return fits.take(self._whose, axis=1)

    def _score(self, nodes: Nodes) -> Scores | float:
        """Return the total scores of some nodes, (K, C); one number when nobody scores nodes."""
        return _sum_of(self._orders, nodes) + _sum_of(self._batches, nodes)


class _Class:
    """What is known of one class of tasks.

    Attributes
    ----------
    column : int
        Its position among all classes.
    judge : callable
        ``judge(node)``: its score on one node.
    scores : (N,) float64
        By node.
    seen : int
        How much of the nodes' change log is in the scores.

    """

    __slots__ = ("column", "judge", "scores", "seen")

    def __init__(self, column: int, judge: ScoreOf, scores: Scores, seen: int) -> None:
        self.column = column
        self.judge = judge
        self.scores = scores
        self.seen = seen


def _sum_of(answers: Sequence[ClassAnswers], nodes: Nodes) -> Scores | float:
    """Return the sum of several scores of some nodes, (K, C), added up in order; 0.0 of none."""
    return reduce(add, [scores.on(nodes) for scores in answers]) if answers else 0.0


def _numbered(fixed: Sequence[Sequence[Hashable]], count: int) -> list[int]:
    """Return a number for each node, equal where all these are equal."""
    numbers: dict[Hashable, int] = {}
    if not fixed:
        return [0] * count
    return [numbers.setdefault(parts, len(numbers)) for parts in zip(*fixed, strict=True)]


def distinct_rows(rows: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the distinct ones of some rows, (D, X), and which of them is whose, (C,)."""
    distinct, whose = np.unique(rows, axis=0, return_inverse=True)
    return distinct, whose.reshape(-1)
