"""PodGroups and pods that the job controller creates for a ``batch.volcano.sh`` Job.

Source: volcano ``pkg/controllers/job/job_controller_actions.go``, ``job_controller_util.go``,
``pkg/webhooks/admission/jobs/mutate`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from scheduler_core.controllers.made import DEFAULT_QUEUE, Made, Object, key_of, namespaced_queue, picked
from scheduler_core.controllers.usage import Amounts, add, as_quantities, pod_usage
from scheduler_core.model.annotations import MAX_UNAVAILABLE, MIN_AVAILABLE, REVOCABLE_ZONE
from scheduler_core.model.pod_info import GROUP_NAME

OVER = frozenset({"Completed", "Completing", "Failed", "Terminated", "Terminating", "Aborted", "Aborting"})
BUDGETS = (MIN_AVAILABLE, MAX_UNAVAILABLE)
INHERITED_ANNOTATIONS = ("volcano.sh/preemptable", "volcano.sh/cooldown-time", REVOCABLE_ZONE)
INHERITED_LABELS = ("volcano.sh/preemptable", "volcano.sh/cooldown-time")


class Task(NamedTuple):
    """One task of a Job with its defaults filled in.

    Attributes
    ----------
    min_available : int
        The value stated in the Job, else the partitions' minimum, else `replicas`.

    """

    name: str
    replicas: int
    min_available: int
    template: Mapping[str, Any]
    raw: Mapping[str, Any]

    @property
    def spec(self) -> Mapping[str, Any]:
        """Return the pod specification of the task."""
        return self.template.get("spec") or {}

    @property
    def partition_size(self) -> int:
        """Return the number of pods in a partition, 0 without partitions."""
        return int((self.raw.get("partitionPolicy") or {}).get("partitionSize") or 0)


class VolcanoJob:
    """One Job with the defaults of its webhook."""

    def __init__(self, job: Object, first_scheduler: str) -> None:
        metadata, spec = job["metadata"], job.get("spec") or {}
        self.job = job
        self.spec = spec
        self.name: str = metadata["name"]
        self.namespace: str = metadata.get("namespace") or "default"
        self.uid: str = metadata.get("uid") or f"{self.namespace}-{self.name}"
        self.queue: str = spec.get("queue") or DEFAULT_QUEUE
        self.scheduler: str = spec.get("schedulerName") or first_scheduler
        self.annotations: Mapping[str, str] = metadata.get("annotations") or {}
        self.labels: Mapping[str, str] = metadata.get("labels") or {}
        self.tasks = [_task(entry, number) for number, entry in enumerate(spec.get("tasks") or ())]
        wanted = sum(task.min_available for task in self.tasks)
        self.min_available = int(spec.get("minAvailable") or 0) or wanted
        self.status: Mapping[str, Any] = job.get("status") or {}

    @property
    def is_over(self) -> bool:
        """Return whether the controller creates no more pods for it."""
        return (self.status.get("state") or {}).get("phase") in OVER

    def min_resources(self, class_values: Mapping[str, int]) -> Amounts:
        """Return the requests of the first `min_available` pods, more important tasks first.

        A task's importance is the priority class of its template; that of the Job does not count.
        """
        ordered = sorted(
            self.tasks, key=lambda task: -class_values.get(task.spec.get("priorityClassName") or "", 0)
        )
        total: Amounts = {}
        for task, count in _members(ordered, self.min_available):
            add(total, pod_usage(task.spec, default_requests=False), count)
        return total


def _task(entry: Mapping[str, Any], number: int) -> Task:
    replicas = int(entry.get("replicas") or 0)
    partitions = entry.get("partitionPolicy") or {}
    minimum = entry.get("minAvailable")
    if minimum is None:
        by_partition = int(partitions.get("minPartitions") or 0) * int(partitions.get("partitionSize") or 0)
        minimum = by_partition or replicas
    return Task(
        entry.get("name") or f"default{number}", replicas, int(minimum), entry.get("template") or {}, entry
    )


def _members(tasks: Sequence[Task], wanted: int) -> list[tuple[Task, int]]:
    """Return how many pods of each task a gang of `wanted` pods has.

    A gang smaller than the sum of the minimums fills task by task; a larger one fills the minimums first.
    """
    taken: list[tuple[Task, int]] = []
    left = wanted
    if wanted < sum(task.min_available for task in tasks):
        shares = [task.replicas for task in tasks]
    else:
        for task in tasks:
            count = min(task.min_available, left)
            taken.append((task, count))
            left -= count
        shares = [task.replicas - task.min_available for task in tasks]
    for task, share in zip(tasks, shares, strict=True):
        count = min(share, left)
        taken.append((task, count))
        left -= count
    return taken


def expand_jobs(
    jobs: Sequence[Object],
    *,
    podgroups: Mapping[str, Object],
    pods: Mapping[str, Object],
    namespaces: Sequence[Object],
    class_values: Mapping[str, int],
    scheduler_names: Sequence[str],
) -> Made:
    """Return the missing PodGroups and pods of Jobs.

    The real controller creates a Job's pods only after its PodGroup is enqueued, one session later. Here they
    exist at once, so that a single session shows where they would be placed.

    Parameters
    ----------
    jobs : sequence
        ``batch.volcano.sh`` Jobs.
    podgroups, pods : mapping
        The existing objects, by namespace/name, which are not created again.
    namespaces : sequence
        Namespaces, for their default queues.
    class_values : mapping
        The value of each priority class.
    scheduler_names : sequence
        Jobs of other schedulers are skipped; the first name is the default.

    """
    made = Made()
    for entry in sorted(jobs, key=key_of):
        job = VolcanoJob(entry, scheduler_names[0])
        if job.scheduler not in scheduler_names:
            made.notes[f"Left out: {{n}} job{{s}} of scheduler {job.scheduler}."] += 1
        elif job.is_over:
            made.notes["Left out: {n} job{s} that had finished."] += 1
        else:
            _expand(job, podgroups, pods, namespaces, class_values, made)
    return made


def _expand(
    job: VolcanoJob,
    podgroups: Mapping[str, Object],
    pods: Mapping[str, Object],
    namespaces: Sequence[Object],
    class_values: Mapping[str, int],
    made: Made,
) -> None:
    names = (f"{job.name}-{job.uid}", job.name)
    group = next((name for name in names if f"{job.namespace}/{name}" in podgroups), None)
    if group is None:
        group = names[0]
        made.add_podgroup(podgroup_of(job, namespaces, class_values), job.queue)
        made.notes["Added: {n} PodGroup{s} that the job controller would create."] += 1
    for task in job.tasks:
        if not dependencies_met(job, task, pods):
            made.notes[
                f"Left out: pods of task {task.name} of job {job.namespace}/{job.name}. It waits for tasks"
                " that it depends on."
            ] += 1
            continue
        for index in range(task.replicas):
            pod = pod_of(job, task, index, group)
            if key_of(pod) not in pods:
                made.pods.append(pod)
                made.notes["Added: {n} pod{s} that the job controller would create."] += 1


def podgroup_of(job: VolcanoJob, namespaces: Sequence[Object], class_values: Mapping[str, int]) -> Object:
    """Return the PodGroup of a Job."""
    spec = {
        "minMember": job.min_available,
        "minTaskMember": {task.name: task.min_available for task in job.tasks},
        "queue": namespaced_queue(job.queue, job.namespace, namespaces),
        "minResources": as_quantities(job.min_resources(class_values)),
    }
    for name in ("priorityClassName", "networkTopology"):
        if job.spec.get(name):
            spec[name] = job.spec[name]
    metadata = {
        "name": f"{job.name}-{job.uid}",
        "namespace": job.namespace,
        "annotations": dict(job.annotations),
        "labels": dict(job.labels),
        **picked(job.job["metadata"], ("creationTimestamp",)),
    }
    return {"metadata": metadata, "spec": spec, "status": {"phase": "Pending"}}


def pod_of(job: VolcanoJob, task: Task, index: int, group: str) -> Object:
    """Return one pod of a task."""
    template = task.template.get("metadata") or {}
    spec = dict(task.spec)
    spec["schedulerName"] = spec.get("schedulerName") or job.scheduler
    if not spec.get("priorityClassName") and job.spec.get("priorityClassName"):
        spec["priorityClassName"] = job.spec["priorityClassName"]
    if job.spec.get("volumes"):
        names = [one.get("volumeClaimName") or "" for one in job.spec["volumes"]]
        claims = [{"persistentVolumeClaim": {"claimName": name}} for name in names]
        spec["volumes"] = [*(spec.get("volumes") or ()), *claims]
    metadata = {
        "name": f"{job.name}-{task.name}-{index}",
        "namespace": job.namespace,
        "annotations": {**(template.get("annotations") or {}), **_annotations(job, task, index, group)},
        "labels": {**(template.get("labels") or {}), **_labels(job, task, index)},
        "ownerReferences": [
            {
                "apiVersion": "batch.volcano.sh/v1alpha1",
                "kind": "Job",
                "name": job.name,
                "uid": job.uid,
                "controller": True,
            }
        ],
        **picked(job.job["metadata"], ("creationTimestamp",)),
    }
    return {"metadata": metadata, "spec": spec, "status": {"phase": "Pending"}}


def _annotations(job: VolcanoJob, task: Task, index: int, group: str) -> dict[str, str]:
    annotations = {
        "volcano.sh/task-index": str(index),
        "volcano.sh/task-spec": task.name,
        GROUP_NAME: group,
        "volcano.sh/job-name": job.name,
        "volcano.sh/queue-name": job.queue,
        "volcano.sh/job-version": str(job.status.get("version") or 0),
        "volcano.sh/template-uid": f"{job.name}-{task.name}",
        "volcano.sh/job-retry-count": str(job.status.get("retryCount") or 0),
        **picked(job.annotations, INHERITED_ANNOTATIONS),
        **dict(list(picked(job.annotations, BUDGETS).items())[:1]),
    }
    if task.raw.get("topologyPolicy"):
        annotations["volcano.sh/numa-topology-policy"] = task.raw["topologyPolicy"]
    return annotations


def _labels(job: VolcanoJob, task: Task, index: int) -> dict[str, str]:
    labels = {
        "volcano.sh/task-index": str(index),
        "volcano.sh/job-name": job.name,
        "volcano.sh/task-spec": task.name,
        "volcano.sh/job-namespace": job.namespace,
        "volcano.sh/queue-name": job.queue,
        **picked(job.labels, INHERITED_LABELS),
    }
    if task.partition_size:
        labels["volcano.sh/partition-id"] = str(index // task.partition_size)
    return labels


def dependencies_met(job: VolcanoJob, task: Task, pods: Mapping[str, Object]) -> bool:
    """Return whether enough pods of the tasks that a task depends on have run; with `any`, of one of them."""
    depends = task.raw.get("dependsOn") or {}
    names = depends.get("name") or []
    if not names:
        return True
    met = [_has_run(job, name, pods) for name in names]
    return any(met) if depends.get("iteration") == "any" and len(met) > 1 else all(met)


def _has_run(job: VolcanoJob, name: str, pods: Mapping[str, Object]) -> bool:
    task = next((task for task in job.tasks if task.name == name), None)
    if task is None:
        return False
    found = [pods.get(f"{job.namespace}/{job.name}-{name}-{index}") for index in range(task.replicas)]
    return sum(pod is not None and _runs(pod) for pod in found) >= task.min_available


def _runs(pod: Object) -> bool:
    status = pod.get("status") or {}
    if status.get("phase") == "Succeeded":
        return True
    containers = status.get("containerStatuses") or ()
    return status.get("phase") == "Running" and all(entry.get("ready") for entry in containers)
