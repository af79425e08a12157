"""Trace formats that are tables with one job per line: their columns and readers."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from io import BytesIO, TextIOWrapper

from traces.annotations import OF_PODGROUPS, OF_PODS
from traces.model import Trace, TraceJob, TraceProblem, Unreadable, equal_pods, ordered
from traces.text import Problems, Row, counted, is_resource_column, stamp

GPU = "nvidia.com/gpu"


MOST_PODS = 1_000_000
"""The most pods of a job."""
_OF_JOB = (
    "queue", "submit_seconds", "run_seconds", "min_member", "min_resources", "priority_class", "annotations",
    "user",
)  # fmt: skip
"""The columns of our own CSV in which all roles of a job must agree."""


_OWN = frozenset(_OF_JOB) | {
    "name", "role", "pods", "cpu", "memory", "gpu", "constraints", "pod_annotations",
}  # fmt: skip
"""The columns of our own CSV, besides those of further resources."""


@dataclass(frozen=True)
class Columns:
    """A format.

    Attributes
    ----------
    required : frozenset of str
        Columns without which a file is not of this format.
    read : callable
        ``read(row)``: a job, or None for a line that is no job; its `submitted` may be an absolute time.
    absolute : bool
        Whether `submitted` is seconds since 1970.
    has_roles : bool
        Whether lines that differ in the column `role` may be parts of one job.
    known : frozenset of str
        All columns that are read, besides those of resources; empty: not known.

    """

    required: frozenset[str]
    read: Callable[[Row], TraceJob | None]
    absolute: bool = False
    has_roles: bool = False
    known: frozenset[str] = frozenset()


def _own(row: Row) -> TraceJob:
    pods = row.count("pods", 1, least=1)
    requests = {name: amount for name in ("cpu", "memory") if (amount := row.quantity(name))}
    if row.text("gpu"):
        requests[GPU] = str(row.count("gpu"))
    requests |= {name: amount for name in row.resources if (amount := row.quantity(name))}
    constraints = row.constraints("constraints")
    annotations = row.annotations("pod_annotations", OF_PODS)
    roles = equal_pods(pods, requests)
    if constraints is not None or annotations:
        roles = (replace(roles[0], constraints=constraints, annotations=annotations),)
    return TraceJob(
        name=row.text("name"),
        queue=row.word("queue"),
        submitted=row.number("submit_seconds"),
        run_seconds=row.number("run_seconds", least=0.001) if row.text("run_seconds") else None,
        roles=roles,
        min_member=row.count("min_member", pods, least=1),
        user=row.word("user"),
        priority_class=row.word("priority_class"),
        min_resources=row.amounts("min_resources"),
        annotations=row.annotations("annotations", OF_PODGROUPS),
    )


def _philly(row: Row) -> TraceJob | None:
    run = row.number("duration_s")
    pods, gpus = row.count("gang", 1, least=1), row.count("gpu", 0)
    requests = {GPU: str(gpus)} if gpus else {}
    if row.text("cpu_milli"):
        requests["cpu"] = f"{row.count('cpu_milli')}m"
    if row.text("mem_mib"):
        requests["memory"] = f"{row.count('mem_mib')}Mi"
    if run <= 0:
        return None
    return TraceJob(
        name=row.text("job_id"),
        queue=row.word("queue"),
        submitted=row.number("submit_s"),
        run_seconds=run,
        roles=equal_pods(pods, requests),
        min_member=pods,
        user=row.word("user"),
    )


def _slurm(queue_column: str) -> Callable[[Row], TraceJob | None]:
    """Return a reader of accounting tables with sums over the nodes of a job (Helios, Acme)."""

    def read(row: Row) -> TraceJob | None:
        run = row.number("duration", 0.0)
        gpus, cpus = row.count("gpu_num", 0), row.count("cpu_num", 0)
        nodes = max(row.count("node_num", 1), 1)
        submitted = row.time("submit_time")
        if run <= 0:
            return None
        requests = {GPU: str(-(-gpus // nodes))} if gpus else {}
        if cpus:
            requests["cpu"] = str(-(-cpus // nodes))
        return TraceJob(
            name=f"job-{row.text('job_id')}",
            queue=row.word(queue_column),
            submitted=submitted,
            run_seconds=run,
            roles=equal_pods(nodes, requests),
            min_member=nodes,
            user=row.word("user"),
        )

    return read


def _openb(row: Row) -> TraceJob | None:
    created = row.number("creation_time")
    deleted = row.number("deletion_time", 0.0) if row.text("deletion_time") else 0.0
    started = row.number("scheduled_time", 0.0) if row.text("scheduled_time") else 0.0
    requests = {"cpu": f"{row.count('cpu_milli')}m", "memory": f"{row.count('memory_mib')}Mi"}
    gpus = row.count("num_gpu", 0)
    if gpus:
        requests[GPU] = str(gpus)
    run = deleted - max(started, created)
    return TraceJob(
        name=row.text("name"),
        queue=row.word("qos"),
        submitted=created,
        run_seconds=run if deleted and run > 0 else None,
        roles=equal_pods(1, requests),
    )


HEADERS = {
    "queuecast": Columns(frozenset({"name", "queue", "submit_seconds"}), _own, has_roles=True, known=_OWN),
    "philly": Columns(frozenset({"job_id", "submit_s", "duration_s", "queue"}), _philly),
    "helios": Columns(
        frozenset({"job_id", "vc", "gpu_num", "submit_time", "duration"}), _slurm("vc"), absolute=True
    ),
    "acme": Columns(
        frozenset({"job_id", "type", "gpu_num", "submit_time", "duration"}), _slurm("type"), absolute=True
    ),
    "openb": Columns(frozenset({"name", "cpu_milli", "memory_mib", "num_gpu", "creation_time"}), _openb),
}


def read_columns(text: str, name: str) -> Trace:
    """Return the trace of a table.

    Raises
    ------
    Unreadable
        With line and column of what is wrong, the first hundred problems at once.

    """
    # StringIO would take four bytes for each character.
    content = BytesIO(text.removeprefix("\ufeff").encode("utf-8", "surrogatepass"))
    lines = csv.DictReader(TextIOWrapper(content, "utf-8", "surrogatepass"))
    try:
        return _read(lines, HEADERS[name])
    except csv.Error as error:
        problem = TraceProblem(lines.line_num, "", f"not CSV: {error}", "write one line for each job")
    raise Unreadable([problem])


def _read(lines: csv.DictReader[str], columns: Columns) -> Trace:
    header = [column.strip() for column in lines.fieldnames or ()]
    lines.fieldnames = header
    if missing := sorted(columns.required - set(header)):
        says = f"missing {'column' if len(missing) == 1 else 'columns'}: {', '.join(missing)}"
        raise Unreadable([TraceProblem(1, "", says, "name the columns in the first line")])
    if twice := sorted(name for name, count in Counter(header).items() if name and count > 1):
        says = f"{'column' if len(twice) == 1 else 'columns'} named twice: {', '.join(twice)}"
        raise Unreadable([TraceProblem(1, "", says, "name each column once")])
    problems, left_out = Problems(), 0
    jobs = _Jobs(problems, has_roles=columns.has_roles)
    for cells in lines:
        row = Row(lines.line_num, cells, problems)
        if None in cells or None in cells.values():
            words = "more" if None in cells else "fewer"
            says, fix = f"the line has {words} cells than the first line", "quote a cell that has a comma"
            problems.add(row.line, "", says, fix if words == "more" else "write a comma for each empty cell")
            continue
        job = columns.read(row)
        if job is None:
            left_out += 1
        elif job.pods > MOST_PODS:
            _report_pods(problems, row, job.pods)
        elif job.min_member > job.pods and not (columns.has_roles and row.text("role")):
            _report_minimum(problems, row, job.min_member, job.pods)
        elif not job.name:
            problems.add(row.line, "", "the job has no name", "give each job a name of its own")
        else:
            jobs.add(row, job)
    found = jobs.whole()
    problems.refuse()
    return _begun(found, [*_ignored(header, columns), *_left_out(left_out)], absolute=columns.absolute)


def _ignored(header: Sequence[str], columns: Columns) -> list[str]:
    """Return which columns the format does not have, as a note of the trace."""
    names = [name for name in header if name not in columns.known and not is_resource_column(name)]
    if not columns.known or not names:
        return []
    return [f"Ignored: the {'column' if len(names) == 1 else 'columns'} {', '.join(names)}."]


def _left_out(count: int) -> list[str]:
    return [f"Left out: {counted(count, 'job')} without run time."] if count else []


class _Jobs:
    """The jobs of a table; lines with different roles may be parts of one job."""

    def __init__(self, problems: Problems, *, has_roles: bool) -> None:
        self._problems = problems
        self._has_roles = has_roles
        self._parts: dict[str, tuple[TraceJob, ...]] = {}
        self._first: dict[str, Row] = {}
        self._roles: dict[str, set[str]] = {}

    def add(self, row: Row, job: TraceJob) -> None:
        """Add a line with its job."""
        role = row.text("role") if self._has_roles else ""
        if job.name not in self._parts:
            self._parts[job.name] = (job,)
            if role:
                self._first[job.name], self._roles[job.name] = row, {role}
        elif not role or role in self._roles.get(job.name, {role}):
            more = ", or each of its lines another role" if self._has_roles else ""
            self._problems.twice(row.line, job.name, f"give each job a name of its own{more}")
        else:
            self._roles[job.name].add(role)
            self._parts[job.name] += (job,)
            for column in _OF_JOB:
                row.expect(column, self._first[job.name])

    def whole(self) -> list[TraceJob]:
        """Return the jobs with all of their pods."""
        for name, row in self._first.items():
            pods = sum(part.pods for part in self._parts[name])
            if pods > MOST_PODS:
                _report_pods(self._problems, row, pods)
            elif row.text("min_member") and self._parts[name][0].min_member > pods:
                _report_minimum(self._problems, row, self._parts[name][0].min_member, pods)
        return [
            _joined(parts, is_stated=name in self._first and bool(self._first[name].text("min_member")))
            for name, parts in self._parts.items()
        ]


def _joined(parts: Sequence[TraceJob], *, is_stated: bool) -> TraceJob:
    """Return the job with these parts; unless its minMember is stated, all pods must run together."""
    if len(parts) == 1:
        return parts[0]
    needed = parts[0].min_member if is_stated else sum(part.min_member for part in parts)
    return replace(parts[0], roles=tuple(role for part in parts for role in part.roles), min_member=needed)


def _report_pods(problems: Problems, row: Row, pods: int) -> None:
    says = f"a job has {pods:,} pods, more than {MOST_PODS:,}"
    problems.add(row.line, "", says, "leave the job out, or write fewer pods")


def _report_minimum(problems: Problems, row: Row, minimum: int, pods: int) -> None:
    says = f"{minimum:,} pods must run together, but the job has {counted(pods, 'pod')}"
    problems.add(row.line, "min_member", says, "write at most the number of pods")


def _begun(jobs: list[TraceJob], notes: Sequence[str], *, absolute: bool) -> Trace:
    if not absolute or not jobs:
        return ordered(jobs, notes=notes)
    begin = min(job.submitted for job in jobs)
    shifted = [replace(job, submitted=job.submitted - begin) for job in jobs]
    return ordered(shifted, stamp(begin), notes)
