"""The Kubernetes view of nodes, which the Kubernetes filters and scorers read.

Volcano keeps a second account of the nodes for them: pods, whole-number sums, used ports. It is built when
the session opens, and updated only by the events of plugin `predicates`. It can therefore differ from the
node table: it includes pipelined pods, and excludes evicted ones, even after the eviction is undone.

Source: volcano ``pkg/scheduler/plugins/util/k8s/snapshot.go`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from scheduler_core.model.changes import ChangeLog, RowTable
from scheduler_core.model.host_ports import HostPort, host_ports
from scheduler_core.model.job import TaskInfo
from scheduler_core.model.labels import Mask
from scheduler_core.model.node_affinity import matching_nodes
from scheduler_core.model.pod import PodShape
from scheduler_core.model.pod_amounts import incoming_amounts, node_amounts
from scheduler_core.model.pod_info import PodInfo
from scheduler_core.model.selector_classes import Counts, SelectorClasses
from scheduler_core.model.services import Services
from scheduler_core.model.taints import tolerations_of
from scheduler_core.model.task import NO_NODE
from scheduler_core.model.topology_spread import SpreadConstraint

if TYPE_CHECKING:
    from scheduler_core.model.snapshot import Snapshot
    from scheduler_core.model.task_table import TaskTable

# The maximum number of kinds of pods, and counts of them, added after the start.
MOST_ADDED = 512


class K8sNodeSnapshot:
    """The Kubernetes view of the nodes of one session.

    Attributes
    ----------
    room_of : list of int
        By node, how many more pods it accepts; 0 and below: none.
    taken_of : list of list of int
        By node, the amounts of the pods on it: cpu and memory, with small amounts assumed for containers that
        request none, then cpu, memory and GPUs as requested. Milli-cores, bytes, devices.
    allocatable : (3, N) int64
        Cpu, memory, GPUs of each node, without oversubscription.
    changes : ChangeLog
        The nodes that changed here.
    labels, taints
        Those of all nodes.
    pods : SelectorClasses
        The pods on each node, by the kinds that selectors can distinguish.
    services : Services
        Those of the cluster.

    """

    def __init__(self, snapshot: Snapshot, *, scores_pod_level: bool = False) -> None:
        nodes, cluster = snapshot.nodes, snapshot.cluster
        self.nodes = nodes
        facts = cluster.nodes.facts
        self.labels, self.taints, self.allocatable = facts.labels, facts.taints, facts.allocatable
        self.default_requests = cluster.pods.reader.default_requests
        self.scores_pod_level = scores_pod_level
        self.services = Services(cluster.services)
        shapes = snapshot.shapes
        self.pods = SelectorClasses(shapes, cluster, self.services, len(nodes))
        self.ports = list({port: None for shape in shapes for port in shape.fact("host_ports", host_ports)})
        self._required: dict[Hashable, Mask] = {}
        self._amounts: Counts = np.zeros((0, 5), dtype=np.int64)
        self._pairs: dict[int, tuple[tuple[int, int], ...]] = {}
        self._copies: dict[str, int] = {}
        self._gone: set[str] = set()
        self._shapes_known = len(shapes)
        self.used_ports = np.zeros((len(self.ports), len(nodes)), dtype=np.bool_)
        self.changes = ChangeLog(len(nodes))
        self._limits = facts.pod_limits
        self._count_pods(snapshot.tasks)
        self._kept_at_first = len(self.pods)

    def _count_pods(self, tasks: TaskTable) -> None:
        """Count the pods on the nodes."""
        found = np.flatnonzero(tasks.node_of != NO_NODE)
        node_of = tasks.node_of[found]
        pods = np.bincount(node_of, minlength=len(self.nodes))
        sums = self._sums(tasks, found[np.argsort(node_of, kind="stable")], pods)
        self._room: RowTable[int, np.int64] = RowTable(self._limits - pods, self.changes)
        self._taken: RowTable[list[int], np.int64] = RowTable(sums, self.changes)
        self.room_of, self.taken_of = self._room.rows, self._taken.rows
        if self.ports or self.pods.selecting:
            for number, node in zip(found.tolist(), node_of.tolist(), strict=True):
                self._count_pod(tasks.pods[number], tasks.shape_of(number), node)

    def _sums(self, tasks: TaskTable, numbers: NDArray[np.intp], counts: NDArray[np.intp]) -> Counts:
        """Return the amounts of consecutive groups of pods, of which `counts` has the sizes, (K, 5)."""
        if len(self._amounts) != len(tasks.shapes):
            self._amounts = np.array([self.amounts_of(shape) for shape in tasks.shapes])
        sums: Counts = np.zeros((len(counts), 5), dtype=np.int64)
        if len(numbers):
            busy, starts = np.flatnonzero(counts), np.cumsum(counts) - counts
            amounts = self._amounts[tasks.shape_numbers[numbers]]
            sums[busy] = np.add.reduceat(amounts, starts[busy], axis=0)
        return sums

    def _count_pod(self, info: PodInfo, shape: PodShape, node: int) -> None:
        """Count a pod on a node by its ports and by the kind that selectors distinguish."""
        if self.ports:
            self.used_ports[self.port_rows(shape), node] = True
        if self.pods.selecting:
            self.pods.add_found(info, shape, node)

    def renew(self, tasks: TaskTable, nodes: Mapping[int, Sequence[int]]) -> bool:
        """Recount the pods on rebuilt nodes; return False if everything must be rebuilt.

        Sound, as the counts of a node depend only on the pods on it. Facts about the whole session must be
        unchanged since plugins read them: the labels that selectors read, the ports that pods use, and
        whether any pod has required anti-affinity, or any affinity, to other pods.
        """
        self._copies.clear()
        self._gone.clear()
        self.changes.trim()
        if not nodes and len(tasks.shapes) == self._shapes_known:
            return True
        if not all(map(self._knows, tasks.shapes[self._shapes_known :])) or self._keeps_too_much():
            return False
        self._shapes_known = len(tasks.shapes)
        before = self.pods.relations()
        finds = bool(self.ports) or self.pods.selecting
        counts = np.array([*map(len, nodes.values())], dtype=np.intp)
        numbers = np.fromiter(chain.from_iterable(nodes.values()), dtype=np.intp)
        taken = self._sums(tasks, numbers, counts).tolist()
        for (node, found), self.taken_of[node] in zip(nodes.items(), taken, strict=True):
            self.room_of[node] = int(self._limits[node]) - len(found)
            if finds:
                self.used_ports[:, node] = False
                self.pods.forget(node)
                for number in found:
                    self._count_pod(tasks.pods[number], tasks.shape_of(number), node)
            self.changes.add(node)
        return self.pods.relations() == before

    def _knows(self, shape: PodShape) -> bool:
        """Return whether pods of a shape use only ports, selectors and preferences known at the start."""
        return self.pods.knows(shape) and set(shape.fact("host_ports", host_ports)).issubset(self.ports)

    def _keeps_too_much(self) -> bool:
        """Return whether too many kinds of pods and counts, which may be obsolete, were added."""
        return len(self.pods) - self._kept_at_first > MOST_ADDED

    @property
    def counts_amounts(self) -> bool:
        """Return whether pods of all known shapes count only by number and amounts."""
        return not (self.ports or self.pods.selecting or self.services)

    @property
    def room(self) -> Counts:
        """Return how many more pods each node accepts, (N,); do not change it."""
        return self._room.array

    @property
    def sums(self) -> Counts:
        """Return the amounts of the pods on each node, (5, N); do not change it."""
        return self._taken.array.T

    # adding and removing pods

    def add(self, task: TaskInfo) -> None:
        """Add a pod to the node of its task; a second call counts it twice."""
        self._copies[task.uid] = self._copies.get(task.uid, 0) + 1
        self._change(task, 1)

    def remove(self, task: TaskInfo) -> None:
        """Remove a pod from its node, if it is there."""
        copies = self._copies.get(task.uid, 0)
        if copies:
            self._copies[task.uid] = copies - 1
        elif task.info.node_name and task.uid not in self._gone:
            self._gone.add(task.uid)
        else:
            return
        self._change(task, -1)

    def count(self, shape: PodShape, number: int, sign: int) -> None:
        """Add (1) or subtract (-1) a pod of a shape on a node, by number and amounts alone."""
        self.room_of[number] -= sign
        taken = self.taken_of[number]
        for position, amount in self._pairs_of(shape):
            taken[position] += sign * amount
        self.changes.add(number)

    def _change(self, task: TaskInfo, sign: int) -> None:
        number = task.node
        self.count(task.shape, number, sign)
        if self.ports:
            self.used_ports[self.port_rows(task.shape), number] = sign > 0
        if self.pods.selecting:
            self.pods.count(task, sign)

    # facts of a shape

    def amounts_of(self, shape: PodShape) -> tuple[int, ...]:
        """Return the amounts that a pod of this shape adds on its node."""
        amounts: tuple[int, ...] = shape.fact("node_amounts", self._read_amounts)
        return amounts

    def _pairs_of(self, shape: PodShape) -> tuple[tuple[int, int], ...]:
        """Return the same without zeros, as pairs of position and amount."""
        pairs = self._pairs.get(shape.number)
        if pairs is None:
            amounts = enumerate(self.amounts_of(shape))
            pairs = self._pairs[shape.number] = tuple(pair for pair in amounts if pair[1])
        return pairs

    def _read_amounts(self, spec: Mapping[str, Any]) -> tuple[int, ...]:
        amounts = node_amounts(spec, default_requests=self.default_requests)
        return (*amounts.assumed, *amounts.requested)

    def incoming(self, shape: PodShape) -> tuple[int, ...]:
        """Return the amounts that a pod of this shape would add, as scorers count them."""
        name = "incoming_amounts_of_pod" if self.scores_pod_level else "incoming_amounts"
        incoming: tuple[int, ...] = shape.fact(name, self._incoming)
        return incoming

    def _incoming(self, spec: Mapping[str, Any]) -> tuple[int, ...]:
        amounts = incoming_amounts(
            spec, default_requests=self.default_requests, pod_level=self.scores_pod_level
        )
        return (*amounts.assumed, *amounts.requested)

    def port_rows(self, shape: PodShape) -> list[int]:
        """Return the rows of `used_ports` for the ports of this shape."""
        return [self.ports.index(port) for port in shape.fact("host_ports", host_ports)]

    def conflicting_rows(self, wanted: Iterable[HostPort]) -> list[int]:
        """Return the rows of `used_ports` that conflict with the wanted ports."""
        wanted = list(wanted)
        return [row for row, used in enumerate(self.ports) if any(port.conflicts(used) for port in wanted)]

    def any_port_used(self, rows: list[int], nodes: NDArray[np.intp]) -> Mask:
        """Return which of the nodes use a port of these rows, (K,)."""
        used: Mask = np.logical_or.reduce(self.used_ports[rows][:, nodes], axis=0)
        return used

    def required_nodes(self, shape: PodShape) -> Mask:
        """Return which nodes satisfy the node selector and required node affinity of a shape, (N,)."""
        mask = self._required.get(shape.number)
        if mask is None:
            mask = self._required[shape.number] = matching_nodes(shape.spec, self.labels)
        return mask

    def untolerated_nodes(self, shape: PodShape) -> Mask:
        """Return which nodes have a NoSchedule or NoExecute taint that a shape does not tolerate, (N,)."""
        return self.taints.untolerated(tolerations_of(shape.spec))

    def counted_nodes(self, shape: PodShape, constraint: SpreadConstraint) -> Mask:
        """Return the nodes whose pods count for a constraint of a shape, by its inclusion policies, (N,)."""
        counted = np.ones(len(self.nodes), dtype=np.bool_)
        if constraint.honors_affinity:
            counted &= self.required_nodes(shape)
        if constraint.honors_taints:
            counted &= ~self.untolerated_nodes(shape)
        return counted
