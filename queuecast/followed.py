"""What the job controller does after a change of existing vcjobs, before the scheduler sees them."""

from collections.abc import Mapping, Sequence
from typing import Any

from queuecast.plans import Key, key_of
from queuecast.problems import Json
from scheduler_core.controllers.vcjob import VolcanoJob, podgroup_of

_ENDED = ("Succeeded", "Failed")


def followed(snapshot: Mapping[str, Any], document: Mapping[str, Any]) -> Json:
    """Return a valid document in which podgroups and pods follow the changes of the snapshot's vcjobs.

    A podgroup that the change leaves alone gets the minimum, the resources and the priority class of its job;
    pods beyond the replicas of their task are deleted, unless they have ended. Missing pods are left to the
    simulation.
    """
    before = {key_of("jobs", job): job.get("spec") for job in snapshot.get("jobs") or ()}
    own = ((job, before.get(key_of("jobs", job))) for job in document.get("jobs") or ())
    changed = [VolcanoJob(job, "") for job, spec in own if spec not in (None, job.get("spec"))]
    jobs = [job for job in changed if not job.is_over]
    if not jobs:
        return dict(document)
    classes = document.get("priorityclasses") or ()
    values = {one["metadata"]["name"]: int(one.get("value") or 0) for one in classes}
    specs = {
        (job.namespace, name): podgroup_of(job, (), values)["spec"]
        for job in jobs
        for name in (job.name, f"{job.name}-{job.uid}")
    }
    replicas = {
        (job.namespace, f"{job.name}-{task.name}"): task.replicas for job in jobs for task in job.tasks
    }
    there = snapshot.get("podgroups") or ()
    return {
        **document,
        "podgroups": [_updated(group, specs, there) for group in document.get("podgroups") or ()],
        "pods": [pod for pod in document.get("pods") or () if not _is_beyond(pod, replicas)],
    }


def _updated(
    group: Mapping[str, Any], specs: Mapping[Key, Mapping[str, Any]], there: Sequence[Mapping[str, Any]]
) -> Mapping[str, Any]:
    """Return a podgroup that was there as its changed job specifies it; its queue stays."""
    spec = specs.get(key_of("podgroups", group))
    if spec is None or group not in there:
        return group
    before = group.get("spec") or {}
    kept = {field: value for field, value in before.items() if field != "priorityClassName"}
    return {**group, "spec": {**kept, **spec, "queue": kept.get("queue") or spec["queue"]}}


def _is_beyond(pod: Mapping[str, Any], replicas: Mapping[Key, int]) -> bool:
    """Return whether a pod's index exceeds the replicas of its task, and the pod has not ended."""
    namespace, name = key_of("pods", pod)
    task, _, index = name.rpartition("-")
    wanted = replicas.get((namespace, task))
    if wanted is None or not index.isdecimal() or (pod.get("status") or {}).get("phase") in _ENDED:
        return False
    return int(index) >= wanted
