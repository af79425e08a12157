"""Where can each class of tasks be allocated at once? All classes are told of a node that changed together.

Nodes that hold the same are answered alike, so that what was once worked out for one serves the next.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scheduler_core.model.fit import FITS, FitErrors, StatusTable, Why, merge_first
from scheduler_core.model.job import TaskInfo
from scheduler_core.model.node import NodeTable
from scheduler_core.resource import MIN_RESOURCE

Nodes = NDArray[np.intp]
Scores = NDArray[np.float64]
Judge = Callable[[TaskInfo, Nodes], tuple[Why, Scores]]

NOWHERE = -np.inf

# So many classes are told of a changed node together; with more of them each catches up when its turn comes.
MOST_CLASSES = 512
# Answers to so many states of nodes are remembered.
MOST_STATES = 4096


class ClassAnswers(NamedTuple):
    """What a plugin answers to several classes of tasks.

    Attributes
    ----------
    on : callable
        ``on(node)``: the answers, (C,), to the classes on one node. Never NaN.
    fixed : sequence, optional
        By node, what of it is read and stays the same all session long; None: nothing.
    moving : callable, optional
        ``moving(node)``: what else is read of a node; None: nothing. Nodes that are equal in both are
        answered alike.

    """

    on: Callable[[int], NDArray[Any]]
    fixed: Sequence[Hashable] | None = None
    moving: Callable[[int], Hashable] | None = None


OfClasses = Callable[[Sequence[TaskInfo]], ClassAnswers]


class Plugins(NamedTuple):
    """Who refuses nodes, and who scores them one by one and all together."""

    refusing: list[OfClasses]
    ordering: list[OfClasses]
    batch_ordering: list[OfClasses]


class Choice:
    """Where a task of one class can be allocated at once.

    Attributes
    ----------
    at_once : (N,) float64
        The score where the task can be allocated at once, else minus infinity.
    seen : int
        How much of the nodes' change log is in the answers.

    """

    __slots__ = ("_bring_up_to_date", "_errors", "_errors_at", "_why", "at_once", "seen")

    def __init__(
        self, why: Why, at_once: Scores, seen: int = 0, bring_up_to_date: Callable[[], None] | None = None
    ) -> None:
        self._why = why
        self._bring_up_to_date = bring_up_to_date
        self.at_once = at_once
        self.seen = seen
        self._errors: FitErrors | None = None
        self._errors_at = seen

    @property
    def why(self) -> Why:
        """Return why each node refuses the task, resources first, (N,); it follows the nodes."""
        if self._bring_up_to_date is not None:
            self._bring_up_to_date()
        return self._why

    def errors(self, statuses: StatusTable) -> FitErrors:
        """Return the refusals as they are kept with a task."""
        if self._errors is None or self._errors_at != self.seen:
            self._errors, self._errors_at = FitErrors(statuses, self.why.copy()), self.seen
        return self._errors


class Choices:
    """The choices of several classes of tasks.

    Parameters
    ----------
    nodes : NodeTable
        The session's nodes.
    plugins : Plugins
        All that refuse or score nodes.
    tasks : dict
        One task of each class, by the number of the class.
    insufficient : (R,) int32
        The number of the status that a node lacks a resource.
    judge : callable
        ``judge(task, nodes)``: both answers to one class on several nodes, (K,) each.

    """

    def __init__(
        self, nodes: NodeTable, plugins: Plugins, tasks: dict[int, TaskInfo], insufficient: Why, judge: Judge
    ) -> None:
        self.nodes = nodes
        asking = list(tasks.values())
        # one more resource, of which everybody lacks some: who lacks no other one fits
        self._demands = np.array([[*task.shape.demand, np.inf] for task in asking])
        self._lacks = np.array([*insufficient, FITS], dtype=np.int32)
        self._refusals, self._orders, self._batches = (
            [of_classes(asking) for of_classes in asked] for asked in plugins
        )
        answers = [*self._refusals, *self._orders, *self._batches]
        self._moving = [answer.moving for answer in answers if answer.moving is not None]
        fixed = [answer.fixed for answer in answers if answer.fixed is not None]
        self._kinds = _numbered(fixed, len(self.nodes))
        self._known: dict[Hashable, tuple[Why, Scores]] = {}
        self._reasons: dict[int, Why] = {}
        self._seen = len(self.nodes.changes)
        self._everywhere: Nodes = np.arange(len(self.nodes), dtype=np.intp)
        self._why = np.empty((len(asking), len(self.nodes)), dtype=np.int32)
        self._at_once = np.empty((len(asking), len(self.nodes)))
        self._judge_class = judge
        self._choices = {
            number: Choice(self._why[row], self._at_once[row], bring_up_to_date=self._write_reasons)
            for row, number in enumerate(tasks)
        }
        states = {self._state(node) for node in range(len(self.nodes))}
        if len(states) <= len(asking):
            self._unknown: set[int] = set()
            self._look_at(range(len(self.nodes)))
        else:
            self._unknown = set(tasks)

    def of(self, number: int, task: TaskInfo) -> Choice:
        """Return the choice of a class, of which this is a task that is being placed, as nodes are now."""
        changes, choice = self.nodes.changes, self._choices[number]
        if self._seen < len(changes):
            self._look_at(changes.since(self._seen))
            self._seen = len(changes)
        if number in self._unknown:
            self._unknown.remove(number)
            choice.why[:], choice.at_once[:] = self._judge_class(task, self._everywhere)
        choice.seen = self._seen
        return choice

    def _look_at(self, nodes: Iterable[int]) -> None:
        """Write the answers of some nodes."""
        for node in nodes:
            state = self._state(node)
            known = self._known.get(state)
            if known is None:
                if len(self._known) == MOST_STATES:
                    self._known.clear()
                known = self._known[state] = self._judge(node)
            self._reasons[node], self._at_once[:, node] = known

    def _write_reasons(self) -> None:
        """Write why nodes that changed refuse the classes."""
        for node, why in self._reasons.items():
            self._why[:, node] = why
        self._reasons.clear()

    def _state(self, node: int) -> Hashable:
        """Return all that is read of a node."""
        idle, future = self.nodes.idle_of[node], self.nodes.future_of[node]
        parts = [moving(node) for moving in self._moving]
        return self._kinds[node], tuple(idle), None if future is idle else tuple(future), *parts

    def _judge(self, node: int) -> tuple[Why, Scores]:
        """Return why a node refuses each class, and its scores where they can be allocated at once, (C,)."""
        idle, future = self.nodes.idle_of[node], self.nodes.future_of[node]
        why = self._short_of(future)
        for refusals in self._refusals:
            why = merge_first(why, refusals.on(node))
        possible = why == FITS
        if future is not idle:
            possible &= self._short_of(idle) == FITS
        return why, np.where(possible, self._score(node), NOWHERE)

    def _short_of(self, available: Sequence[float]) -> Why:
        """Return the first resource, by order of the axis, of which there is not enough, (C,)."""
        lacking = self._demands - np.array([*available, 0.0]) >= MIN_RESOURCE
        why: Why = self._lacks[lacking.argmax(axis=1)]
        return why

    def _score(self, node: int) -> Scores | float:
        """Return the total score of a node for each class, (C,); one number when nobody scores nodes."""
        return _sum_of(self._orders, node) + _sum_of(self._batches, node)


def _sum_of(answers: Sequence[ClassAnswers], node: int) -> Scores | float:
    """Return the sum of several scores of a node, (C,), added up in order; 0.0 of none."""
    return reduce(add, [scores.on(node) for scores in answers]) if answers else 0.0


def _numbered(fixed: Sequence[Sequence[Hashable]], count: int) -> list[int]:
    """Return a number for each node, equal where all these are equal."""
    numbers: dict[Hashable, int] = {}
    if not fixed:
        return [0] * count
    return [numbers.setdefault(parts, len(numbers)) for parts in zip(*fixed, strict=True)]
