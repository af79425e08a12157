"""Scores per class of tasks on nodes with enough idle; changed nodes are scored for all classes together.

Nodes that hold the same are answered alike, so that what was once worked out for one serves the next.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scheduler_core.framework.numbering import distinct_rows, numbered
from scheduler_core.model.changes import as_array
from scheduler_core.model.job import TaskInfo
from scheduler_core.model.node import NodeTable
from scheduler_core.resource import MIN_RESOURCE

Nodes = NDArray[np.intp]
Scores = NDArray[np.float64]
Mask = NDArray[np.bool_]
ScoreOf = Callable[[int], float]

NOWHERE = -np.inf

# The state of a node with less of some resource idle than any class requests.
FULL = ()

# So many nodes in a new state wait to be judged together; classes in need of them judge them one by one.
MOST_WAITING = 8

# So many classes take over a changed node together; each of the others catches up when its turn comes.
MOST_CLASSES = 512
# Answers to so many states of nodes are remembered, and to twice as many as there are nodes.
MOST_STATES = 4096
# So many answers, to all classes together, are worked out in one go.
MOST_ANSWERS = 65536


class ClassAnswers(NamedTuple):
    """What a plugin answers to several classes of tasks.

    Attributes
    ----------
    on : callable
        ``on(nodes)``: the answers, (K, C), to the classes on some nodes, (K,): of a filter whether the nodes
        take them, of a score the scores, never NaN.
    fixed : sequence, optional
        By node, what of it is read and stays the same all session long; None: nothing.
    changing : callable, optional
        ``moving(node)``: what else is read of a node; None: nothing. Nodes that are equal in both are
        answered alike.

    """

    on: Callable[[Nodes], NDArray[Any]]
    fixed: Sequence[Hashable] | None = None
    changing: Callable[[int], Hashable] | None = None


OfClasses = Callable[[Sequence[TaskInfo]], ClassAnswers]


class Plugins(NamedTuple):
    """Who refuses nodes, and who scores them one by one and all together."""

    refusing: list[OfClasses]
    ordering: list[OfClasses]
    batch_ordering: list[OfClasses]


class ClassScoreMatrix:
    """Where several classes of tasks can be allocated at once.

    Each state that a node is found in has a number and one row of scores, (C,), once it has been judged. A
    node that comes to such a state gets its scores for all classes. Nodes in a new state wait until there
    are some of them; until then a class in need of them judges them for itself.

    Parameters
    ----------
    nodes : NodeTable
        The session's nodes.
    plugins : Plugins
        All that refuse or score nodes.
    tasks : mapping
        One task of each class, by the number of the class.
    judge_of : callable
        ``judge_of(task)``: a function that gives the score of one node for one class.

    """

    def __init__(
        self,
        nodes: NodeTable,
        plugins: Plugins,
        tasks: Mapping[int, TaskInfo],
        judge_of: Callable[[TaskInfo], ScoreOf],
    ) -> None:
        self.nodes = nodes
        self._judge_of = judge_of
        asking = list(tasks.values())
        demands, self._whose = distinct_rows(np.array([task.shape.demand for task in asking]))
        self._requested = np.flatnonzero((demands > -np.inf).any(axis=0))
        self._demands = demands.T[self._requested, np.newaxis]
        least = enumerate(demands.min(axis=0).tolist())
        self._least = [(position, amount) for position, amount in least if amount > -np.inf]
        self._refusals, self._orders, self._batches = (
            [of_classes(asking) for of_classes in forms] for forms in plugins
        )
        columns = [*self._refusals, *self._orders, *self._batches]
        self._changing = [answer.changing for answer in columns if answer.changing is not None]
        fixed = [answer.fixed for answer in columns if answer.fixed is not None]
        self._kinds = numbered(zip(*fixed, strict=True))[1] if fixed else [0] * len(nodes)
        self._columns = {number: column for column, number in enumerate(tasks)}
        self._classes: dict[int, _Class] = {}
        self._seen = len(nodes.changes)
        self._waiting: dict[int, tuple[int, Hashable]] = {}
        self._known: dict[Hashable, int] = {}
        self._scores = np.empty((max(MOST_STATES, 2 * len(nodes)), len(asking)))
        self._by_class = np.empty((len(asking), len(nodes)))
        self._state_of = [0] * len(nodes)
        self._judge({node: self._state(node) for node in range(len(nodes))})

    def at_once(self, number: int, task: TaskInfo) -> Scores:
        """Return the scores of a class where it can be allocated at once, else minus infinity, (N,).

        They are those of now, and change when a class is placed again.
        """
        changes = self.nodes.changes
        if self._seen < len(changes):
            self._follow(changes.since(self._seen), len(changes))
        known = self._classes.get(number)
        if known is None:
            scores = self._by_class[self._columns[number]]
            known = self._classes[number] = _Class(self._judge_of(task), scores)
        if self._waiting:
            self._judge_waiting(known)
        return known.scores

    def _follow(self, changed: Iterable[int], now: int) -> None:
        """Find the states of nodes that changed."""
        for node in changed:
            state = self._state(node)
            number = self._known.get(state)
            if number is None:
                self._waiting[node] = now, state
            elif self._waiting.pop(node, None) or self._state_of[node] != number:
                self._enter(node, number)
        if len(self._waiting) > MOST_WAITING:
            self._judge({node: state for node, (_, state) in self._waiting.items()})
            self._waiting.clear()
        self._seen = now

    def _judge_waiting(self, known: _Class) -> None:
        """Have a class judge the nodes that wait, as far as it has not done so."""
        seen, judge, scores = known.seen, known.judge, known.scores
        for node, (since, _) in self._waiting.items():
            if since > seen:
                scores[node] = judge(node)
        known.seen = self._seen

    def _state(self, node: int) -> Hashable:
        """Return all that is read of a node, or that it is full: then it takes no class at once."""
        idle, future = self.nodes.idle_of[node], self.nodes.future_of[node]
        for position, amount in self._least:
            if amount - idle[position] >= MIN_RESOURCE:
                return FULL
        ahead = None if future is idle else tuple(future)
        return self._kinds[node], tuple(idle), ahead, *[changing(node) for changing in self._changing]

    def _judge(self, states: Mapping[int, Hashable]) -> None:
        """Judge nodes in states that are new, one for each state."""
        alike: dict[Hashable, list[int]] = {}
        for node, state in states.items():
            alike.setdefault(state, []).append(node)
        if len(self._known) + len(alike) > len(self._scores):
            self._forget_past_states()
        first = len(self._known)
        representatives = as_array([nodes[0] for nodes in alike.values()])
        self._scores[first : first + len(alike)] = self._judged(representatives)
        for number, (state, nodes) in enumerate(alike.items(), first):
            self._known[state] = number
            for node in nodes:
                self._enter(node, number)

    def _enter(self, node: int, number: int) -> None:
        """Give a node that has come to a known state its scores."""
        self._state_of[node] = number
        self._by_class[:, node] = self._scores[number]

    def _forget_past_states(self) -> None:
        """Number anew those states only that nodes are in."""
        present = sorted(set(self._state_of))
        self._scores[: len(present)] = self._scores[present]
        renamed = {old: new for new, old in enumerate(present)}
        self._known = {state: renamed[old] for state, old in self._known.items() if old in renamed}
        self._state_of = [renamed[old] for old in self._state_of]

    def _judged(self, nodes: Nodes) -> Scores:
        """Return the scores of nodes for each class that can be allocated there at once, (K, C)."""
        parts = len(nodes) * len(self._columns) // MOST_ANSWERS + 1
        if parts > 1:
            return np.concatenate([self._judged(part) for part in np.array_split(nodes, parts)])
        numbers = nodes.tolist()
        possible = self._fits([self.nodes.future_of[node] for node in numbers])
        if not self.nodes.releasing_or_pipelined.isdisjoint(numbers):
            possible &= self._fits([self.nodes.idle_of[node] for node in numbers])
        for refusals in self._refusals:
            possible &= refusals.on(nodes)
        return np.where(possible, self._score(nodes), NOWHERE)

    def _fits(self, available: Sequence[Sequence[float]]) -> Mask:
        """Return which classes find enough of everything that they request on some nodes, (K, C)."""
        lacking = self._demands - np.array(available).T[self._requested, :, np.newaxis]
        fits: Mask = np.maximum.reduce(lacking) < MIN_RESOURCE
        return fits.take(self._whose, axis=1)

    def _score(self, nodes: Nodes) -> Scores | float:
        """Return the total scores of some nodes, (K, C); one number when nobody scores nodes."""
        return _sum_of(self._orders, nodes) + _sum_of(self._batches, nodes)


class _Class:
    """What is known of one class of tasks.

    Attributes
    ----------
    judge : callable
        ``judge(node)``: its score on one node.
    scores : (N,) float64
        By node.
    seen : int
        The nodes that wait since changes up to this one have been judged by the class.

    """

    __slots__ = ("judge", "scores", "seen")

    def __init__(self, judge: ScoreOf, scores: Scores) -> None:
        self.judge = judge
        self.scores = scores
        self.seen = 0


def _sum_of(columns: Sequence[ClassAnswers], nodes: Nodes) -> Scores | float:
    """Return the sum of several scores of some nodes, (K, C), added up in order; 0.0 of none."""
    return reduce(add, [scores.on(nodes) for scores in columns]) if columns else 0.0
