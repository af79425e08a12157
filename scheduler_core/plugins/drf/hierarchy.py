"""Hierarchical drf: queue order and reclaim by the annotated tree of queues.

Source: volcano ``pkg/scheduler/plugins/drf/drf.go`` (compareQueues, queue order, reclaimable) at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from scheduler_core.decision import Why
from scheduler_core.framework.observer import Observer
from scheduler_core.framework.session import Session
from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.model.queue import QueueInfo
from scheduler_core.model.status import TaskStatus
from scheduler_core.plugins.drf.share import JobAccount, TotalResource
from scheduler_core.plugins.drf.tree import HierarchyTree, InnerNode, JobLeaf, TreeNode
from scheduler_core.resource import Resource, total_of

NAME = "drf"
RULE = "hdrf.rule"
DESIGN = "design"


class Comparison(NamedTuple):
    """The result of comparing two queues, and the nodes that decided it.

    Attributes
    ----------
    order : float
        Below 0: left first. NaN, from a weight of NaN: neither.
    left, right : str
        The nodes of the two paths that were compared last.
    mine, theirs : float
        The shares per weight of these nodes.

    """

    order: float
    left: str
    right: str
    mine: float
    theirs: float


class Hierarchy:
    """The callbacks of drf with `enableHierarchy`.

    Parameters
    ----------
    by_design : bool
        Whether the rule of the HDRF design document replaces the release's (argument `hdrf.rule: design`).

    """

    def __init__(
        self, session: Session, accounts: Mapping[str, JobAccount], total: TotalResource, *, by_design: bool
    ) -> None:
        self.session = session
        self.accounts = accounts
        self.tree = HierarchyTree(session.nodes.axis, total, by_design=by_design)
        for key, account in accounts.items():
            job = account.job
            request = outstanding(job) if by_design else job.total_request()
            self.tree.add_job(key, session.queues[job.queue], account.allocated, request)
        self.tree.complete()
        self._paths = {name: queue.hierarchy.split("/") for name, queue in session.queues.items()}
        if session.observer.listens:
            self._report_paths(session.observer)

    # queue order

    def queue_order(self, left: QueueInfo, right: QueueInfo) -> int:
        """Return below 0 if `left` is first; see `compare`."""
        order = self.compare(left, right).order
        return (order > 0) - (order < 0)

    def compare(self, left: QueueInfo, right: QueueInfo) -> Comparison:
        """Compare two queues from the root down to the depth of the shorter path.

        At the first difference a saturated node is last; otherwise the smaller share per weight is first.
        """
        self.tree.refresh()
        left_path, right_path = self._paths[left.name], self._paths[right.name]
        mine: TreeNode = self.tree.root
        theirs: TreeNode = self.tree.root
        depth = min(len(left_path), len(right_path))
        for level in range(depth):
            if mine.saturated != theirs.saturated:
                return _comparison(1.0 if mine.saturated else -1.0, mine, theirs)
            if mine.ratio != theirs.ratio:
                return _comparison(mine.ratio - theirs.ratio, mine, theirs)
            if level < depth - 1:
                mine = _child(mine, left_path[level + 1])
                theirs = _child(theirs, right_path[level + 1])
        return _comparison(0.0, mine, theirs)

    # reclaim

    def reclaimable(
        self, reclaimer: TaskInfo, candidates: Sequence[TaskInfo], why: Why | None
    ) -> list[TaskInfo]:
        """Return, in order, the candidates that the reclaimer can replace with its queue still first.

        Each candidate is compared on its own, against the current state.
        """
        account = self.accounts.get(reclaimer.job.key) if reclaimer.job is not None else None
        if account is None:
            return []
        tree, total = self.tree, self.tree.total_allocated
        grown = account.allocated.clone().add(reclaimer.request)
        tree.set_allocated(account.job.key, grown, total.clone().add(reclaimer.request))
        queue = self.session.queues[account.job.queue]
        accepted = []
        for task in candidates:
            theirs = self.accounts.get(task.job.key) if task.job is not None else None
            if theirs is None:
                continue
            comparison = self._compare_without(task, theirs, queue)
            if comparison.order < 0:
                accepted.append(task)
            if why is not None:
                why[task.uid] = _explain(comparison)
        tree.set_allocated(account.job.key, account.allocated, total)
        return accepted

    def _compare_without(self, task: TaskInfo, theirs: JobAccount, queue: QueueInfo) -> Comparison:
        """Compare the reclaimer's queue with that of a candidate after removing the candidate."""
        tree, total = self.tree, self.tree.total_allocated
        shrunk = theirs.allocated.clone().sub(task.request)
        tree.set_allocated(theirs.job.key, shrunk, total.clone().sub(task.request))
        comparison = self.compare(queue, self.session.queues[theirs.job.queue])
        tree.set_allocated(theirs.job.key, theirs.allocated, total)
        return comparison

    # events

    def allocate(self, account: JobAccount, request: Resource) -> None:
        """Update the tree for an allocated task, which its job's account already includes."""
        self.tree.set_allocated(account.job.key, account.allocated, self.tree.total_allocated.add(request))

    def deallocate(self, account: JobAccount, request: Resource) -> None:
        """Update the tree for a deallocated task, which its job's account already excludes."""
        self.tree.set_allocated(account.job.key, account.allocated, self.tree.total_allocated.sub(request))

    # report

    def report(self) -> list[dict[str, Any]]:
        """Return every node, each before its children."""
        self.tree.refresh()
        return [self._figures(node) for node in self.tree.root.walk()]

    def _figures(self, node: TreeNode) -> dict[str, Any]:
        leaf = isinstance(node, JobLeaf)
        return {
            "path": node.path,
            "leaf": leaf,
            "weight": node.weight,
            "share": node.share.value,
            "dominantResource": node.share.resource,
            "saturated": node.saturated,
            "allocated": node.allocated if isinstance(node, JobLeaf) else self._inner_allocated(node),
            "request": node.request if isinstance(node, JobLeaf) else Resource(),
        }

    def _inner_allocated(self, node: TreeNode) -> Resource:
        assert isinstance(node, InnerNode), "only jobs are leaves"
        allocated = self.tree.axis.resource(node.allocated.tolist())
        allocated.scalars = {
            name: amount for name, amount in (allocated.scalars or {}).items() if amount
        } or None
        return allocated

    def _report_paths(self, observer: Observer) -> None:
        """Report, for every queue, the numbers of its path from the root down."""
        self.tree.refresh()
        for name in sorted({account.job.queue for account in self.accounts.values()}):
            nodes: list[TreeNode] = [self.tree.root]
            for part in self._paths[name][1:]:
                nodes.append(_child(nodes[-1], part))
            observer.derived(NAME, name, [self._step(level, node) for level, node in enumerate(nodes)])

    def _step(self, level: int, node: TreeNode) -> dict[str, Any]:
        return {
            "level": level,
            "node": node.path,
            "weight": node.weight,
            "share": node.share.value,
            "dominantResource": node.share.resource,
            "share_per_weight": node.ratio,
            "saturated": node.saturated,
            "allocated": self._inner_allocated(node),
        }


def outstanding(job: JobInfo) -> Resource:
    """Return the allocated and still requested amounts of a job, without finished tasks."""
    pending = job.by_status[TaskStatus.PENDING].values()
    return total_of([job.allocated, *(task.request for task in pending)])


def _child(node: TreeNode, key: str) -> TreeNode:
    assert isinstance(node, InnerNode), "a queue's path leads over inner nodes"
    return node.children[key]


def _comparison(order: float, left: TreeNode, right: TreeNode) -> Comparison:
    return Comparison(order, left.path, right.path, left.ratio, right.ratio)


def _explain(comparison: Comparison) -> tuple[str, dict[str, Any]]:
    relation = "would still be ahead of" if comparison.order < 0 else "would not be ahead of"
    return f"{comparison.left} {relation} {comparison.right} without this pod", {
        "share_per_weight": comparison.mine,
        "victim": comparison.theirs,
    }
