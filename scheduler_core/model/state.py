"""The living state: turns what one session leaves into what the next one finds.

The state lives from session to session: tasks and nodes as columns, jobs and queues as small objects. Between
two sessions only `State.renew` changes it. It reads the journal, where every object that came, changed or
went is noted, and what the last session marked as touched, and makes these parts anew from the objects; every
other part is what it would be if all of it were made anew. docs/state.md has a worked example.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from operator import is_

from scheduler_core.model.axis import ResourceAxis
from scheduler_core.model.job import NO_NODE, JobInfo
from scheduler_core.model.journal import Journal
from scheduler_core.model.node import NodeTable
from scheduler_core.model.pod import PodShape
from scheduler_core.model.snapshot import (
    Cluster,
    NodeList,
    Snapshot,
    job_of,
    job_priorities,
    queues_of,
    take_snapshot,
)
from scheduler_core.model.task_table import TaskTable

# What sessions read of a cluster while they are opened, beside what the state is made of.
READ_WHEN_OPENED = ("namespaces", "services", "resource_quotas", "pod_disruption_budgets")


@dataclass
class Renewal:
    """What differs between what two successive sessions find.

    Attributes
    ----------
    anew : bool
        Everything was made anew; the other attributes say nothing.
    jobs : dict
        The jobs that were made anew, by key; None: the job is gone.
    before : dict
        The jobs that these replace, as the last session left them, by key; None: there was none.
    nodes : dict
        The numbers of the tasks that are found on the nodes that were made anew, by number of the node.
    queues : set of str
        The queues that these jobs are, or were, in; of a job that came and went since, where it was counted.
    counted : dict
        The jobs that the last session counted as pipelined, by key: they are as they were, what plugins have
        heard of them is not.
    other_queues : bool
        Whether the objects of some queues are others, of the same names.
    is_still : bool
        Whether no pod came, changed or went, and no job but in phases: those are enqueued that were when the
        last session had enqueued what it could.

    """

    anew: bool = False
    jobs: dict[str, JobInfo | None] = field(default_factory=dict)
    before: dict[str, JobInfo | None] = field(default_factory=dict)
    nodes: dict[int, list[int]] = field(default_factory=dict)
    queues: set[str] = field(default_factory=set)
    counted: dict[str, JobInfo] = field(default_factory=dict)
    other_queues: bool = False
    is_still: bool = False

    def replace(self, key: str, before: JobInfo | None, job: JobInfo | None) -> None:
        """Say that a job takes the place of another one."""
        self.before[key], self.jobs[key] = before, job
        self.queues.update([either.queue for either in (before, job) if either is not None])


class State:
    """A cluster as its sessions find it.

    Parameters
    ----------
    cluster : Cluster
        The objects. Whoever changes a pod or a PodGroup does it in `cluster.pods` and `cluster.podgroups`,
        which note it in the journal; nodes, queues and classes are replaced as whole lists.

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
        """Make everything anew."""
        self.journal.pods.clear()
        self.journal.podgroups.clear()
        self._given = self._whole_lists()
        self.snapshot: Snapshot = take_snapshot(self.cluster)
        self._tasks: TaskTable = self.snapshot.tasks
        self._priorities = job_priorities(self.cluster.priority_classes)
        self._number_of = {info.key: number for number, info in enumerate(self._tasks.pods)}
        self._members = self._tasks.members()
        self._take_nodes()

    def _take_nodes(self) -> None:
        """Know which tasks are found on which of the snapshot's nodes."""
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
        """Bring the state up to date; returns what differs from what the last session found.

        Sound, as a job is a function of its PodGroup and its pods, and a node one of its object and the pods
        on it: one of which nothing is noted in the journal, and which no session touched, is the same. A job
        that only sessions moved is reloaded; one of which they changed the phase only has all else of what
        would be made anew, and so has a node on which pods were only counted, once these are taken back.
        """
        if not self._is_known():
            self._begin()
            return Renewal(anew=True)
        changed, nodes = self._nodes.changes.since(self._seen), self._nodes.moved | self._counted
        self._counted.clear()
        touched = dict(self._tasks.touched)
        jobs = dict.fromkeys(self.journal.podgroups)
        renewal = Renewal(counted=dict(self._tasks.counted), is_still=not self.journal.pods)
        self._tasks.touched.clear()
        self._tasks.counted.clear()
        for key in self.journal.pods:
            self._renew_pod(key, jobs, nodes)
        self.journal.pods.clear()
        self.journal.podgroups.clear()
        renewal.queues.update([job.queue for job in renewal.counted.values()])
        for key in sorted(touched.keys() | jobs):
            before = self.snapshot.jobs.get(key)
            renewal.is_still &= before is not None and before.is_still(self.cluster.podgroups.get(key))
            if key in jobs or before is not touched[key]:
                renewal.replace(key, before, self._renew_job(key))
                continue
            renewal.replace(key, before, before)
            if before.moved:
                self._reload(before)
            else:
                before.keep()
        for node in sorted(nodes.union(changed)):
            found = renewal.nodes[node] = self._by_uid(self._found[node])
            if node in nodes:
                self._nodes.reload(node, self._tasks, found)
            else:
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
        """Become what the session of another cluster finds; None where more than queues and nodes differs.

        Of what the session before has done nothing was written. Sound, as of a cluster's objects jobs, tasks
        and nodes read no others than those that are compared here, and of queues whether they are there.
        Other nodes are made anew all together: of nodes jobs know nothing but the numbers of their tasks'.
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
            self._stand_on(cluster.nodes)
            renewal.anew = True
        elif any(getattr(cluster, name) != getattr(ours, name) for name in READ_WHEN_OPENED):
            renewal.anew = True
        return renewal

    def _has_axis_of(self, cluster: Cluster) -> bool:
        """Return whether the nodes and pods of a cluster have the resources that the columns are of."""
        if cluster.nodes is self.cluster.nodes:
            return True
        requests = [shape.request for shape in cluster.pods.known_pods().shapes]
        return ResourceAxis([*cluster.nodes.allocatable, *requests]).names == self.snapshot.axis.names

    def _stand_on(self, nodes: NodeList) -> None:
        """Put the pods, none of which moved since the last renewal, on other nodes."""
        snapshot = self.snapshot
        snapshot.allocatable = nodes.allocatable
        snapshot.nodes = NodeTable(nodes.objects, nodes.allocatable, snapshot.axis)
        self._tasks.find_on(snapshot.nodes.index)
        snapshot.nodes.load(self._tasks)
        self._take_nodes()

    def places_of(self, job: str) -> list[tuple[int, PodShape]]:
        """Return on which nodes the pods of a job were found, with their shapes."""
        tasks = self._tasks
        places = [
            (int(tasks.node_of[number]), tasks.shape_of(number)) for number in self._members.get(job, ())
        ]
        return [(node, shape) for node, shape in places if node != NO_NODE]

    def make_nodes_anew(self, nodes: Iterable[int]) -> None:
        """Have these nodes made anew next, and no others because of what was counted on them until now.

        The amounts of all nodes are right. The pods on these came since the state was brought up to date, and
        may go before it is again: then the journal does not say where they were.
        """
        self._seen = len(self._nodes.changes)
        self._counted = set(nodes)

    def _is_known(self) -> bool:
        """Return whether all that pods may be on, or be made of, is as it was."""
        if not all(map(is_, self._whole_lists(), self._given)):
            return False
        infos, reader = self.cluster.pods.infos, self.cluster.pods.reader
        return all(
            self._tasks.knows(reader.kind_of(infos[key].template))
            for key in self.journal.pods
            if key in infos
        )

    def _renew_pod(self, key: str, jobs: dict[str, None], nodes: set[int]) -> None:
        """Put a pod where it is now; adds the jobs and nodes that it was and is of."""
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
        """Make a job anew from its PodGroup and its pods; None when there is none."""
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
        """Have a job be as it was found, which only sessions moved since."""
        job.reload(self._tasks)
        for number in job.members:
            self._tasks.renew(number)

    def _by_uid(self, numbers: Collection[int]) -> list[int]:
        """Return tasks in the order of their pods' uids."""
        if len(numbers) < 2:
            return list(numbers)
        pods = self._tasks.pods
        return sorted(numbers, key=lambda number: pods[number].uid)
