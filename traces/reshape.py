"""Changes of a trace: cut to a window, mapped to queues, scaled in rate and size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from math import ceil

from traces.model import Trace, TraceJob, ordered


def cut(trace: Trace, begin: float, end: float) -> Trace:
    """Return the jobs submitted from `begin` to before `end`, in seconds, with times from `begin` on."""
    jobs = [
        replace(job, submitted=job.submitted - begin) for job in trace.jobs if begin <= job.submitted < end
    ]
    return ordered(jobs, trace.begin, trace.notes)


def mapped(trace: Trace, queues: Mapping[str, str], rest: str) -> Trace:
    """Return a trace with other queues by name; those without an entry become `rest`."""
    jobs = [replace(job, queue=queues.get(job.queue, rest)) for job in trace.jobs]
    return ordered(jobs, trace.begin, trace.notes)


def scaled(trace: Trace, *, rate: float = 1.0, size: float = 1.0, run_time: float = 1.0) -> Trace:
    """Return a trace with more or fewer arrivals, larger or smaller jobs, longer or shorter runs.

    Parameters
    ----------
    trace : Trace
        The workload.
    rate : float
        How many jobs arrive for each one, evenly over the trace: 0.5 keeps every second job, 2 doubles each;
        the copies are submitted halfway to the next job.
    size : float
        How many pods a job has for each of its own, rounded up; at least 1.
    run_time : float
        What every run time is multiplied by.

    """
    jobs: list[TraceJob] = []
    step, owed = Fraction(rate).limit_denominator(10_000), Fraction(0)
    following = [*[job.submitted for job in trace.jobs[1:]], trace.span] if trace.jobs else []
    for job, after in zip(trace.jobs, following, strict=True):
        owed += step
        copies = int(owed)
        owed -= copies
        for copy in range(copies):
            moved = job.submitted + (after - job.submitted) * copy / copies
            jobs.append(_resized(job, copy, moved, size, run_time))
    return ordered(jobs, trace.begin, trace.notes)


def _resized(job: TraceJob, copy: int, submitted: float, size: float, run_time: float) -> TraceJob:
    pods = max(ceil(job.pods * size), 1)
    return replace(
        job,
        name=job.name if copy == 0 else f"{job.name}-copy-{copy}",
        submitted=submitted,
        pods=pods,
        min_member=min(max(ceil(job.min_member * size), 1), pods),
        run_seconds=None if job.run_seconds is None else job.run_seconds * run_time,
    )
