"""From one session to the next: ``golden/README.md``, "cycles"; ``spec/addenda.md`` C4 and C5."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tests.reference.admission import items, key_of
from tests.reference.pods import Task
from tests.reference.session import Session
from tests.reference.times import moment

Object = Mapping[str, Any]

EVICTED = (
    {"type": "Ready", "status": "False", "reason": "Evict"},
    {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"},
)
CLOCK = "cycle"  # where a terminating pod carries the number of the session that evicted it


def after(document: Object, session: Session, number: int) -> dict[str, Any]:
    """Return the scenario after a session's decisions."""
    seconds = document.get("cycle_seconds", 1)
    time = session.cluster.now + (1 if seconds is None else seconds)
    now = moment(time)
    committed = [decision for decision in session.decisions if decision["state"] == "committed"]
    bound = {decision["pod"]: decision["node"] for decision in committed if decision["op"] == "bind"}
    evicted = {decision["pod"] for decision in committed if decision["op"] == "evict"}
    tasks = {task.key: task for job in session.cluster.jobs.values() for task in job.tasks}
    groups = [closed_group(group, session) for group in items(document, "podgroups")]
    pods: list[Object] = []
    for pod in items(document, "pods"):
        key = key_of(pod)
        if key in evicted:
            pod = evicted_pod(pod, now)
            pod = {**pod, "metadata": {**pod["metadata"], CLOCK: number}}
        elif key in bound:
            pod = bound_pod(pod, bound[key], now)
        elif key in tasks:
            pod = nominated_pod(pod, tasks[key])
        gone_after = pod["metadata"].get(CLOCK, number) + document.get("termination_cycles", 0)
        if CLOCK not in pod["metadata"] or gone_after > number:
            pods.append(pod)
        elif document.get("evicted", "requeue") == "requeue":
            pods.append(_requeued(pod, now, number))
    return {**document, "podgroups": groups, "pods": pods, "now": now}


def closed_group(group: Object, session: Session) -> Object:
    job = session.cluster.jobs.get(key_of(group))
    if job is None:
        return group
    return {**group, "status": {**(group.get("status") or {}), "phase": session.phase_after(job)}}


def bound_pod(pod: Object, node: str, now: str) -> Object:
    status = {key: value for key, value in (pod.get("status") or {}).items() if key != "nominatedNodeName"}
    others = [one for one in status.get("conditions") or () if one.get("type") != "PodScheduled"]
    scheduled = {"type": "PodScheduled", "status": "True", "lastTransitionTime": now}
    status |= {"phase": "Running", "startTime": now, "conditions": [*others, scheduled]}
    return {**pod, "spec": {**pod["spec"], "nodeName": node}, "status": status}


def evicted_pod(pod: Object, now: str) -> Object:
    status = pod.get("status") or {}
    names = {condition["type"] for condition in EVICTED}
    others = [one for one in status.get("conditions") or () if one.get("type") not in names]
    metadata = {**pod["metadata"], "deletionTimestamp": now}
    return {**pod, "metadata": metadata, "status": {**status, "conditions": [*others, *EVICTED]}}


def nominated_pod(pod: Object, task: Task) -> Object:
    node, status, evicts = task.last or (task.node, task.status, task.evicts)
    waits = task.status in ("Allocated", "Pending", "Pipelined") and not task.gated
    if not (waits and status == "Pipelined" and evicts):
        return pod
    return {**pod, "status": {**(pod.get("status") or {}), "nominatedNodeName": node}}


def _requeued(pod: Object, now: str, number: int) -> Object:
    uid = pod["metadata"].get("uid") or key_of(pod).replace("/", "-")
    returned = returned_pod(pod, re.sub(r"-re\d+$", "", uid) + f"-re{number}", now)
    spec = {key: value for key, value in returned["spec"].items() if key != "schedulerName"}
    return {**returned, "spec": spec}


def returned_pod(pod: Object, uid: str, now: str) -> Object:
    """Return a recreated pod: pending, with another uid."""
    metadata = {k: value for k, value in pod["metadata"].items() if k not in ("deletionTimestamp", CLOCK)}
    metadata |= {"uid": uid, "creationTimestamp": now}
    spec = {key: value for key, value in pod["spec"].items() if key != "nodeName"}
    return {**pod, "metadata": metadata, "spec": spec, "status": {"phase": "Pending"}}
