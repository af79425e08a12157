"""Writes to objects: bind, evict, replace, and the status at the end of a session.

Objects are never edited: each function returns a new one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableMapping
from typing import Any

from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.model.journal import PodGroups
from scheduler_core.model.messages import cleared_node
from scheduler_core.model.status import TaskStatus

Object = Mapping[str, Any]


def write_status(podgroups: MutableMapping[str, Object], job: JobInfo) -> None:
    """Write the status that the closed session gave to a job's PodGroup.

    If at most its phase changed, the status differs only in the phase and in counts, which jobs do not read:
    the job need not be rebuilt.
    """
    if _given_status(job).items() <= (job.podgroup.get("status") or {}).items():
        return
    after = podgroup_after(job)
    if job.moved or not isinstance(podgroups, PodGroups):
        podgroups[job.key] = after
    else:
        podgroups.write(job.key, after)
        job.podgroup = after


def podgroup_after(job: JobInfo) -> Object:
    """Return a job's PodGroup with the status that the closed session gave it."""
    return {**job.podgroup, "status": {**(job.podgroup.get("status") or {}), **_given_status(job)}}


def _given_status(job: JobInfo) -> Object:
    """Return the fields of a PodGroup's status that the closed session gave it."""
    counts = job.status_counts()
    return {
        "phase": job.phase,
        "conditions": job.conditions,
        "running": counts.get(TaskStatus.RUNNING, 0),
        "succeeded": counts.get(TaskStatus.SUCCEEDED, 0),
        "failed": counts.get(TaskStatus.FAILED, 0),
    }


def nominated_node(task: TaskInfo) -> str:
    """Return the node that a session nominates for a waiting task, empty if none."""
    return "" if task.shape.gated else cleared_node(task)


def nominated(pod: Object, node: str) -> Object:
    """Return a waiting pod with a nominated node."""
    return {**pod, "status": {**(pod.get("status") or {}), "nominatedNodeName": node}}


def standing(pod: Object) -> tuple[str, str, str, bool]:
    """Return the parts of a pod that these writes change and later sessions read, without uids and times."""
    spec, status = pod.get("spec") or {}, pod.get("status") or {}
    node, phase = spec.get("nodeName") or "", status.get("phase") or ""
    phase = phase or ("Running" if node else "Pending")
    return node, phase, status.get("nominatedNodeName") or "", "deletionTimestamp" in pod["metadata"]


def bound(pod: Object, node: str, now: str, *, runs: bool = True) -> Object:
    """Return a pod bound to a node; with `runs` it runs at once."""
    status = dict(pod.get("status") or {})
    status.pop("nominatedNodeName", None)
    scheduled = {"type": "PodScheduled", "status": "True", "lastTransitionTime": now}
    others = [entry for entry in status.get("conditions") or () if entry.get("type") != "PodScheduled"]
    status.update(conditions=[*others, scheduled])
    placed = {**pod, "spec": {**pod["spec"], "nodeName": node}, "status": status}
    return running(placed, now) if runs else placed


def running(pod: Object, now: str) -> Object:
    """Return a running pod."""
    return {**pod, "status": {**(pod.get("status") or {}), "phase": "Running", "startTime": now}}


def evicted(pod: Object, now: str) -> Object:
    """Return an evicted pod, which is terminating."""
    status = dict(pod.get("status") or {})
    status["conditions"] = [
        *(e for e in status.get("conditions") or () if e.get("type") not in ("Ready", "DisruptionTarget")),
        {"type": "Ready", "status": "False", "reason": "Evict", "lastTransitionTime": now},
        {
            "type": "DisruptionTarget",
            "status": "True",
            "reason": "PreemptionByScheduler",
            "lastTransitionTime": now,
        },
    ]
    return {**terminating(pod, now), "status": status}


def ended(pod: Object, phase: str) -> Object:
    """Return a pod whose containers have ended: Succeeded or Failed."""
    return {**pod, "status": {**(pod.get("status") or {}), "phase": phase}}


def terminating(pod: Object, now: str) -> Object:
    """Return a terminating pod."""
    return {**pod, "metadata": {**pod["metadata"], "deletionTimestamp": now}}


def replaced(objects: Iterable[Object], new: Object) -> list[Object]:
    """Return the objects after that of the new one's name got its metadata and spec, but kept its status."""
    name = new["metadata"]["name"]
    return [
        {**new, "status": old.get("status") or {}} if old["metadata"]["name"] == name else old
        for old in objects
    ]


def created(thing: Object, now: str) -> Object:
    """Return an object created now, unless it has a creationTimestamp."""
    metadata = thing["metadata"]
    return {**thing, "metadata": {**metadata, "creationTimestamp": metadata.get("creationTimestamp", now)}}


def created_again(pod: Object, uid: str, now: str, scheduler_names: frozenset[str]) -> Object:
    """Return a pod recreated by its controller in place of a deleted one."""
    metadata = {name: value for name, value in pod["metadata"].items() if name != "deletionTimestamp"}
    metadata["uid"] = uid
    metadata["creationTimestamp"] = now
    spec = {name: value for name, value in pod["spec"].items() if name != "nodeName"}
    if spec.get("schedulerName") not in scheduler_names:
        spec["schedulerName"] = min(scheduler_names)
    return {**pod, "metadata": metadata, "spec": spec, "status": {"phase": "Pending"}}
