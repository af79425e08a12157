"""Results: sessions as plain dictionaries in the recorded format.

Resource maps are in the scheduler's units: milli-cores, bytes, milli-units; `pods` is a count.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scheduler_core.framework.session import Session
from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.model.messages import fit_error, task_reason
from scheduler_core.model.pod_info import PodInfo
from scheduler_core.model.status import LABELS, WAITING_STATUSES, TaskStatus
from scheduler_core.recording.recorder import Recorder
from scheduler_core.recording.waiting import waits_for
from scheduler_core.rendering import number, plain
from scheduler_core.resource import CPU, MEMORY

_EXACT = 2.0**53
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False)
_key = attrgetter("key")
_ALWAYS = frozenset({CPU, MEMORY})
_CONDITION = ("type", "status", "reason", "message")
BRIEF_PARTS = ("at_end", "decisions", "nodes", "podgroups")
"""Parts of a cycle that a brief result may have: only the queues at the end, the committed evictions of the
decisions, and for PodGroups their names, queues, readiness, and the status of each task."""
_STATE_KEYS = ("queue_plugin", "queues", "total_resource", "drf_jobs", "hdrf_tree", "overcommit")


def state(session: Session) -> dict[str, Any]:
    """Return the current state of queues and jobs in the plugins (S of the format)."""
    reported: dict[str, Any] = {"total_resource": session.total}
    for report in session.registry.reports:
        reported.update(report())
    shown: dict[str, Any] = plain({name: reported[name] for name in _STATE_KEYS if name in reported})
    return shown


def cycle_result(session: Session, at_open: Mapping[str, Any], at_end: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result of one closed session, without its number."""
    return {
        "at_open": at_open,
        "at_end": at_end,
        "decisions": [d.as_dict() for d in session.decisions],
        "nodes": nodes_of(session),
    }


def brief_before_close(
    session: Session, shows: Collection[str], subject: JobInfo | None = None
) -> dict[str, Any]:
    """Return the parts of a brief result that are known before the session closes.

    If the result is about one job, it has only that job's PodGroup.
    """
    brief: dict[str, Any] = dict.fromkeys(part for part in BRIEF_PARTS if part in shows)
    if "at_end" in brief:
        reports = [report() for report in session.registry.reports]
        queues = [reported["queues"] for reported in reports if "queues" in reported]
        brief["at_end"] = {"queues": plain(queues[-1])} if queues else {}
    if "podgroups" in brief:
        brief["podgroups"] = [
            {"name": job.key, "queue": job.queue, "ready": job.is_ready()}
            for job in (session.jobs.values() if subject is None else [subject])
        ]
    return brief


def brief_after_close(
    session: Session, brief: dict[str, Any], subject: JobInfo | None = None
) -> dict[str, Any]:
    """Complete a brief result after the session has closed."""
    if "decisions" in brief:
        evicted = [one for one in session.decisions if one.op == "evict" and one.state == "committed"]
        brief["decisions"] = [decision.as_dict() for decision in evicted]
    if "nodes" in brief:
        brief["nodes"] = nodes_of(session)
    for entry in brief.get("podgroups") or ():
        entry["tasks"] = _counted_tasks(session.jobs[entry["name"]]) if subject is None else tasks_of(subject)
    return brief


def _counted_tasks(job: JobInfo) -> list[dict[str, Any]]:
    """Return the status of each task."""
    counts = job.status_counts().items()
    return [task for status, count in counts for task in [{"status": LABELS[status]}] * count]


def nodes_of(session: Session) -> list[dict[str, Any]]:
    """Return each node's amounts, without scalars of 0."""
    table = session.nodes
    columns = [
        _maps(matrix, table.axis.names)
        for matrix in (table.idle, table.used, table.releasing, table.pipelined)
    ]
    return [
        {"name": node, "idle": idle, "used": used, "releasing": releasing, "pipelined": pipelined}
        for node, idle, used, releasing, pipelined in zip(table.names, *columns, strict=True)
    ]


def _maps(matrix: NDArray[np.float64], names: Sequence[str]) -> list[dict[str, float]]:
    """Return each row of an array as a map."""
    if not matrix.any():
        return [dict.fromkeys((CPU, MEMORY), 0) for _ in range(len(matrix))]
    whole = bool((np.abs(matrix) < _EXACT).all()) and bool((matrix == np.floor(matrix)).all())
    rows = (matrix.astype(np.int64) if whole else matrix).tolist()
    if not whole:
        rows = [[number(amount) for amount in row] for row in rows]
    complete = (matrix[:, 2:] != 0.0).all(axis=1).tolist()
    return [
        dict(zip(names, row, strict=True))
        if is_complete
        else {name: amount for name, amount in zip(names, row, strict=True) if amount or name in _ALWAYS}
        for row, is_complete in zip(rows, complete, strict=True)
    ]


