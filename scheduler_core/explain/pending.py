"""Diagnosis of a waiting job: the gate that stopped it, and what it lacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_core.admission import Admission
from scheduler_core.explain.cycle_view import CycleView, Object, items, key_of, queue_named
from scheduler_core.explain.reasons import Reason, reason
from scheduler_core.explain.refused import not_enqueued, queue_full
from scheduler_core.explain.unplaced import no_node, refusals
from scheduler_core.explain.wording import agreed, counted, listed
from scheduler_core.model.status import BEFORE_PODS

_WAITING = ("Pending", "Pipelined", "Allocated")
_UNEXPLAINED: Mapping[str, Any] = {"gate": "turn", "unexplained": True}
NO_PODS: Mapping[str, Any] = {"gate": "noPods"}


def awaits_pods(entry: Object) -> bool:
    """Return whether a job has no pods but may still get some."""
    return not entry.get("tasks") and (entry.get("phase_after") or "") in BEFORE_PODS


def is_enqueued_without_pods(entry: Object) -> bool:
    """Return whether a job is enqueued and its controller has not created pods yet."""
    return awaits_pods(entry) and entry.get("phase_after") == "Inqueue"


def diagnosis(view: CycleView, job: str) -> dict[str, Any] | None:
    """Return why a job waits, None if all its pods are placed; without pods it may wait for the first ones.

    Returns
    -------
    dict or None
        `gate`, `reason`, `plugin`, `queue` (the ancestor's name if that one lacks room), `resource`,
        `required`, `available`, `missing`, `short` (the same for every resource), `pod`, `nodes` (count and
        reason), `closest` (node, lacks, free), `members` (minimum, placed, promised, pending).

    """
    entry = view.job(job)
    if not awaits_pods(entry) and not any(entry["task_status"].get(status) for status in _WAITING):
        return None
    known = _known(view, entry)
    return {
        "gate": known["gate"],
        "reason": _reason(view, entry, known),
        "plugin": known.get("plugin") or "",
        "queue": known.get("queue") or entry["queue"],
        **{name: known.get(name) for name in ("resource", "required", "available", "missing")},
        "short": known.get("short") or {},
        "pod": known.get("pod") or "",
        "nodes": refusals(known),
        "closest": known.get("closest"),
        "members": members(entry),
    }


def _known(view: CycleView, entry: Object) -> Mapping[str, Any]:
    """Return the facts of why a job waits."""
    explained: Mapping[str, Any] | None = view.explain.get("pending")
    facts: Mapping[str, Any] | None = (explained or {}).get(entry["name"])
    if is_enqueued_without_pods(entry) or (explained is not None and not facts and awaits_pods(entry)):
        return NO_PODS
    return facts or _UNEXPLAINED


def unknown_queue(document: Object, job: str) -> Reason | None:
    """Return the reason that a job's PodGroup names an unknown queue, None if it does not."""
    name = unknown_queues(document).get(job)
    if name is None:
        return None
    return reason(
        "gate.unknown-queue",
        f"Job {job} names queue {name}, which does not exist: the scheduler ignores the job.",
        {"queue": name},
    )


def unknown_queues(document: Object) -> dict[str, str]:
    """Return the PodGroups that name a queue that does not exist, each with this name.

    Includes the PodGroups that controllers create.
    """
    queues = {entry["metadata"]["name"] for entry in items(document, "queues")}
    if document.get("default_queues") is not False:
        queues |= {"default", "root"}
    named = {key_of(podgroup): queue_named(podgroup) for podgroup in items(document, "podgroups")}
    if document.get("jobs") or document.get("controllers") is True:
        created = Admission(document).cluster().podgroups
        named |= {key: queue_named(podgroup) for key, podgroup in created.items()}
    return {job: queue for job, queue in named.items() if queue not in queues}


def members(entry: Object) -> dict[str, int]:
    """Return a gang's minimum, and the number of placed, pipelined and pending pods."""
    status = entry["task_status"]
    return {
        "minimum": entry["minAvailable"],
        "placed": sum(
            status.get(name, 0) for name in ("Allocated", "Binding", "Bound", "Running", "Succeeded")
        ),
        "promised": status.get("Pipelined", 0),
        "pending": status.get("Pending", 0),
    }


def _reason(view: CycleView, entry: Object, known: Mapping[str, Any]) -> Reason:
    job, gate = entry["name"], known["gate"]
    queue = known.get("queue") or entry["queue"]
    if gate == "promised":
        return promised(entry)
    if gate == "noAction":
        return _no_action(job, known)
    if gate == "turn":
        return _no_turn(job, known)
    if gate == "noPods":
        so_far = (
            "is enqueued, but none of its pods exists yet"
            if is_enqueued_without_pods(entry)
            else "has no pods"
        )
        text = f"Job {job} {so_far}: its controller creates them once its PodGroup is Inqueue."
        return reason("gate.no-pods", text)
    if gate == "schedulingGate":
        return _gated(entry, known)
    if gate == "gang":
        return _never_complete(job, known)
    if gate == "node":
        return _with_undone(no_node(known), entry, known)
    if gate == "refused":
        text = f"A place was found for pod {known['pod']}, but it could not be taken: {known['message']}."
        return reason("gate.refused", text, {"queue": queue})
    if gate == "overused":
        text = (
            f"Queue {queue} is overused: it holds at least what it deserves of every resource, so allocate "
            f"passed it over before job {job} had its turn."
        )
        return reason("gate.overused", text, {"queue": queue})
    stage = _STAGES[gate].format(job=job, pod=known.get("pod"))
    if "required" not in known:
        message = known.get("message") or f"plugin {known.get('plugin')} refuses"
        name = "gate.closed" if "not Open" in message else _GATES[gate]
        return reason(name, f"{stage}: {message}.", {"queue": queue})
    if gate == "enqueue":
        return not_enqueued(view, job, known)
    return _with_undone(queue_full(view, _GATES[gate], stage, known), entry, known)


_GATES = {"enqueue": "gate.enqueue", "queue": "gate.queue", "reclaim": "gate.reclaim"}
_STAGES = {
    "enqueue": "Job {job} was not enqueued",
    "queue": "Pod {pod} may not be placed",
    "reclaim": "Action allocate is not configured, and reclaim may not evict for job {job}",
}


def _no_action(job: str, known: Mapping[str, Any]) -> Reason:
    missing = known.get("action", "")
    text = {
        "enqueue": f"Neither enqueue nor allocate is configured, so job {job} is not enqueued.",
        "allocate": f"Action allocate is not configured, so the pods of job {job} get no idle resources.",
        "backfill": f"Action backfill is not configured, and no other action places pods without requests "
        f"({listed(known.get('pods', ()))}).",
    }[missing]
    return reason("gate.no-action", text, {"action": missing})


def _no_turn(job: str, known: Mapping[str, Any]) -> Reason:
    if known.get("late"):
        text = (
            f"Job {job} was enqueued after action allocate had run, as the configuration names enqueue "
            "behind allocate; allocate tries it in the next cycle."
        )
    elif known.get("unexplained"):
        text = f"The run was made without explanations, so it does not say why job {job} waits."
    else:
        text = f"No action tried job {job} in this cycle."
    return reason("gate.turn", text)


def _gated(entry: Object, known: Mapping[str, Any]) -> Reason:
    """Return the reason that pods have scheduling gates, and how many placements of others were undone."""
    gated, minimum, size = known["gated"], entry["minAvailable"], sum(entry["task_status"].values())
    names = listed([f'"{name}"' for name in known["gates"]])
    gates = (
        f"{agreed(gated, 'has', 'have')} scheduling {agreed(len(known['gates']), 'gate', 'gates')} {names}"
    )
    numbers = {**members(entry), "gated": gated, "gates": known["gates"], "undone": known.get("undone", 0)}
    if gated == size:
        whose = "The only pod" if size == 1 else f"All {size} pods"
        return reason("gate.scheduling-gate", f"{whose} of job {entry['name']} {gates}.", numbers)
    text = (
        f"{gated} of the {size} pods {'it needs ' if size == minimum else ''}({_few(known, gated)}) {gates}"
    )
    undone = known.get("undone", 0)
    if undone and not entry["session_job_ready"]:
        text += f"; the other {undone} {agreed(undone, 'was', 'were')} tried and undone"
    return reason("gate.scheduling-gate", f"{text}.", numbers)


def _few(known: Mapping[str, Any], count: int) -> str:
    names = [name.rpartition("/")[2] for name in known["pods"]]
    return listed(names) if count <= len(names) else f"{', '.join(names)} and {count - len(names)} more"


def _never_complete(job: str, known: Mapping[str, Any]) -> Reason:
    roles: Sequence[Mapping[str, Any]] = known.get("roles") or ()
    numbers = {name: known[name] for name in ("required", "available", "missing")}
    if roles:
        text = f"Job {job} cannot start: {_of_roles(roles)}"
        return reason("gate.gang", f"{text}.", {**numbers, "roles": roles})
    text = (
        f"Job {job} cannot start: minMember is {known['required']}, and it has "
        f"{counted(known['available'], 'pod')} that can run"
    )
    return reason("gate.gang", f"{text}.", numbers)


def _of_roles(roles: Sequence[Mapping[str, Any]]) -> str:
    needs = 'role "{role}" needs {required}, has {available}'
    return listed([needs.format(**role) for role in roles])


def _with_undone(why: Reason, entry: Object, known: Mapping[str, Any]) -> Reason:
    """Return a reason extended by the number of pods whose placement was undone."""
    undone = known.get("undone", 0)
    if not undone or entry["session_job_ready"]:
        return why
    text = (
        f"{why['sentence'].rstrip('.')}; {counted(undone, 'other pod')} that found room "
        f"{agreed(undone, 'was', 'were')} undone."
    )
    return reason(why["id"], text, {**why["numbers"], "undone": undone})


def promised(entry: Object) -> Reason:
    """Return the reason that a job waits for resources being released, or for the rest of its gang."""
    counts = members(entry)
    if counts["promised"]:
        text = (
            f"{counted(counts['promised'], 'pod')} of job {entry['name']} "
            f"{agreed(counts['promised'], 'is', 'are')} pipelined: "
            f"{agreed(counts['promised'], 'it starts', 'they start')} once the evicted and terminating pods "
            "have released their resources."
        )
    else:
        kept = entry["task_status"].get("Allocated", 0)
        text = (
            f"{counted(kept, 'pod')} of job {entry['name']} {agreed(kept, 'has', 'have')} a place but "
            f"{agreed(kept, 'is', 'are')} not bound before the gang of {counts['minimum']} is complete."
        )
    return reason("job.promised", text, counts)
