"""Bounds that plugins give for all tasks of a queue at once in the search for victims.

Each kind of bound accepts at least the tasks that the plugin accepts on a node where all of them are offered
together. With a bound from every plugin the nodes where evictions cannot help are known without a look at
their pods, see `scheduler_core.victims`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from scheduler_core.model.job import JobInfo
from scheduler_core.model.pod import PodShape
from scheduler_core.model.pod_kind import PodKind

Fact = Callable[[PodKind, str], bool]


class StaticBound(NamedTuple):
    """The exact answer of a plugin that judges each task by what never changes.

    Attributes
    ----------
    fact : callable
        ``fact(kind, namespace)``: whether tasks of such pods are accepted.

    """

    fact: Fact


class PerJobBound(NamedTuple):
    """The exact answer of a plugin that accepts the first so many of a job's tasks on a node.

    Attributes
    ----------
    most : callable
        ``most(job, priority)``: how many of a job's tasks are accepted on a node where all of them are
        offered, a number that changes only when a task of the job changes its status. `priority` is that of
        the preemptor's job; None: the reclaimer does not matter.

    """

    most: Callable[[JobInfo, int | None], float]


class PerShapeBound(NamedTuple):
    """What a plugin accepts at most, as it judges tasks by what their queue has allocated.

    Attributes
    ----------
    accepts : callable
        ``accepts(queue, shapes)``: whether tasks of each shape might be accepted.

    """

    accepts: Callable[[str, tuple[PodShape, ...]], list[bool]]


ExactBound = StaticBound | PerJobBound
PluginBound = ExactBound | PerShapeBound
