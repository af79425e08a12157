"""The tree of hierarchical drf: the nodes of the annotated paths, with jobs as leaves.

Source: volcano ``pkg/scheduler/plugins/drf/drf.go`` (buildHierarchy, updateHierarchicalShare) at v1.15.1.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from scheduler_core.errors import SchedulerPanic
from scheduler_core.model.axis import ResourceAxis
from scheduler_core.model.queue import ROOT, QueueInfo
from scheduler_core.plugins.drf.share import NOTHING, Share, TotalResource
from scheduler_core.resource import Resource

Matrix = NDArray[np.float64]
Mask = NDArray[np.bool_]

_NUMBER = re.compile(
    r"[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|inf|infinity|nan)", re.ASCII | re.IGNORECASE
)


class TreeNode:
    """A node of the tree.

    Attributes
    ----------
    path : str
        The keys from the root down; a job's is prefixed with ``job:``.
    position : int
        Its row in the arrays of its parent.
    share : Share
        The dominant share of its allocated amount.
    saturated : bool
        Whether nothing more can be allocated to it.

    """

    def __init__(self, weight: float, path: str) -> None:
        self.weight = weight
        self.path = path
        self.position = 0
        self.share: Share = NOTHING
        self.saturated = False

    @property
    def ratio(self) -> float:
        """Return the share per weight; the node with the smaller one is first."""
        return self.share.value / self.weight


class JobLeaf(TreeNode):
    """A job in the tree, with its allocated and its total requested amounts."""

    def __init__(self, key: str, parent: InnerNode, allocated: Resource, request: Resource) -> None:
        super().__init__(1.0, f"{parent.path}/job:{key}")
        self.parent = parent
        self.allocated = allocated
        self.request = request


class InnerNode(TreeNode):
    """A queue, or a group of queues.

    Attributes
    ----------
    children : dict
        Nodes and jobs by key, ascending once the tree is complete.
    children_allocated : (C, R) float64
        The allocated amount of each child, on the session's resource axis.
    shares : (C,) float64
        Each child's dominant share.
    blocked : (C,) bool
        Which children are saturated.
    allocated : (R,) float64
        The sum over the children, after rescaling.

    """

    def __init__(self, key: str, weight: float, parent: InnerNode | None) -> None:
        super().__init__(weight, f"{parent.path}/{key}" if parent is not None else key)
        self.parent = parent
        self.depth: int = parent.depth + 1 if parent is not None else 0
        self.children: dict[str, TreeNode] = {}
        self.children_allocated: Matrix = np.zeros((0, 0))
        self.shares: Matrix = np.zeros(0)
        self.blocked: Mask = np.zeros(0, dtype=np.bool_)
        self.allocated: Matrix = np.zeros(0)

    def complete(self, resources: int) -> None:
        """Sort the children and allocate their arrays, recursively."""
        self.children = dict(sorted(self.children.items()))
        self.children_allocated = np.zeros((len(self.children), resources))
        self.shares = np.zeros(len(self.children))
        self.blocked = np.zeros(len(self.children), dtype=np.bool_)
        self.allocated = np.zeros(resources)
        for position, child in enumerate(self.children.values()):
            child.position = position
            if isinstance(child, InnerNode):
                child.complete(resources)

    def store(self, child: TreeNode, allocated: Matrix) -> None:
        """Write a child's numbers into the arrays."""
        self.children_allocated[child.position] = allocated
        self.shares[child.position] = child.share.value
        self.blocked[child.position] = child.saturated

    def walk(self) -> Iterator[TreeNode]:
        """Yield this node and everything below it, children by key."""
        yield self
        for child in self.children.values():
            if isinstance(child, InnerNode):
                yield from child.walk()
            else:
                yield child


def rescaled_sum(allocated: Matrix, shares: Matrix, blocked: Mask, *, idle_children_count: bool) -> Matrix:
    """Return the allocated amount of an inner node.

    Children that are not blocked are scaled down to the smallest dominant share among them; blocked ones are
    added unscaled.

    Parameters
    ----------
    allocated : (C, R) float64
        The allocated amount of each child.
    shares : (C,) float64
        Each child's dominant share; a child whose share is 0 adds nothing.
    blocked : (C,) bool
        Which children are saturated.
    idle_children_count : bool
        Whether a child that has nothing allocated and is not blocked counts for the smallest share.

    Returns
    -------
    (R,) float64

    Notes
    -----
    Volcano adds the children in random order; here they are added in the order of the rows.

    Examples
    --------
    Two children with two and four cores, neither blocked: both count as two.

    >>> rescaled_sum(
    ...     np.array([[2.0, 0.0], [0.0, 4.0]]),
    ...     np.array([0.2, 0.4]),
    ...     np.array([False, False]),
    ...     idle_children_count=False,
    ... )
    array([2., 2.])

    """
    active = shares != 0
    scaled = ~blocked if idle_children_count else active & ~blocked
    smallest = min(1.0, float(shares[scaled].min(initial=1.0)))
    ratio = np.ones(len(shares))
    np.divide(smallest, shares, out=ratio, where=scaled & active)
    if not active.any():
        return np.zeros(allocated.shape[1])
    summed: Matrix = np.add.accumulate(allocated[active] * ratio[active, None], axis=0)[-1]
    return summed


