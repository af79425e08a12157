"""Traces from the finished objects of a cluster: their times, sizes and queues."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from traces.annotations import OF_PODGROUPS, OF_PODS, annotations_of
from traces.columns import GPU
from traces.model import Role, Trace, TraceJob, TraceProblem, Unreadable, ordered
from traces.requests import request_of, whole
from traces.shapes import JOB, POD, PODGROUP, Check, required
from traces.text import LARGEST, Problems, counted, loaded, stamp

Object = Mapping[str, Any]
GROUP_NAME = "scheduling.k8s.io/group-name"
JOB_NAME, JOB_QUEUE = "volcano.sh/job-name", "volcano.sh/queue-name"
"""What Volcano writes to the annotations of a vcjob's pods."""
_FIX = "write what kubectl get … -o json prints"


def read_objects(text: str) -> Trace:
    """Return the workload of a List of PodGroups, Pods and vcjobs, or of a scenario document.

    A job is a PodGroup with its pods; see `with_ended` for those of finished vcjobs. It ran from the first
    start to the last end of its containers; where no container has ended its run time is unknown.

    Raises
    ------
    Unreadable
        If the text is no JSON object with objects.

    """
    document = loaded(text)
    if not isinstance(document, Mapping):
        problem = TraceProblem(1, "", "expected an object", _FIX)
        raise Unreadable([problem])
    problems = Problems()
    podgroups, pods, jobs = (_Objects(check, problems) for check in (PODGROUP, POD, JOB))
    listed = _listed(document, "items", problems)
    for found, name, kind in (
        (podgroups, "podgroups", "PodGroup"),
        (pods, "pods", "Pod"),
        (jobs, "jobs", "Job"),
    ):
        found.add(name, _listed(document, name, problems))
        found.add("items", listed, kind)
    problems.refuse()
    return trace_of_objects(podgroups.found, pods.found, jobs.found)


def _listed(document: Object, name: str, problems: Problems) -> list[Any]:
    """Return the elements of a list of a document, which may be written as a Kubernetes List."""
    listed = document.get(name) or []
    if isinstance(listed, Mapping):
        listed = listed.get("items") or []
    if isinstance(listed, list):
        return listed
    problems.add(0, name, "expected a list", _FIX)
    return []


class _Objects:
    """Objects of one kind from which a trace can be read."""

    def __init__(self, check: Check, problems: Problems) -> None:
        self.found: list[Object] = []
        self._keys: set[str] = set()
        self._check = required(check)
        self._problems = problems

    def add(self, name: str, listed: Sequence[Any], kind: str = "") -> None:
        """Add the objects of a list; with a kind, those of this kind."""
        for number, one in enumerate(listed):
            if not kind or (isinstance(one, Mapping) and one.get("kind") == kind and not _is_batch(one)):
                place = f"{name}[{number}]"
                wrong = list(self._check(one, place))
                for at, expected in wrong:
                    self._problems.add(0, at, f"expected {expected}", _FIX)
                if not wrong:
                    self._add(one, place)

    def _add(self, one: Object, place: str) -> None:
        key = key_of(one)
        if key in self._keys:
            self._problems.add(0, place, f"{key} occurs twice", "leave one of them out")
        self._keys.add(key)
        self.found.append(one)


def _is_batch(thing: Object) -> bool:
    """Return whether an object is one of Kubernetes' own Jobs, which have no queue."""
    return str(thing.get("apiVersion") or "").startswith("batch/")


def with_ended(podgroups: Sequence[Object], pods: Iterable[Object], vcjobs: Iterable[Object]) -> list[Object]:
    """Return PodGroups and those that pods name but that are gone, as Volcano deletes them when vcjobs end.

    The latter have the creation time, queue, minAvailable and priority class of the vcjob; where that is
    gone, too, those that its pods show.
    """
    there = {key_of(podgroup) for podgroup in podgroups}
    by_name = {key_of(job): job for job in vcjobs}
    members = members_of(pods)
    return [
        *podgroups,
        *(_ended(key, of_job, by_name) for key, of_job in members.items() if key not in there),
    ]


def _ended(key: str, pods: Sequence[Object], vcjobs: Mapping[str, Object]) -> Object:
    namespace, _, name = key.partition("/")
    annotations = pods[0]["metadata"].get("annotations") or {}
    job_name = annotations.get(JOB_NAME) or name
    job = vcjobs.get(f"{namespace}/{job_name}") or {}
    metadata, spec = job.get("metadata") or {}, job.get("spec") or {}
    created = [str(pod["metadata"].get("creationTimestamp") or "") for pod in pods]
    return {
        "metadata": {
            "name": name,
            "namespace": namespace,
            "creationTimestamp": metadata.get("creationTimestamp") or min(created),
            "ownerReferences": [{"kind": "Job", "name": job_name}],
        },
        "spec": {
            "queue": spec.get("queue") or annotations.get(JOB_QUEUE) or "default",
            "minMember": spec.get("minAvailable") or len(pods),
            "priorityClassName": spec.get("priorityClassName") or "",
        },
    }


