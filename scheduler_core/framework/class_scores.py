"""Scores of classes of tasks on nodes with enough idle; changed nodes are scored for all classes together.

Nodes in the same state get the same answers, so each state is scored once.
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

# Up to this number, nodes in new states wait to be scored together; a class that needs one scores it alone.
MOST_WAITING = 8

# At most this number of classes are scored together.
MOST_CLASSES = 512
# Scores are cached for this number of node states, or for twice the number of nodes if that is more.
MOST_STATES = 4096
# The number of scores, over all classes, that are computed in one pass.
MOST_ANSWERS = 65536


class ClassAnswers(NamedTuple):
    """A plugin's answers for several classes of tasks.

    Attributes
    ----------
    on : callable
        ``on(nodes)``: the answers for the classes on some nodes, (K, C): a filter returns whether the nodes
        accept them, a score the scores, never NaN.
    fixed : sequence, optional
        By node, the constant part of its state that the answers depend on; None: nothing.
    changing : callable, optional
        ``changing(node)``: the changing part of a node's state that the answers depend on; None: nothing.
        Nodes that are equal in both parts get the same answers.

    """

    on: Callable[[Nodes], NDArray[Any]]
    fixed: Sequence[Hashable] | None = None
    changing: Callable[[int], Hashable] | None = None


OfClasses = Callable[[Sequence[TaskInfo]], ClassAnswers]


class Plugins(NamedTuple):
    """The plugins that refuse nodes, score nodes one by one, and score all nodes together."""

    refusing: list[OfClasses]
    ordering: list[OfClasses]
    batch_ordering: list[OfClasses]


class ClassScoreMatrix:
    """The scores of the nodes where each of several classes of tasks can be allocated at once.

    Each node state has a number and, once scored, one row of scores, (C,). A node that enters a known state
    gets the scores of that state for all classes. Nodes in new states are collected and scored together; a
    class that needs one of them earlier scores it for itself.

    Parameters
    ----------
    nodes : NodeTable
        The session's nodes.
    plugins : Plugins
        The plugins that refuse or score nodes.
    tasks : mapping
        One task of each class, by the number of the class.
    scorer_of : callable
        ``scorer_of(task)``: a function that gives the score of one node for one class.

    """

    def __init__(
        self,
        nodes: NodeTable,
        plugins: Plugins,
        tasks: Mapping[int, TaskInfo],
        scorer_of: Callable[[TaskInfo], ScoreOf],
    ) -> None:
        self.nodes = nodes
        self._scorer_of = scorer_of
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
        self._score_states({node: self._state(node) for node in range(len(nodes))})

    def at_once(self, number: int, task: TaskInfo) -> Scores:
        """Return the scores of a class where it can be allocated at once, else minus infinity, (N,)."""
        changes = self.nodes.changes
        if self._seen < len(changes):
            self._follow(changes.since(self._seen), len(changes))
        known = self._classes.get(number)
        if known is None:
            scores = self._by_class[self._columns[number]]
            known = self._classes[number] = _Class(self._scorer_of(task), scores)
        if self._waiting:
            self._score_waiting(known)
        return known.scores

    def _follow(self, changed: Iterable[int], now: int) -> None:
        """Look up the new states of changed nodes."""
        for node in changed:
            state = self._state(node)
            number = self._known.get(state)
            if number is None:
                self._waiting[node] = now, state
            elif self._waiting.pop(node, None) or self._state_of[node] != number:
                self._enter(node, number)
        if len(self._waiting) > MOST_WAITING:
            self._score_states({node: state for node, (_, state) in self._waiting.items()})
            self._waiting.clear()
        self._seen = now

    def _score_waiting(self, known: _Class) -> None:
        """Score the waiting nodes that the class has not yet scored."""
        seen, scorer, scores = known.seen, known.scorer, known.scores
        for node, (since, _) in self._waiting.items():
            if since > seen:
                scores[node] = scorer(node)
        known.seen = self._seen

    def _state(self, node: int) -> Hashable:
        """Return everything that scores depend on, or `FULL` if the node takes no class at once."""
        idle, future = self.nodes.idle_of[node], self.nodes.future_of[node]
        for position, amount in self._least:
            if amount - idle[position] >= MIN_RESOURCE:
                return FULL
        ahead = None if future is idle else tuple(future)
        return self._kinds[node], tuple(idle), ahead, *[changing(node) for changing in self._changing]

    def _score_states(self, states: Mapping[int, Hashable]) -> None:
        """Score the nodes in new states, one node for each state."""
        alike: dict[Hashable, list[int]] = {}
        for node, state in states.items():
            alike.setdefault(state, []).append(node)
        if len(self._known) + len(alike) > len(self._scores):
            self._forget_past_states()
        first = len(self._known)
        representatives = as_array([nodes[0] for nodes in alike.values()])
        self._scores[first : first + len(alike)] = self._scored(representatives)
        for number, (state, nodes) in enumerate(alike.items(), first):
            self._known[state] = number
            for node in nodes:
                self._enter(node, number)

    def _enter(self, node: int, number: int) -> None:
        """Give a node the scores of a known state."""
        self._state_of[node] = number
        self._by_class[:, node] = self._scores[number]

    def _forget_past_states(self) -> None:
        """Drop the states of no node and renumber the others."""
        present = sorted(set(self._state_of))
        self._scores[: len(present)] = self._scores[present]
        renamed = {old: new for new, old in enumerate(present)}
        self._known = {state: renamed[old] for state, old in self._known.items() if old in renamed}
        self._state_of = [renamed[old] for old in self._state_of]

    def _scored(self, nodes: Nodes) -> Scores:
        """Return the scores of nodes for each class that can be allocated there at once, (K, C)."""
        parts = len(nodes) * len(self._columns) // MOST_ANSWERS + 1
        if parts > 1:
            return np.concatenate([self._scored(part) for part in np.array_split(nodes, parts)])
        numbers = nodes.tolist()
        possible = self._fits([self.nodes.future_of[node] for node in numbers])
        if not self.nodes.releasing_or_pipelined.isdisjoint(numbers):
            possible &= self._fits([self.nodes.idle_of[node] for node in numbers])
        for refusals in self._refusals:
            possible &= refusals.on(nodes)
        return np.where(possible, self._score(nodes), NOWHERE)

    def _fits(self, available: Sequence[Sequence[float]]) -> Mask:
        """Return which classes fit the available amounts of some nodes, (K, C)."""
        lacking = self._demands - np.array(available).T[self._requested, :, np.newaxis]
        fits: Mask = np.maximum.reduce(lacking) < MIN_RESOURCE
        return fits.take(self._whose, axis=1)

    def _score(self, nodes: Nodes) -> Scores | float:
        """Return the total scores of some nodes, (K, C); one number without scoring plugins."""
        return _sum_of(self._orders, nodes) + _sum_of(self._batches, nodes)


class _Class:
    """The scores of one class of tasks.

    Attributes
    ----------
    scorer : callable
        ``scorer(node)``: its score on one node.
    scores : (N,) float64
        By node.
    seen : int
        The number of changes up to which the class has scored the waiting nodes.

    """

    __slots__ = ("scorer", "scores", "seen")

    def __init__(self, scorer: ScoreOf, scores: Scores) -> None:
        self.scorer = scorer
        self.scores = scores
        self.seen = 0


def _sum_of(columns: Sequence[ClassAnswers], nodes: Nodes) -> Scores | float:
    """Return the sum of several scores of some nodes, (K, C), added in order; 0.0 if there are none."""
    return reduce(add, [scores.on(nodes) for scores in columns]) if columns else 0.0