class HierarchyTree:
    """The tree of one session, updated when it is read.

    Attributes
    ----------
    total_allocated : Resource
        The sum over all jobs.
    demanding : set of str
        The resources that are not fully allocated in the cluster, without tolerance.
    by_design : bool
        Whether the rule of the HDRF design document replaces that of the release: an inner node's share
        leaves out exhausted resources, a job is blocked by any exhausted resource that it requests, and
        children without allocated amounts count for the smallest share.

    """

    def __init__(self, axis: ResourceAxis, total: TotalResource, *, by_design: bool) -> None:
        self.axis = axis
        self.total = total
        self.by_design = by_design
        self.root = InnerNode(ROOT, 1.0, None)
        self.leaves: dict[str, JobLeaf] = {}
        self.total_allocated = Resource()
        self.demanding: set[str] | None = None
        self._measured = [(axis.index[name], name, total) for name, total in total.amounts]
        self._stale: dict[str, JobLeaf] = {}

    # building

    def add_job(self, key: str, queue: QueueInfo, allocated: Resource, request: Resource) -> None:
        """Add a job to the last node of its queue's path; the first path to a node sets its weight."""
        node = self.root
        path, weights = queue.hierarchy.split("/"), queue.hierarchy_weights.split("/")
        for position in range(1, len(path)):
            child = node.children.get(path[position])
            if child is None:
                if position >= len(weights):
                    raise SchedulerPanic(
                        f"queue {queue.name}: volcano.sh/hierarchy-weights {queue.hierarchy_weights!r} "
                        f"has fewer parts than volcano.sh/hierarchy {queue.hierarchy!r}"
                    )
                child = node.children[path[position]] = InnerNode(
                    path[position], weight_of(weights[position]), node
                )
            assert isinstance(child, InnerNode), "the key of a job has a slash, a part of a path has none"
            node = child
        leaf = self.leaves[key] = JobLeaf(key, node, allocated, request)
        node.children[key] = leaf
        self.total_allocated.add(allocated)

    def complete(self) -> None:
        """Finish the tree once all jobs are added."""
        self.root.complete(len(self.axis))
        self._stale = dict(self.leaves)

    # allocated amounts

    def set_allocated(self, key: str, allocated: Resource, total: Resource) -> None:
        """Set the allocated amount of a job, and that of all jobs together."""
        self.total_allocated = total
        leaf = self.leaves[key]
        leaf.allocated = allocated
        self._stale[key] = leaf

    def refresh(self) -> None:
        """Update every node that depends on a change."""
        if not self._stale:
            return
        demanding = {name for name, total in self.total.amounts if self.total_allocated.get(name) < total}
        if demanding != self.demanding:
            self.demanding = demanding
            self._stale = dict(self.leaves)
        changed: dict[int, dict[str, InnerNode]] = defaultdict(dict)
        for leaf in self._stale.values():
            leaf.share = self.total.dominant_share(leaf.allocated)
            leaf.saturated = is_saturated(leaf, demanding, by_design=self.by_design)
            leaf.parent.store(leaf, self.axis.row(leaf.allocated))
            changed[leaf.parent.depth][leaf.parent.path] = leaf.parent
        self._stale = {}
        for depth in range(max(changed), -1, -1):
            for node in changed[depth].values():
                self._sum_up(node)
                if node.parent is not None:
                    node.parent.store(node, node.allocated)
                    changed[depth - 1][node.parent.path] = node.parent

    def _sum_up(self, node: InnerNode) -> None:
        node.allocated = rescaled_sum(
            node.children_allocated, node.shares, node.blocked, idle_children_count=self.by_design
        )
        node.saturated = bool(node.blocked.all())
        largest, dominant = NOTHING
        for position, name, total in self._measured:
            share = float(node.allocated[position]) / total
            if share > largest and not (self.by_design and name not in (self.demanding or ())):
                largest, dominant = share, name
        node.share = Share(largest, dominant)


def is_saturated(leaf: JobLeaf, demanding: set[str], *, by_design: bool) -> bool:
    """Return whether a job has its full request of some resource, or some requested resource is exhausted.

    The release considers only resources that the job has allocated, so a job without any is never saturated.
    By design, everything that it requests counts, and a job that requests nothing is saturated.
    """
    request, allocated = leaf.request, leaf.allocated
    requested = [name for name, amount in request.items() if amount != 0]
    if by_design:
        return not requested or any(
            allocated.get(name) >= request.get(name) or name not in demanding for name in requested
        )
    return any(
        request.get(name) != 0 and (allocated.get(name) >= request.get(name) or name not in demanding)
        for name in allocated.names()
    )


def weight_of(text: str) -> float:
    """Return a weight of a path; 1 if the text is not a number or is below 1."""
    weight = float(text) if _NUMBER.fullmatch(text) else 0.0
    return 1.0 if weight < 1 else weight
