"""Bounds on the votes of plugins, for all tasks of a queue at once, in the search for victims.

Each kind of bound accepts at least the tasks that the plugin accepts on a node if all of them are candidates.
With a bound from every plugin, nodes where evictions cannot help are found without examining their pods, see
`scheduler_core.victims`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from scheduler_core.model.job import JobInfo
from scheduler_core.model.pod import PodShape
from scheduler_core.model.pod_kind import PodKind

Fact = Callable[[PodKind, str], bool]


class StaticBound(NamedTuple):
    """The exact answer of a plugin that decides only by the kind of pod and the namespace.

    Attributes
    ----------
    fact : callable
        ``fact(kind, namespace)``: whether tasks of such pods are accepted.

    """

    fact: Fact


class PerJobBound(NamedTuple):
    """The exact answer of a plugin that accepts a limited number of each job's tasks on a node.

    Attributes
    ----------
    most : callable
        ``most(job, priority)``: how many of a job's tasks are accepted on a node if all of them are
        candidates. The number changes only when a task of the job changes its status. `priority` is that of
        the preemptor's job; None for reclaim, where the reclaimer does not matter.

    """

    most: Callable[[JobInfo, int | None], float]


class PerShapeBound(NamedTuple):
    """An upper bound for a plugin that decides by the allocated amount of the task's queue.

    Attributes
    ----------
    accepts : callable
        ``accepts(queue, shapes)``: whether tasks of each shape might be accepted.

    """

    accepts: Callable[[str, tuple[PodShape, ...]], list[bool]]


ExactBound = StaticBound | PerJobBound
PluginBound = ExactBound | PerShapeBound
