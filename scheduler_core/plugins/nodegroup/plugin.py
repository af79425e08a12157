"""Registration of nodegroup's callbacks.

Source: volcano ``pkg/scheduler/plugins/nodegroup/nodegroup.go`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scheduler_core.conf import Arguments
from scheduler_core.framework.class_scores import ClassAnswers
from scheduler_core.framework.session import Session
from scheduler_core.framework.statement import leave_nothing
from scheduler_core.model.fit import FITS, Code, Status, Why
from scheduler_core.model.job import TaskInfo
from scheduler_core.model.node_affinity import PREFERRED, REQUIRED
from scheduler_core.model.queue import ROOT, QueueInfo
from scheduler_core.plugins.nodegroup.limits import GroupLimits
from scheduler_core.release import Rule

NAME = "nodegroup"
GROUP_LABEL = "volcano.sh/nodegroup-name"

REQUIRED_SCORE = 100.0
PREFERRED_SCORE = 50.0
ANTI_PREFERRED_SCORE = -1.0

NO_LABEL = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, "node group label not found", permanent=True)
NO_AFFINITY = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, "node group affinity not specified", permanent=True)
LIMITS_UNREADABLE = Status(
    Code.UNSCHEDULABLE_AND_UNRESOLVABLE, "node group resource limit annotation invalid"
)
LIMIT_EXCEEDED = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, "node group resource limit exceeded")
NOT_SATISFIED = Status(
    Code.UNSCHEDULABLE_AND_UNRESOLVABLE, "node does not satisfy the node group affinity", permanent=True
)


def open_session(session: Session, arguments: Arguments) -> None:
    """Register the callbacks of nodegroup."""
    groups = NodeGroups(
        session,
        strict=arguments.get_bool("strict", True),
        ordered=session.release.follows(Rule.PREFERRED_GROUP_ORDER)
        and arguments.get_bool("enablePreferredOrder", False),
        hierarchy=session.conf.hierarchy_enabled(NAME),
    )
    if groups.limits is not None:
        session.events.add_handler(
            allocate=groups.limits.allocate, deallocate=groups.limits.deallocate, on_discard=leave_nothing
        )
    session.registry.add_predicate(
        NAME,
        groups.predicate,
        class_key=queue_of,
        cacheable_per_node=groups.is_local,
        static_for_class=groups.is_local,
        check_node=groups.check_node,
        check_classes=groups.check_classes,
    )
    session.registry.add_node_order(
        NAME,
        groups.score,
        class_key=queue_of,
        score_node=groups.score_node,
        score_classes=groups.score_classes,
    )


class GroupAffinity(NamedTuple):
    """The node groups of one queue, by name.

    Attributes
    ----------
    preferred : tuple of str
        In the queue's order; a name may occur twice.

    """

    required: frozenset[str] = frozenset()
    preferred: tuple[str, ...] = ()
    anti_required: frozenset[str] = frozenset()
    anti_preferred: frozenset[str] = frozenset()

    @property
    def is_unset(self) -> bool:
        """Return whether it names no group."""
        return not (self.required or self.preferred or self.anti_required or self.anti_preferred)

    def allows(self, group: str) -> bool:
        """Return whether tasks may use a group: an affinity list or preferred anti-affinity names it.

        Required anti-affinity excludes a group; preferred anti-affinity allows it again.
        """
        if group in self.anti_preferred:
            return True
        return group not in self.anti_required and (group in self.required or group in self.preferred)

    def score(self, group: str, *, ordered: bool) -> float:
        """Return the queue's score of a group; with `ordered`, earlier preferred groups score higher.

        Examples
        --------
        >>> GroupAffinity(preferred=("g3", "g1", "g3", "g2")).score("g1", ordered=True)
        33.333333333333336

        """
        if group in self.anti_preferred:
            return ANTI_PREFERRED_SCORE
        score = REQUIRED_SCORE if group in self.required else 0.0
        if group not in self.preferred:
            return score
        if not ordered:
            return score + PREFERRED_SCORE
        last = len(self.preferred) - 1 - self.preferred[::-1].index(group)
        distinct = len(set(self.preferred))
        return score + PREFERRED_SCORE * (distinct - last) / distinct


def read_affinity(affinity: Mapping[str, Any]) -> GroupAffinity:
    """Return the groups that an affinity of a queue names."""
    wanted = affinity.get("nodeGroupAffinity") or {}
    unwanted = affinity.get("nodeGroupAntiAffinity") or {}
    return GroupAffinity(
        frozenset(_names(wanted, REQUIRED)),
        tuple(_names(wanted, PREFERRED)),
        frozenset(_names(unwanted, REQUIRED)),
        frozenset(_names(unwanted, PREFERRED)),
    )


def _names(side: Mapping[str, Any], kind: str) -> Sequence[str]:
    names: Sequence[str] = side.get(kind) or ()
    return names


def affinity_of(
    queue: QueueInfo, queues: Mapping[str, QueueInfo], *, hierarchy: bool
) -> GroupAffinity | None:
    """Return a queue's affinity or, with `hierarchy`, that of its nearest ancestor with one; None if none.

    An unknown parent or a cycle ends the search.
    """
    seen = set()
    while queue.affinity is None:
        seen.add(queue.name)
        parent = queue.parent or ROOT
        if not hierarchy or queue.name == ROOT or parent in seen or parent not in queues:
            return None
        queue = queues[parent]
    return read_affinity(queue.affinity)


def queue_of(task: TaskInfo) -> str:
    """Return the queue of a task, empty if it has no job."""
    return task.job.queue if task.job is not None else ""


class NodeGroups:
    """The refusals and scores of all nodes, computed once per queue."""

    def __init__(self, session: Session, *, strict: bool, ordered: bool, hierarchy: bool) -> None:
        self.session = session
        self.strict = strict
        self.ordered = ordered
        self.hierarchy = hierarchy
        self.groups = [session.nodes.labels(number).get(GROUP_LABEL) for number in range(len(session.nodes))]
        self.limits = (
            GroupLimits(session, self.groups) if session.release.follows(Rule.NODEGROUP_LIMITS) else None
        )
        self._answers: dict[str, tuple[Why, NDArray[np.float64]]] = {}

    def predicate(self, task: TaskInfo, nodes: NDArray[np.intp]) -> Why:
        """Return why each node refuses a task, (K,)."""
        refusals = self._of(task)[0][nodes]
        full = self.limits.full_groups(task) if self.limits is not None else ()
        if not full:
            return refusals
        is_full = np.array([self.groups[node] in full for node in nodes.tolist()], dtype=np.bool_)
        exceeded = self.session.statuses.number(LIMIT_EXCEEDED)
        return np.where(is_full & (refusals == FITS), exceeded, refusals)

    def is_local(self, task: TaskInfo) -> bool:
        """Return whether a node's result depends only on that node: the task's queue has no limits."""
        return self.limits is None or not self.limits.is_limited(task)

    def score(self, task: TaskInfo, nodes: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the score of each node for the task's queue, (K,)."""
        return self._of(task)[1][nodes]

    def check_node(self, task: TaskInfo) -> Callable[[int], int] | None:
        """Return a function for why one node refuses a task; None if limits span several nodes."""
        if not self.is_local(task):
            return None
        refusals: list[int] = self._of(task)[0].tolist()
        return refusals.__getitem__

    def score_node(self, task: TaskInfo) -> Callable[[int], float]:
        """Return a function for the score of one node for the task's queue."""
        scores: list[float] = self._of(task)[1].tolist()
        return scores.__getitem__

    def check_classes(self, tasks: Sequence[TaskInfo]) -> ClassAnswers:
        """Return which of several tasks the nodes accept."""
        allowed = np.array([self._of(task)[0] for task in tasks]) == FITS
        return ClassAnswers(lambda nodes: allowed[:, nodes].T, fixed=self.groups)

    def score_classes(self, tasks: Sequence[TaskInfo]) -> ClassAnswers:
        """Return the scores of nodes for the queues of several tasks."""
        scores = np.array([self._of(task)[1] for task in tasks])
        return ClassAnswers(lambda nodes: scores[:, nodes].T, fixed=self.groups)

    def _of(self, task: TaskInfo) -> tuple[Why, NDArray[np.float64]]:
        assert task.job is not None, "only tasks of a job are placed"
        answers = self._answers.get(task.job.queue)
        if answers is None:
            answers = self._answers[task.job.queue] = self._compute(self.session.queues[task.job.queue])
        return answers

    def _compute(self, queue: QueueInfo) -> tuple[Why, NDArray[np.float64]]:
        unreadable = self.limits is not None and queue.name in self.limits.unreadable
        affinity = affinity_of(queue, self.session.queues, hierarchy=self.hierarchy) or GroupAffinity()
        refusal = {
            group: self.session.statuses.number(LIMITS_UNREADABLE)
            if unreadable
            else self._refusal(affinity, group)
            for group in dict.fromkeys(self.groups)
        }
        score = {
            group: 0.0 if group is None else affinity.score(group, ordered=self.ordered) for group in refusal
        }
        return (
            np.array([refusal[group] for group in self.groups], dtype=np.int32),
            np.array([score[group] for group in self.groups], dtype=np.float64),
        )

    def _refusal(self, affinity: GroupAffinity, group: str | None) -> int:
        if group is None:
            return FITS if affinity.is_unset and not self.strict else self.session.statuses.number(NO_LABEL)
        if affinity.is_unset:
            return self.session.statuses.number(NO_AFFINITY)
        return FITS if affinity.allows(group) else self.session.statuses.number(NOT_SATISFIED)
