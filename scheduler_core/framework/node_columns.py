"""Columns: the plugins' answers for one class of tasks on every node, kept up to date."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scheduler_core.model.changes import ChangeLog, as_array
from scheduler_core.model.fit import FitErrors
from scheduler_core.model.job import TaskInfo

Nodes = NDArray[np.intp]

# Up to this number of nodes are examined one by one, because calls of numpy would take longer.
FEW = 40

# Up to this number if one class is examined, because most nodes of a full cluster refuse it at once.
FEW_OF_A_CLASS = 100


def no_form(_task: TaskInfo) -> None:
    """Return None: the query has no form for a single node."""


@dataclass(eq=False, repr=False)
class NodeQuery:
    """One query about nodes for a class of tasks.

    Attributes
    ----------
    kind : dtype
        The dtype of the answers.
    of_many : callable
        ``of_many(task, nodes)``: the answers on several nodes, (K,).
    of_one : callable
        ``of_one(task)``: a function that returns the answer for one node; None if there is none.

    """

    kind: type[Any]
    of_many: Callable[[TaskInfo, Nodes], NDArray[Any]]
    of_one: Callable[[TaskInfo], Callable[[int], Any] | None] = no_form


class NodeColumn:
    """The answers for one class of tasks on every node, updated when they are read."""

    __slots__ = ("_changes", "_of_one", "_query", "_seen", "_values")

    def __init__(self, query: NodeQuery, task: TaskInfo, everywhere: Nodes, changes: ChangeLog) -> None:
        self._query = query
        self._of_one = query.of_one(task)
        self._values: NDArray[Any] = np.ones(len(everywhere), dtype=query.kind)
        self._changes = changes
        self._seen = len(changes)
        self._query_nodes(task, everywhere if len(everywhere) > FEW_OF_A_CLASS else range(len(everywhere)))

    def now(self, task: TaskInfo) -> NDArray[Any]:
        """Return the current answers for a task of the class, (N,); the next call changes the array."""
        seen, now = self._seen, len(self._changes)
        if seen < now:
            self._seen = now
            self._query_nodes(task, self._changes.since(seen))
        return self._values

    def _query_nodes(self, task: TaskInfo, nodes: Collection[int] | Nodes) -> None:
        """Query some nodes, one by one if they are few."""
        of_one = self._of_one
        if of_one is not None and len(nodes) <= FEW_OF_A_CLASS:
            values = self._values
            for node in nodes:
                values[node] = of_one(node)
        else:
            numbers = nodes if isinstance(nodes, np.ndarray) else as_array(nodes)
            self._values[numbers] = self._query.of_many(task, numbers)


class Row:
    """The cached answers for one class of tasks.

    Attributes
    ----------
    is_local : bool
        Whether all answers about a node hold until the node changes.
    has_local_scores : bool
        Whether all scores do.
    keeps_refusals : bool or None
        Whether a node that refuses a task permanently always does, also with other refusals before that one;
        None: not known yet.
    columns : dict
        The columns, by query.
    errors : FitErrors or None
        The refusals in the form stored with tasks, with the number of logged changes at that time.

    """

    __slots__ = ("columns", "errors", "errors_at", "has_local_scores", "is_local", "keeps_refusals")

    def __init__(self, *, is_local: bool, has_local_scores: bool) -> None:
        self.is_local = is_local
        self.has_local_scores = has_local_scores
        self.keeps_refusals: bool | None = None
        self.columns: dict[NodeQuery, NodeColumn] = {}
        self.errors: FitErrors | None = None
        self.errors_at = 0
