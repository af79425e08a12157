"""Stories of queues, jobs, pods and nodes: what happened to each, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from scheduler_core.explain.cycle_view import CycleView, Object, Unknown
from scheduler_core.explain.deserved import derived
from scheduler_core.explain.flow import flow
from scheduler_core.explain.loops import looping_jobs
from scheduler_core.explain.pending import diagnosis, members, unknown_queue
from scheduler_core.explain.reasons import Reason
from scheduler_core.explain.standing import PodOutcome, job_standing, node_standing, pod_standing
from scheduler_core.explain.victims import evictions, story_of

Story = dict[str, Any]

_MOVES = ("bind", "pipeline", "evict")


def job_story(document: Object, result: Object, job: str, *, cycle: int | None = None) -> Story:
    """Return what happened to a job, and what stopped it in the given or the last cycle.

    Returns
    -------
    dict
        `job`, `queue`, `cycle`, `priority`, `phase_before`, `phase_after`, `members`, `reason` (its state
        in one sentence), `pending` (the diagnosis, None if nothing waits), `steps` (its decisions in
        all cycles), `victims_for` (the pods evicted for it) and `lost` (its own evicted pods).

    Raises
    ------
    Unknown
        If neither the run nor the scenario has the job.

    """
    view = CycleView(document, result, cycle)
    name = view.key_of_job(job)
    if name not in view.jobs:
        missing = unknown_queue(document, name)
        if missing is None:
            raise Unknown(f"the run has no job {name}")
        return {"job": name, "queue": missing["numbers"]["queue"], "cycle": view.number, "reason": missing}
    entry = view.jobs[name]
    pending = diagnosis(view, name)
    found = [eviction for number in _cycles(result) for eviction in _evictions(document, result, number)]
    return {
        "job": name,
        "queue": entry["queue"],
        "cycle": view.number,
        "priority": entry["priority"],
        "phase_before": entry["phase_before"],
        "phase_after": entry["phase_after"],
        "members": members(entry),
        "reason": _looping(view).get(name) or job_standing(entry, pending),
        "pending": pending,
        "steps": _steps(result, lambda step: step["job"] == name),
        "victims_for": [eviction for eviction in found if eviction["for_job"] == name],
        "lost": [eviction for eviction in found if eviction["job"] == name],
    }


def waiting_jobs(document: Object, result: Object, *, cycle: int | None = None) -> list[str]:
    """Return the jobs with waiting pods at the end of a cycle."""
    view = CycleView(document, result, cycle)
    return [name for name in view.jobs if diagnosis(view, name) is not None]


def queue_story(document: Object, result: Object, queue: str, *, cycle: int | None = None) -> Story:
    """Return what happened to a queue.

    Returns
    -------
    dict
        `queue`, `cycle`, `deserved` (its derivation), `at_open` and `at_end` (its figures, None if it was
        not in the session), `jobs` (job, phase, members, reason), `given` and `taken` (flow to and from it)
        and `steps`.

    """
    view = CycleView(document, result, cycle)
    if queue not in view.queues("at_open") and queue not in _queue_names(document):
        raise Unknown(f"the run has no queue {queue}")
    jobs = [entry for entry in view.cycle["podgroups"] if entry["queue"] == queue]
    links = flow(document, result)
    names = {entry["name"] for entry in jobs}
    looping = _looping(view)
    return {
        "queue": queue,
        "cycle": view.number,
        "deserved": derived(view, queue),
        "at_open": view.queues("at_open").get(queue),
        "at_end": view.queues("at_end").get(queue),
        "jobs": [
            {
                "job": entry["name"],
                "phase_after": entry["phase_after"],
                "members": members(entry),
                "reason": looping.get(entry["name"]) or job_standing(entry, diagnosis(view, entry["name"])),
            }
            for entry in jobs
        ],
        "given": [link for link in links if link["to"] == queue],
        "taken": [link for link in links if link["from"] == queue],
        "steps": _steps(result, lambda step: step["job"] in names),
    }


def pod_story(document: Object, result: Object, pod: str, *, cycle: int | None = None) -> Story:
    """Return what happened to a pod.

    Returns
    -------
    dict
        `pod`, `job`, `queue`, `cycle`, `status`, `node`, `reason`, `request`, `steps`, `evictions` (victim
        stories) and `victims_for` (the pods evicted for it).

    """
    view = CycleView(document, result, cycle)
    name = view.qualified(pod)
    if name not in view.pods:
        raise Unknown(f"the run has no pod {name}")
    task = view.task_of.get(name, {})
    steps = _steps(result, lambda step: name in (step.get("pod"), step.get("for")))
    found = [eviction for number in _cycles(result) for eviction in _evictions(document, result, number)]
    stories = []
    for number in _cycles(result):
        here = CycleView(document, result, number)
        stories += [story_of(here, entry) for entry in evictions(here) if entry["pod"] == name]
    job = view.job_of.get(name, "")
    return {
        "pod": name,
        "job": job,
        "queue": view.queue_of_job(job),
        "cycle": view.number,
        "status": task.get("status") or "",
        "node": task.get("node") or "",
        "reason": _pod_standing(view, name, steps),
        "request": view.request(name),
        "steps": steps,
        "evictions": stories,
        "victims_for": [eviction for eviction in found if eviction["for"] == name],
    }


def node_story(document: Object, result: Object, node: str, *, cycle: int | None = None) -> Story:
    """Return what happened on a node.

    Returns
    -------
    dict
        `node`, `cycle`, `amounts` (at the end of the cycle: idle, used, releasing, pipelined), `pods` (that
        are there at the end), `reason` and `steps`.

    """
    view = CycleView(document, result, cycle)
    amounts = next((entry for entry in view.cycle["nodes"] if entry["name"] == node), None)
    if amounts is None:
        raise Unknown(f"the run has no node {node}")
    pods = [
        {"pod": pod, "job": view.job_of[pod], "status": task["status"]}
        for pod, task in view.task_of.items()
        if task.get("node") == node
    ]
    steps = _steps(result, lambda step: step.get("node") == node)
    happened = {(step["op"], step["pod"]) for step in steps if step["state"] == "committed"}
    counts = {op: sum(kind == op for kind, _ in happened) for op in _MOVES}
    counts["pipeline"] = sum(pod["status"] == "Pipelined" for pod in pods)
    return {
        "node": node,
        "cycle": view.number,
        "amounts": amounts,
        "pods": pods,
        "reason": node_standing(node, amounts["idle"], amounts["releasing"], counts),
        "steps": steps,
    }


def _cycles(result: Object) -> range:
    return range(1, len(result.get("cycles") or ()) + 1)


def _queue_names(document: Object) -> set[str]:
    from_document = document.get("queues") or ()
    entries = from_document.get("items") or () if isinstance(from_document, dict) else from_document
    return {"default", "root", *(entry["metadata"]["name"] for entry in entries)}


def _steps(result: Object, concerns: Callable[[Object], bool]) -> list[Story]:
    """Return the decisions for which `concerns` is True, each with its cycle and step."""
    return [
        {"cycle": cycle["cycle"], "step": step, **decision}
        for cycle in result.get("cycles") or ()
        for step, decision in enumerate(cycle["decisions"], start=1)
        if concerns(decision)
    ]


def _evictions(document: Object, result: Object, cycle: int) -> Iterator[Story]:
    view = CycleView(document, result, cycle)
    for entry in evictions(view):
        for_job = entry.get("for_job") or view.job_of.get(entry["for"], "")
        yield {
            "cycle": cycle,
            **{
                name: entry[name]
                for name in ("step", "pod", "job", "queue", "node", "for", "action", "state")
            },
            "for_job": for_job,
            "for_queue": view.queue_of_job(for_job),
        }


def _looping(view: CycleView) -> Mapping[str, Reason]:
    """Return the state of jobs in an eviction loop, if the view is on the last cycle."""
    is_last = view.number == len(view.result["cycles"])
    return looping_jobs(view.document, view.result) if is_last else {}


def _pod_standing(view: CycleView, pod: str, steps: Sequence[Story]) -> Reason:
    """Return a pod's state at the end of a cycle."""
    task = view.task_of.get(pod)
    if task is None:
        return pod_standing(pod, None, steps)
    until = [step for step in steps if step["cycle"] <= view.number]
    diagnosed = diagnosis(view, view.job_of[pod]) if task["status"] == "Pending" else None
    waits_for = diagnosed["reason"]["sentence"] if diagnosed is not None else ""
    stands = PodOutcome(task["status"], task.get("node") or "", task.get("message") or waits_for)
    return pod_standing(pod, stands, until)