def trace_of_objects(
    podgroups: Sequence[Object], pods: Sequence[Object], vcjobs: Sequence[Object] = ()
) -> Trace:
    """Return the workload of PodGroups and their pods, also of vcjobs that have ended."""
    members, groups = members_of(pods), with_ended(podgroups, pods, vcjobs)
    known = {key_of(podgroup) for podgroup in podgroups}
    jobs = [job for podgroup in groups if (job := _job(podgroup, members, known)) is not None]
    left_out = len(groups) - len(jobs)
    notes = [f"Left out: {counted(left_out, 'PodGroup')} without pods or creation time."] if left_out else []
    unknown = sum(job.run_seconds is None for job in jobs)
    if unknown:
        notes.append(f"Unknown: the run time of {counted(unknown, 'unfinished job')}.")
    if not jobs:
        return ordered(jobs, notes=notes)
    begin = min(job.submitted for job in jobs)
    return ordered([replace(job, submitted=job.submitted - begin) for job in jobs], stamp(begin), notes)


def members_of(pods: Iterable[Object]) -> dict[str, list[Object]]:
    """Return the pods of each PodGroup, by its key."""
    members: dict[str, list[Object]] = {}
    for pod in pods:
        metadata = pod.get("metadata") or {}
        group = (metadata.get("annotations") or {}).get(GROUP_NAME)
        if group:
            members.setdefault(f"{metadata.get('namespace') or 'default'}/{group}", []).append(pod)
    return members


def key_of(thing: Object) -> str:
    """Return namespace/name of an object."""
    metadata = thing.get("metadata") or {}
    return f"{metadata.get('namespace') or 'default'}/{metadata.get('name')}"


def owning_jobs(thing: Object) -> Iterator[str]:
    """Yield namespace/name of the Jobs that own an object."""
    metadata = thing.get("metadata") or {}
    for owner in metadata.get("ownerReferences") or ():
        if owner.get("kind") == "Job":
            yield f"{metadata.get('namespace') or 'default'}/{owner.get('name')}"


def _job(
    podgroup: Object, members: Mapping[str, Sequence[Object]], known: Collection[str]
) -> TraceJob | None:
    """Return the job of a PodGroup; None without pods or creation time.

    What a PodGroup reserves is only stated by those that are known, not by those that are gone.
    """
    metadata, spec = podgroup.get("metadata") or {}, podgroup.get("spec") or {}
    key = key_of(podgroup)
    created, pods = _seconds(metadata.get("creationTimestamp")), members.get(key, ())
    if created is None or not pods:
        return None
    return TraceJob(
        name=key,
        queue=spec.get("queue") or "default",
        submitted=created,
        run_seconds=run_seconds_of(pods),
        roles=_roles(pods),
        min_member=min(max(int(spec.get("minMember") or 1), 1), len(pods)),
        priority_class=spec.get("priorityClassName") or "",
        min_resources=_min_resources(spec) if key in known else None,
        annotations=annotations_of(podgroup, OF_PODGROUPS),
    )


def _min_resources(spec: Object) -> dict[str, str]:
    """Return what a PodGroup reserves."""
    return {name: str(amount) for name, amount in sorted((spec.get("minResources") or {}).items())}


def constraints_of(pod: Object) -> dict[str, Any]:
    """Return which nodes a pod may run on: its `nodeSelector`, `tolerations` and node affinity.

    Tolerations with `tolerationSeconds` are left out: they delay an eviction, and Kubernetes adds two of them
    to every pod.
    """
    spec = pod.get("spec") or {}
    node_affinity = (spec.get("affinity") or {}).get("nodeAffinity")
    found = {
        "nodeSelector": spec.get("nodeSelector"),
        "tolerations": [one for one in spec.get("tolerations") or () if "tolerationSeconds" not in one],
        "affinity": {"nodeAffinity": node_affinity} if node_affinity else None,
    }
    return {name: value for name, value in found.items() if value}


def run_seconds_of(pods: Sequence[Object]) -> float | None:
    """Return the seconds from the first start to the last end of pods; None unless all of them have ended."""
    starts, ends = [], []
    for pod in pods:
        status = pod.get("status") or {}
        start = _seconds(status.get("startTime"))
        ended = [
            _seconds(((container.get("state") or {}).get("terminated") or {}).get("finishedAt"))
            for container in status.get("containerStatuses") or ()
        ]
        if start is None or not ended or None in ended:
            return None
        starts.append(start)
        ends.append(max(end for end in ended if end is not None))
    run = max(ends) - min(starts)
    return run if run > 0 else None


def _roles(pods: Sequence[Object]) -> tuple[Role, ...]:
    """Return the roles of a job's pods: in the order of their names; equal pods are one role."""
    kinds: dict[str, Role] = {}
    for pod in sorted(pods, key=key_of):
        parts = _requests(pod), constraints_of(pod), annotations_of(pod, OF_PODS)
        kind = json.dumps(parts, sort_keys=True)
        known = kinds.get(kind) or Role(0, *parts)
        kinds[kind] = replace(known, pods=known.pods + 1)
    return tuple(kinds.values())


def _requests(pod: Object) -> dict[str, str]:
    """Return the request of a pod.

    A pod that says nothing of CPU or memory requests none: that is known, other than in most traces.
    """
    found = {"cpu": "0", "memory": "0"} | request_of(pod.get("spec") or {})
    return {name: whole(amount) if name == GPU else amount for name, amount in sorted(found.items())}


def _seconds(text: object) -> float | None:
    """Return the seconds since 1970 of a time, in UTC where it names no zone; None for no or an odd time."""
    if not isinstance(text, str):
        return None
    try:
        moment = datetime.fromisoformat(text)
        seconds = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except ValueError:
        return None
    return seconds if 0 <= seconds <= LARGEST else None