def podgroup_before_close(session: Session, job: JobInfo) -> dict[str, Any]:
    """Return a job's numbers after the last action."""
    entry: dict[str, Any] = {
        "name": job.key,
        "queue": job.queue,
        "phase_before": job.phase_before,
        "phase_in_session": job.phase,
        "phase_after": "",
        "minAvailable": job.min_available,
        "priority": job.priority,
        "ready": job.is_ready(),
        "pipelined": job.is_pipelined(),
        "starving": job.is_starving(),
        "session_job_ready": session.plugins.job_ready(job),
        "session_job_pipelined": session.plugins.job_pipelined(job),
    }
    failure = session.plugins.job_valid(job)
    if failure is not None:
        entry["invalid_reason"] = ": ".join(failure)
    entry["task_status"] = {LABELS[status]: count for status, count in job.status_counts().items()}
    return entry


def add_after_close(podgroup: dict[str, Any], job: JobInfo) -> None:
    """Complete a job's numbers with those that the session wrote when it closed."""
    podgroup["phase_after"] = job.phase
    if waits(job):
        podgroup["fit_error"] = fit_error(job)
    if TaskStatus.PENDING in job.status_counts():
        texts = (task_reason(task) for task in job.by_status[TaskStatus.PENDING].values())
        podgroup["pending_reasons"] = dict(
            sorted(Counter(message or reason for reason, message, _ in texts).items())
        )
    if job.conditions:
        podgroup["conditions"] = [
            {name: text for name in _CONDITION if (text := entry.get(name))} for entry in job.conditions
        ]
    podgroup["tasks"] = tasks_of(job)


def tasks_of(job: JobInfo) -> list[dict[str, Any]]:
    """Return the state of each task of a job, by namespace/name."""
    return [task_result(task) for task in sorted(job.seen(), key=_key)]


def waits(job: JobInfo) -> bool:
    """Return whether any task of a job is still to be bound."""
    return not WAITING_STATUSES.isdisjoint(job.status_counts())


def task_result(task: TaskInfo | PodInfo) -> dict[str, Any]:
    """Return the state of a task, or of its pod if no action examined the task."""
    entry = {"pod": task.key}
    if task.role:
        entry["role"] = task.role
    entry["status"] = LABELS[task.status]
    if task.node_name:
        entry["node"] = task.node_name
    if task.status in WAITING_STATUSES and isinstance(task, TaskInfo):
        reason, message, nominated = task_reason(task)
        entry["reason"] = reason
        if message:
            entry["message"] = message
        if nominated:
            entry["nominatedNodeName"] = nominated
    return entry


def explanations(session: Session, recorder: Recorder) -> dict[str, Any]:
    """Return the `explain` block of a session."""
    victims = []
    for decision in session.decisions:
        if decision.op == "evict" and decision.explanation is not None:
            entry = decision.explanation
            victims.append(
                {
                    "pod": decision.pod,
                    "job": decision.job,
                    "queue": entry["queue"],
                    "node": decision.node,
                    "for": decision.for_pod,
                    "action": decision.action,
                    **{name: value for name, value in entry.items() if name != "queue"},
                }
            )
    waiting = {
        key: waits_for(session, job, recorder.pending.get(key))
        for key, job in session.jobs.items()
        if job.is_pending or waits(job)
    }
    return {
        "deserved": plain(recorder.deserved),
        "victims": plain(victims),
        "spared": spared_candidates(recorder),
        "left_out": {pod: nodes for pod, nodes in sorted(recorder.left_out.items()) if nodes},
        "pending": plain({job: waiting[job] for job in sorted(waiting)}),
    }


def spared_candidates(recorder: Recorder) -> list[dict[str, Any]]:
    """Return the refusals; numbers that several of them share are converted once.

    The recorder is not read again, so its entries are completed in place.
    """
    known: dict[int, tuple[Any, Any]] = {}
    refusals = [entry for kept in recorder.spared.values() for entry in kept.values()]
    for entry in refusals:
        numbers = entry["numbers"]
        made = known.get(id(numbers))
        if made is None:
            made = known[id(numbers)] = numbers, plain(numbers)
        entry["numbers"] = made[1]
    return refusals


def encode(result: Mapping[str, Any]) -> bytes:
    """Return a result as compact UTF-8 JSON with a final newline."""
    return b"".join(encoded(result))


def encoded(result: Mapping[str, Any]) -> Iterator[bytes]:
    """Yield the same in pieces, so that a large result is not in memory several times.

    Halves of surrogate pairs in names are written as their escapes, as they were read.
    """
    for text in _ENCODER.iterencode(result, _one_shot=True):
        yield text.encode(errors="backslashreplace")
    yield b"\n"


def timing(
    actions: Sequence[str], snapshot: float, opening: float, times: Sequence[float], closing: float
) -> dict[str, Any]:
    """Return the duration of a cycle in milliseconds, without that of rendering its state."""
    return {
        "snapshot_ms": snapshot,
        "open_session_ms": opening,
        "actions": [
            {"action": action, "ms": after - before}
            for action, before, after in zip(actions, times, times[1:], strict=False)
        ],
        "close_session_ms": closing,
        "session_ms": opening + times[-1] - times[0] + closing,
    }
