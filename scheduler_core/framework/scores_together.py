"""The scores of the classes of tasks that are about to be placed, computed together."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from scheduler_core.framework.class_scores import MOST_CLASSES, ClassScoreMatrix, Plugins
from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.functions import Functions
from scheduler_core.framework.node_columns import FEW
from scheduler_core.framework.node_queries import NodeQueries, Scores
from scheduler_core.framework.plugin_fn import NodeFn
from scheduler_core.model.job import TaskInfo
from scheduler_core.model.node import NodeTable

NODE_POINTS = (Point.PREDICATE, Point.NODE_ORDER, Point.BATCH_NODE_ORDER)


class ScoresTogether:
    """The scores of announced classes where their tasks can be allocated at once."""

    def __init__(self, nodes: NodeTable, functions: Functions, queries: NodeQueries) -> None:
        self._nodes = nodes
        self._functions = functions
        self._queries = queries
        self._prefetched: dict[int, TaskInfo] = {}
        self._matrix: ClassScoreMatrix | None = None

    def announce(self, tasks: Iterable[TaskInfo]) -> None:
        """Announce tasks that will be placed, so that their classes are scored together.

        Previously announced classes are kept unless there are too many, because their scores are up to date.
        """
        known, self._prefetched = self._prefetched, {}
        if len(self._nodes) <= FEW or self._plugins is None:
            return
        seen: set[int] = set()
        for task in tasks:
            number = self._functions.class_of(task)
            if number not in seen:
                seen.add(number)
                if self._is_static(task):
                    self._prefetched[number] = task
                    if len(self._prefetched) == MOST_CLASSES:
                        break
        if self._prefetched.keys() <= known.keys():
            self._prefetched = known
        else:
            self._matrix = None
            if len(known.keys() | self._prefetched.keys()) <= MOST_CLASSES:
                self._prefetched = {**known, **self._prefetched}

    def has(self, task: TaskInfo) -> bool:
        """Return whether a task's class was announced and is scored with others."""
        return self._functions.class_of(task) in self._prefetched

    def at_once(self, task: TaskInfo) -> Scores | None:
        """Return the scores of a task where it can be allocated at once, else minus infinity, (N,).

        None if its class is not scored with others.
        """
        number = self._functions.class_of(task)
        if number not in self._prefetched:
            return None
        if self._matrix is None:
            assert self._plugins is not None, "classes are prefetched where all answer for several"
            self._matrix = ClassScoreMatrix(
                self._nodes, self._plugins, self._prefetched, self._queries.settled_score_of
            )
        return self._matrix.at_once(number, task)

    def _is_static(self, task: TaskInfo) -> bool:
        """Return whether all answers for a task's class follow from the class and the node alone."""
        return all(
            fn.static_for_class(task)
            for point in NODE_POINTS
            for fn in self._functions.of_kind(point, NodeFn)
        )

    @cached_property
    def _plugins(self) -> Plugins | None:
        """Return the plugins' forms for several classes at once, None if one has none."""
        registered = [self._functions.of_kind(point, NodeFn) for point in NODE_POINTS]
        forms = [[fn.for_classes for fn in fns if fn.for_classes] for fns in registered]
        return Plugins(*forms) if sum(map(len, forms)) == sum(map(len, registered)) else None
