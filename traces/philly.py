"""The JSON of the Philly trace: a list of jobs with their attempts.

Source: the README of the philly-traces repository of Microsoft.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from traces.columns import GPU
from traces.model import Trace, TraceJob, TraceProblem, Unreadable, equal_pods, ordered
from traces.text import Problems, Row, counted, loaded, stamp


def read_philly_json(text: str) -> Trace:
    """Return a trace; a job's run time is that of all its attempts together.

    Raises
    ------
    Unreadable
        With the number of the entry and the field that is wrong.

    """
    entries = loaded(text)
    if not isinstance(entries, list):
        raise Unreadable([TraceProblem(1, "", "expected a list of jobs", "write [ … ]")])
    problems, left_out = Problems(), 0
    found: dict[str, TraceJob] = {}
    for number, entry in enumerate(entries, start=1):
        if not isinstance(entry, Mapping):
            problems.add(number, "", "the entry is not a job", "write an object with jobid, vc and attempts")
            continue
        job = _job(number, entry, problems)
        if job is None:
            left_out += 1
        elif job.name in found:
            problems.twice(number, job.name)
        else:
            found[job.name] = job
    problems.refuse()
    jobs = list(found.values())
    notes = [f"Left out: {counted(left_out, 'job')} that never ran."] if left_out else []
    if not jobs:
        return ordered(jobs, notes=notes)
    begin = min(job.submitted for job in jobs)
    shifted = [replace(job, submitted=job.submitted - begin) for job in jobs]
    return ordered(shifted, stamp(begin), notes)


def _job(number: int, entry: Mapping[str, Any], problems: Problems) -> TraceJob | None:
    row = Row(number, {"submitted_time": _text(entry.get("submitted_time"))}, problems)
    submitted = row.time("submitted_time")
    attempts = [attempt for attempt in entry.get("attempts") or () if isinstance(attempt, Mapping)]
    run = sum(_run_seconds(number, attempt, problems) for attempt in attempts)
    sizes = [len(place.get("gpus") or ()) for place in (attempts[0].get("detail") or () if attempts else ())]
    if run <= 0 or not sizes:
        return None
    return TraceJob(
        name=_text(entry.get("jobid")) or f"entry-{number}",
        queue=_text(entry.get("vc")),
        submitted=submitted,
        run_seconds=run,
        roles=equal_pods(len(sizes), {GPU: str(max(sizes))} if max(sizes) else {}),
        min_member=len(sizes),
        user=_text(entry.get("user")),
    )


def _run_seconds(number: int, attempt: Mapping[str, Any], problems: Problems) -> float:
    begin, end = _text(attempt.get("start_time")), _text(attempt.get("end_time"))
    if begin in ("", "None") or end in ("", "None"):
        return 0.0
    row = Row(number, {"start_time": begin, "end_time": end}, problems)
    return max(row.time("end_time") - row.time("start_time"), 0.0)


def _text(value: object) -> str:
    return "" if value is None else str(value)
