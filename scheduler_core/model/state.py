"""The living state, from which each session gets its input.

The state lives from session to session: tasks and nodes as columns, jobs and queues as small objects. Between
two sessions only `State.renew` changes it. It reads the journal, which names every object that was added,
changed or removed, and the marks of what the last session touched, and rebuilds these parts from the objects.
All other parts equal what a full rebuild would give. docs/state.md has a worked example.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from operator import is_

from scheduler_core.model.axis import ResourceAxis
from scheduler_core.model.job import JobInfo
from scheduler_core.model.journal import Journal
from scheduler_core.model.node import NodeTable
from scheduler_core.model.pod import PodShape
from scheduler_core.model.renewal import Renewal
from scheduler_core.model.snapshot import (
    Cluster,
    NodeList,
    Snapshot,
    job_of,
    job_priorities,
    queues_of,
    take_snapshot,
)
from scheduler_core.model.task import NO_NODE
from scheduler_core.model.task_table import TaskTable

# What sessions read of a cluster while they are opened, besides the parts of the state.
READ_WHEN_OPENED = ("namespaces", "services", "resource_quotas", "pod_disruption_budgets")


class State:
    """A cluster as its sessions find it.

    Parameters
    ----------
    cluster : Cluster
        The objects. Pods and PodGroups are changed in `cluster.pods` and `cluster.podgroups`, which record
        the change in the journal; nodes, queues and classes are replaced as whole lists.

    Attributes
    ----------
    snapshot : Snapshot
        What a session finds.

    """

    def __init__(self, cluster: Cluster, journal: Journal) -> None:
        self.cluster = cluster
        self.journal = journal
        self._begin()

    def _begin(self) -> None:
        """Rebuild everything."""
        self.journal.pods.clear()
        self.journal.podgroups.clear()
        self._given = self._whole_lists()
        self.snapshot: Snapshot = take_snapshot(self.cluster)
        self._tasks: TaskTable = self.snapshot.tasks
        self._priorities = job_priorities(self.cluster.priority_classes)
        self._number_of = {info.key: number for number, info in enumerate(self._tasks.pods)}
        self._members = self._tasks.members()
        self._index_by_node()

    def _index_by_node(self) -> None:
        """Index the tasks by the node on which the snapshot has them."""
        self._nodes: NodeTable = self.snapshot.nodes
        self._seen = len(self._nodes.changes)
        self._counted: set[int] = set()
        self._found: list[set[int]] = [set() for _ in self._nodes.names]
        for number, node in enumerate(self._tasks.node_of.tolist()):
            if node != NO_NODE:
                self._found[node].add(number)

    def _whole_lists(self) -> tuple[object, ...]:
        cluster = self.cluster
        return cluster.nodes, cluster.queues, cluster.priority_classes, cluster.namespaces, cluster.services

    def renew(self) -> Renewal:
        """Update the state; return what differs from what the last session found.

        Sound, as a job is a function of its PodGroup and its pods, and a node of its object and the pods on
        it: a job or node that the journal does not name, and that no session touched, is unchanged. A job
        that only sessions moved is reloaded. A job of which they changed only the phase equals a rebuilt one,
        and so does a node on which pods were only counted, once these are removed.
        """
        if not self._is_known():
            self._begin()
            return Renewal(anew=True)
        changed, nodes = self._nodes.changes.since(self._seen), self._nodes.moved | self._counted
        self._counted.clear()
        touched = dict(self._tasks.touched)
        jobs = dict.fromkeys(self.journal.podgroups)
        renewal = Renewal(counted=dict(self._tasks.counted))
        self._tasks.touched.clear()
        self._tasks.counted.clear()
        for key in self.journal.pods:
            self._renew_pod(key, jobs, nodes)
        self.journal.pods.clear()
        self.journal.podgroups.clear()
        renewal.queues.update([job.queue for job in renewal.counted.values()])
        for key in sorted(touched.keys() | jobs):
            before = self.snapshot.jobs.get(key)
            if key in jobs or before is not touched[key]:
                renewal.replace(key, before, self._renew_job(key))
                continue
            renewal.replace(key, before, before)
            if before.moved:
                self._reload(before)
            else:
                before.keep()
        renewal.nodes.update((node, self._by_uid(self._found[node])) for node in sorted(nodes.union(changed)))
        self._nodes.reload({node: renewal.nodes[node] for node in sorted(nodes)}, self._tasks)
        for node in sorted(renewal.nodes.keys() - nodes):
            self._nodes.forget_counted(node)
        if "sums" in self.snapshot.__dict__:
            renewal.queues.update(self.snapshot.sums.queues_of(renewal.jobs))
        for fold in ("sums", "index"):
            if fold in self.snapshot.__dict__:
                getattr(self.snapshot, fold).renew(renewal.jobs)
        self._nodes.moved.clear()
        self._nodes.changes.trim()
        self._seen = len(self._nodes.changes)
        return renewal

    def follow(self, cluster: Cluster) -> Renewal | None:
        """Change to the state of another cluster; return None if it differs in more than queues and nodes.

        No decision of the last session was written. Sound, as jobs, tasks and nodes depend only on the
        objects compared here, and on which queues exist. Replaced nodes are all rebuilt: jobs contain
        nothing of a node but its number.
        """
        ours, before = self.cluster, self.snapshot.queues
        queues = queues_of(cluster, before)
        parts, others = (
            [id(part) for part in (one.pods, one.podgroups, *one.priority_classes)] for one in (ours, cluster)
        )
        if parts != others or queues.keys() != before.keys() or not self._has_axis_of(cluster):
            return None
        self.cluster = self.snapshot.cluster = cluster
        self._given, self.snapshot.queues = self._whole_lists(), queues
        for job in self._tasks.touched.values():
            job.moved = True
        renewal = self.renew()
        renewal.other_queues = not all(map(is_, queues.values(), before.values()))
        if cluster.nodes is not ours.nodes:
            self._replace_nodes(cluster.nodes)
            renewal.anew = True
        elif any(getattr(cluster, name) != getattr(ours, name) for name in READ_WHEN_OPENED):
            renewal.anew = True
        return renewal

    def _has_axis_of(self, cluster: Cluster) -> bool:
        """Return whether the columns have exactly the resources of a cluster's nodes and pods."""
        if cluster.nodes is self.cluster.nodes:
            return True
        requests = [shape.request for shape in cluster.pods.known_pods().shapes]
        return ResourceAxis([*cluster.nodes.allocatable, *requests]).names == self.snapshot.axis.names

    def _replace_nodes(self, nodes: NodeList) -> None:
        """Move the pods, unchanged since the last renewal, to other nodes."""
        snapshot = self.snapshot
        snapshot.allocatable = nodes.allocatable
        snapshot.nodes = NodeTable(nodes.objects, nodes.allocatable, snapshot.axis)
        self._tasks.move_to(snapshot.nodes.index)
        snapshot.nodes.load(self._tasks)
        self._index_by_node()

    def places_of(self, job: str) -> list[tuple[int, PodShape]]:
        """Return the nodes on which the snapshot has the pods of a job, with their shapes."""
        tasks = self._tasks
        places = [
            (int(tasks.node_of[number]), tasks.shape_of(number)) for number in self._members.get(job, ())
        ]
        return [(node, shape) for node, shape in places if node != NO_NODE]

    def rebuild_nodes(self, nodes: Iterable[int]) -> None:
        """Rebuild these nodes at the next renewal, and no others because of pods counted until now.

        The amounts of all nodes are correct. The pods on these nodes were added since the last renewal and
        may be removed before the next one: then the journal does not name their nodes.
        """
        self._seen = len(self._nodes.changes)
        self._counted = set(nodes)

    def _is_known(self) -> bool:
        """Return whether nodes, queues and classes are unchanged, and no request needs another column."""
        if not all(map(is_, self._whole_lists(), self._given)):
            return False
        infos, reader = self.cluster.pods.infos, self.cluster.pods.reader
        return all(
            self._tasks.knows(reader.kind_of(infos[key].template))
            for key in self.journal.pods
            if key in infos
        )

    def _renew_pod(self, key: str, jobs: dict[str, None], nodes: set[int]) -> None:
        """Update a pod; add its previous and current job and node to `jobs` and `nodes`."""
        tasks, pods = self._tasks, self.cluster.pods
        number = self._number_of.pop(key, None)
        if number is not None:
            node, job = int(tasks.node_of[number]), tasks.pods[number].job_key
            if node != NO_NODE:
                nodes.add(node)
                self._found[node].discard(number)
            if job:
                jobs[job] = None
                self._members[job].remove(number)
            tasks.drop(number)
        info = pods.infos.get(key)
        if info is None:
            return
        kind = pods.reader.kind_of(info.template)
        if not (kind.is_ours or info.node_name):
            return
        number = self._number_of[key] = tasks.put(info, kind)
        if info.job_key:
            jobs[info.job_key] = None
            self._members.setdefault(info.job_key, []).append(number)
        node = int(tasks.node_of[number])
        if node != NO_NODE:
            nodes.add(node)
            self._found[node].add(number)

    def _renew_job(self, key: str) -> JobInfo | None:
        """Rebuild a job from its PodGroup and its pods; return None without a PodGroup."""
        snapshot, numbers = self.snapshot, self._by_uid(self._members.get(key, ()))
        podgroup = self.cluster.podgroups.get(key)
        job = None if podgroup is None else job_of(podgroup, snapshot.queues, self._priorities)
        if job is not None:
            snapshot.jobs[key] = job
            job.load(self._tasks, numbers)
        else:
            snapshot.jobs.pop(key, None)
            if not numbers:
                self._members.pop(key, None)
        for number in numbers:
            self._tasks.renew(number)
        return job

    def _reload(self, job: JobInfo) -> None:
        """Reset a job that only sessions moved to the state in which they found it."""
        job.reload(self._tasks)
        for number in job.members:
            self._tasks.renew(number)

    def _by_uid(self, numbers: Collection[int]) -> list[int]:
        """Return tasks in the order of their pods' uids."""
        return sorted(numbers, key=self._tasks.uids.__getitem__) if len(numbers) > 1 else list(numbers)
