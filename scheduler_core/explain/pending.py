"""What stopped a waiting job first, and by how much?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.explain.picture import Object, Picture, items, key_of, queue_named
from scheduler_core.explain.reasons import Reason, reason
from scheduler_core.explain.wording import counted, said, said_all

_GATES = {
    "enqueue": "gate.enqueue",
    "overused": "gate.overused",
    "queue": "gate.queue",
    "schedulingGate": "gate.scheduling-gate",
    "gang": "gate.gang",
    "node": "gate.node",
    "reclaim": "gate.reclaim",
}
_WAITING = ("Pending", "Pipelined", "Allocated")
_PLACING = {"allocate", "backfill", "preempt", "reclaim", "gangpreempt", "gangreclaim"}

# What a node says begins with one of these.
_REFUSALS = (
    ("Insufficient ", "node.insufficient"),
    ("node(s) didn't match Pod's node affinity", "node.affinity"),
    ("node(s) didn't match pod affinity", "node.pod-affinity"),
    ("node(s) didn't match pod anti-affinity", "node.pod-affinity"),
    ("node(s) didn't satisfy existing pods anti-affinity", "node.pod-affinity"),
    ("node(s) had untolerated taint", "node.taint"),
    ("node(s) were unschedulable", "node.unschedulable"),
    ("node(s) didn't have free ports", "node.ports"),
    ("node(s) didn't match pod topology spread", "node.spread"),
    ("node(s) pod number exceeded", "node.pods"),
    ("node group ", "node.group"),
    ("node does not satisfy the node group", "node.group"),
    ("not allow to dispatch to revocable node", "node.revocable"),
)


def diagnosis(picture: Picture, job: str) -> dict[str, Any] | None:
    """Return the first gate that stopped a job, None when all its pods have a place.

    Returns
    -------
    dict or None
        `gate`, `reason`, `plugin`, `queue` (an ancestor's where that is what lacks room), `resource`,
        `required`, `available`, `missing`, `short` (the same for every resource), `nodes` (count and reason),
        `closest` (node, lacks, free), `members` (minimum, placed, promised, pending).

    """
    entry = picture.job(job)
    if not any(entry["task_status"].get(status) for status in _WAITING):
        return None
    told: Mapping[str, Any] = picture.explain.get("pending", {}).get(entry["name"]) or {}
    gate = told.get("gate") or _unsaid(picture, entry)
    return {
        "gate": gate,
        "reason": _reason(picture, entry, gate, told),
        "plugin": told.get("plugin") or "",
        "queue": told.get("queue") or entry["queue"],
        **{name: told.get(name) for name in ("resource", "required", "available", "missing")},
        "short": told.get("short") or {},
        "pod": told.get("pod") or "",
        "nodes": [_refusal(text, count) for text, count in (told.get("nodes") or {}).items()],
        "closest": told.get("closest"),
        "members": members(entry),
    }


def unknown_queue(document: Object, job: str) -> Reason | None:
    """Return that a job's PodGroup names a queue that does not exist, None when that is not so."""
    queues = {entry["metadata"]["name"] for entry in items(document, "queues")}
    if document.get("default_queues") is not False:
        queues |= {"default", "root"}
    for podgroup in items(document, "podgroups"):
        if key_of(podgroup) == job and queue_named(podgroup) not in queues:
            name = queue_named(podgroup)
            return reason(
                "gate.unknown-queue",
                f"Job {job} names queue {name}, which does not exist: the scheduler leaves it out.",
                {"queue": name},
            )
    return None


def members(entry: Object) -> dict[str, int]:
    """Return a gang's numbers: its minimum, and how many pods are placed, promised and pending."""
    status = entry["task_status"]
    return {
        "minimum": entry["minAvailable"],
        "placed": sum(
            status.get(name, 0) for name in ("Allocated", "Binding", "Bound", "Running", "Succeeded")
        ),
        "promised": status.get("Pipelined", 0),
        "pending": status.get("Pending", 0),
    }


def _unsaid(picture: Picture, entry: Object) -> str:
    """Return the gate of a job that nothing was kept of."""
    if entry["phase_in_session"] in ("", "Pending"):
        return "turn" if "enqueue" in picture.actions else "noAction"
    if entry["session_job_ready"] or entry["session_job_pipelined"]:
        return "promised"
    if not _PLACING & set(picture.actions):
        return "noAction"
    return "incomplete" if members(entry)["placed"] else "turn"


def _reason(picture: Picture, entry: Object, gate: str, told: Mapping[str, Any]) -> Reason:
    job, queue = entry["name"], told.get("queue") or entry["queue"]
    if gate == "promised":
        return promised(entry)
    if gate == "noAction":
        return reason("gate.no-action", f"No configured action would take up job {job}.")
    if gate == "turn":
        return reason("gate.turn", f"Nothing was tried for job {job} in this cycle.")
    if gate == "incomplete":
        counts = members(entry)
        missing = max(counts["minimum"] - counts["placed"] - counts["promised"], 0)
        text = (
            f"Job {job} lacks {counted(missing, 'member')} of the {counts['minimum']} that must run together."
        )
        return reason("gate.incomplete", text, {**counts, "missing": missing})
    if gate == "node":
        return _no_node(job, told)
    name = "gate.closed" if "required" not in told and "not Open" in told.get("message", "") else _GATES[gate]
    numbers = {
        key: told[key] for key in ("resource", "required", "available", "missing", "short") if key in told
    }
    return reason(
        name,
        f"{_stage(gate, job)}: {told.get('message', '')}{_amounts(gate, told)}.",
        {"queue": queue, **numbers},
    )


def _stage(gate: str, job: str) -> str:
    return {
        "enqueue": f"Job {job} was not let in",
        "overused": f"Job {job} got no turn",
        "queue": f"A pod of job {job} may not be placed",
        "schedulingGate": f"Pods of job {job} are not to be scheduled yet",
        "gang": f"Job {job} can never be complete",
        "reclaim": f"Nobody may be evicted for job {job}",
    }[gate]


def _amounts(gate: str, told: Mapping[str, Any]) -> str:
    if "required" not in told:
        return ""
    if gate == "gang":
        return f" (needs {told['required']} pods, has {told['available']})"
    short = told.get("short") or {told["resource"]: told}
    return f" ({'; '.join(_shortage(name, facts) for name, facts in short.items())})"


def _shortage(resource: str, facts: Mapping[str, float]) -> str:
    available = facts["available"]
    left = (
        f"{said(resource, available)} left"
        if available >= 0
        else f"already {said(resource, -available)} above the limit"
    )
    return f"asks for {said(resource, facts['required'])}, {left}, {said(resource, facts['missing'])} missing"


def promised(entry: Object) -> Reason:
    """Return that a job waits for resources that are being released."""
    counts = members(entry)
    return reason(
        "job.promised",
        f"{counted(counts['promised'], 'pod')} of job {entry['name']} will start once others have left.",
        counts,
    )


def _no_node(job: str, told: Mapping[str, Any]) -> Reason:
    closest = told.get("closest")
    text = f"No node takes pod {told.get('pod', '')} of job {job}: {told.get('message', '').rstrip('.')}"
    if closest is not None:
        text += (
            f"; the closest is {closest['node']}, which lacks {said_all(closest['lacks'], closest['lacks'])}"
        )
    return reason("gate.node", f"{text}.", {"nodes": told.get("nodes") or {}, "closest": closest})


def _refusal(text: str, count: int) -> dict[str, Any]:
    name = next((name for start, name in _REFUSALS if text.startswith(start)), "node.other")
    numbers: dict[str, Any] = {"nodes": count}
    if name == "node.insufficient":
        numbers["resource"] = text.removeprefix("Insufficient ")
    return {
        "count": count,
        "text": text,
        "reason": reason(name, f"{counted(count, 'node')}: {text}.", numbers),
    }
