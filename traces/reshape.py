"""Changes of a trace: cut to a window, mapped to queues, scaled in rate and size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from fractions import Fraction
from math import ceil

from traces.model import Trace, TraceJob, ordered
from traces.requests import multiplied


def cut(trace: Trace, begin: float, end: float) -> Trace:
    """Return the jobs submitted from `begin` to before `end`, in seconds, with times from `begin` on."""
    jobs = [
        replace(job, submitted=job.submitted - begin) for job in trace.jobs if begin <= job.submitted < end
    ]
    return ordered(jobs, _later(trace.begin, begin), trace.notes)


def _later(time: str, seconds: float) -> str:
    """Return the RFC 3339 time so many seconds after another; empty for none, or one beyond the year 9999."""
    try:
        return (
            f"{datetime.fromisoformat(time) + timedelta(seconds=seconds):%Y-%m-%dT%H:%M:%SZ}" if time else ""
        )
    except OverflowError:
        return ""


def running_at(trace: Trace, time: float) -> Trace:
    """Return the jobs submitted before a time, in seconds, that would run at it if none had waited.

    Their times are from then on, so that they were submitted at negative times.
    """
    jobs = [
        replace(job, submitted=job.submitted - time)
        for job in trace.jobs
        if job.submitted < time < job.submitted + (job.run_seconds or 0.0)
    ]
    return ordered(jobs, _later(trace.begin, time), trace.notes)


def joined(trace: Trace, other: Trace) -> Trace:
    """Return a trace with the jobs of another one, too."""
    return ordered([*trace.jobs, *other.jobs], trace.begin, trace.notes)


def mapped(trace: Trace, queues: Mapping[str, str], rest: str) -> Trace:
    """Return a trace with other queues by name; those without an entry become `rest`."""
    jobs = [replace(job, queue=queues.get(job.queue, rest)) for job in trace.jobs]
    return ordered(jobs, trace.begin, trace.notes)


def scaled(
    trace: Trace,
    *,
    rate: float = 1.0,
    rates: Mapping[str, float] | None = None,
    size: float = 1.0,
    run_time: float = 1.0,
) -> Trace:
    """Return a trace with more or fewer arrivals, larger or smaller jobs, longer or shorter runs.

    Parameters
    ----------
    trace : Trace
        The workload.
    rate : float
        How many jobs arrive for each one, evenly over the trace: 0.5 keeps every second job, 2 doubles each;
        the copies are submitted halfway to the next job.
    rates : mapping, optional
        By queue, a further factor for its jobs, evenly over them.
    size : float
        How many pods a job has for each of its own, rounded up for each of its roles; at least 1.
        What it reserves changes like its number of pods.
    run_time : float
        What every run time is multiplied by.

    """
    apart = {queue: factor for queue, factor in (rates or {}).items() if factor != 1.0}
    groups = [([job for job in trace.jobs if job.queue not in apart], rate)]
    groups += [([job for job in trace.jobs if job.queue == queue], rate * apart[queue]) for queue in apart]
    names = {job.name for job in trace.jobs}
    jobs = [
        replace(_resized(job, size, run_time), name=_copy_name(job.name, copy, names), submitted=moved)
        for of_group, factor in groups
        for job, copy, moved in _copies(of_group, factor, trace.span)
    ]
    return ordered(jobs, trace.begin, trace.notes)


def _copy_name(name: str, copy: int, names: set[str]) -> str:
    """Return the name of a copy, and add it to the names; the name itself for copy 0."""
    if copy == 0:
        return name
    found = f"{name}-copy-{copy}"
    while found in names:
        found += "-more"
    names.add(found)
    return found


def _copies(jobs: Sequence[TraceJob], rate: float, end: float) -> Iterator[tuple[TraceJob, int, float]]:
    """Yield each job as often as a rate says, with the number of the copy and its submission."""
    step, owed = Fraction(rate).limit_denominator(10_000), Fraction(0)
    for job, after in zip(jobs, [*[job.submitted for job in jobs[1:]], end], strict=False):
        owed += step
        copies = int(owed)
        owed -= copies
        for copy in range(copies):
            yield job, copy, job.submitted + (after - job.submitted) * copy / copies


def _resized(job: TraceJob, size: float, run_time: float) -> TraceJob:
    roles = tuple(replace(role, pods=max(ceil(role.pods * size), 1)) for role in job.roles)
    pods = sum(role.pods for role in roles)
    return replace(
        job,
        roles=roles,
        min_member=min(max(ceil(job.min_member * size), 1), pods),
        run_seconds=None if job.run_seconds is None else job.run_seconds * run_time,
        min_resources=_of_pods(job.min_resources, pods, job.pods),
    )


def _of_pods(amounts: Mapping[str, str] | None, pods: int, before: int) -> Mapping[str, str] | None:
    """Return what a job reserves if it has another number of pods than before; None for None."""
    if amounts is None or pods == before:
        return amounts
    return {name: multiplied(amount, pods, before) for name, amount in amounts.items()}
