"""The Standard Workload Format.

Source: the format's definition at the Parallel Workloads Archive, version 2.2: eighteen numbers a line, -1
for unknown, comments behind a semicolon.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import ceil
from sys import intern

from traces.model import Trace, TraceJob, equal_pods, ordered
from traces.text import Problems, Row, counted, stamp

FIELDS = (
    "job number",
    "submit time",
    "wait time",
    "run time",
    "allocated processors",
    "average CPU time",
    "used memory",
    "requested processors",
    "requested time",
    "requested memory",
    "status",
    "user",
    "group",
    "executable",
    "queue",
    "partition",
    "preceding job",
    "think time",
)
UNKNOWN = -1.0
CANCELLED = 5
PARTIAL = {2, 3, 4}
"""The statuses of lines about a part of a job that was swapped out; another line sums up the whole job."""


def read_swf(text: str) -> Trace:
    """Return a trace; each job is one pod with as many CPUs as it has processors.

    Where the header says how many processors a node has, by MaxProcs and MaxNodes, a job of more processors
    is a gang of equal pods, one a node.

    Raises
    ------
    Unreadable
        With line and field of what is wrong.

    """
    problems, header, left_out, parts = Problems(), dict[str, Row](), 0, 0
    jobs: dict[str, TraceJob] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if line.lstrip().startswith(";"):
            name, _, value = line.lstrip("; \t").partition(":")
            header[name.strip()] = Row(number, {name.strip(): value.strip().partition(" ")[0]}, problems)
            continue
        if not line.strip():
            continue
        values = line.split()
        if len(values) != len(FIELDS):
            says = f"{len(values)} fields instead of {len(FIELDS)}"
            problems.add(number, "", says, "write -1 for unknown ones")
            continue
        row = Row(number, dict(zip(FIELDS, values, strict=True)), problems)
        if row.number("status", least=UNKNOWN) in PARTIAL:
            parts += 1
            continue
        job = _job(row)
        if job is None:
            left_out += 1
        elif job.name in jobs:
            problems.twice(number, job.name)
        else:
            jobs[job.name] = job
    most, begin = _processors_per_node(header), _start_time(header)
    problems.refuse()
    gangs = [_as_gang(job, most) for job in jobs.values()]
    notes = [f"Left out: {counted(left_out, 'job')} that never ran."] if left_out else []
    notes += [f"Left out: {counted(parts, 'line')} about parts of jobs that others sum up."] if parts else []
    split = sum(job.pods > 1 for job in gangs)
    if split:
        are = "is a gang" if split == 1 else "are gangs"
        notes.append(
            f"Assumed: {counted(split, 'job')} of more than {most} processors, which a node of the machine"
            f" has (MaxProcs / MaxNodes of the header), {are} of pods of at most {most} CPUs."
        )
    return ordered(gangs, begin, notes)


def _start_time(header: Mapping[str, Row]) -> str:
    """Return the time of `UnixStartTime`, empty without one."""
    seconds = _number(header, "UnixStartTime")
    return "" if seconds is None else stamp(float(seconds))


def _processors_per_node(header: Mapping[str, Row]) -> int:
    """Return how many processors a node has, by `MaxProcs` and `MaxNodes`; 0 if these do not say."""
    processors, nodes = _number(header, "MaxProcs"), _number(header, "MaxNodes")
    return processors // nodes if processors and nodes else 0


def _number(header: Mapping[str, Row], name: str) -> int | None:
    """Return a number of the header, such as `MaxNodes`; None if it is missing or no number."""
    row = header.get(name)
    return int(row.number(name)) if row is not None and row.text(name).isdecimal() else None


def _as_gang(job: TraceJob, most: int) -> TraceJob:
    """Return a job as pods of at most so many CPUs; its CPUs and memory are divided evenly, rounded up."""
    (role,) = job.roles
    processors = int(role.requests["cpu"])
    if most < 2 or processors <= most:
        return job
    pods = ceil(processors / most)
    requests = {"cpu": str(ceil(processors / pods))}
    if "memory" in role.requests:
        requests["memory"] = f"{ceil(int(role.requests['memory'].removesuffix('Ki')) / pods)}Ki"
    return replace(job, roles=equal_pods(pods, requests), min_member=pods)


def _job(row: Row) -> TraceJob | None:
    submitted, run = row.number("submit time"), row.number("run time", least=UNKNOWN)
    requested, allocated = (
        row.number(name, least=UNKNOWN) for name in ("requested processors", "allocated processors")
    )
    processors = int(requested if requested > 0 else allocated)
    memory = row.number("requested memory", least=UNKNOWN)
    if processors <= 0 or (run <= 0 and row.number("status", least=UNKNOWN) == CANCELLED):
        return None
    requests = {"cpu": str(processors)}
    if memory > 0:
        requests["memory"] = f"{int(memory) * processors}Ki"
    return TraceJob(
        name=f"job-{row.text('job number')}",
        queue="" if row.number("queue", least=UNKNOWN) < 0 else intern(f"queue-{row.text('queue')}"),
        submitted=submitted,
        run_seconds=run if run > 0 else None,
        roles=equal_pods(1, requests),
        user="" if row.number("user", least=UNKNOWN) < 0 else intern(f"user-{row.text('user')}"),
    )
