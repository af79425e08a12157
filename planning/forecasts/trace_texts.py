"""Parsing of trace texts, and the text of generated traces."""

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from io import StringIO
from typing import Any

from planning.queues import QueueFields
from planning.rows import Problem
from traces import FORMATS, Pattern, Trace, Unreadable, generate, read_trace
from traces.columns import GPU
from traces.read import format_of

Json = Mapping[str, Any]

_COLUMNS = (
    "name", "queue", "submit_seconds", "run_seconds", "pods", "min_member", "cpu", "memory", "gpu",
    "priority_class", "user",
)  # fmt: skip
_PATTERN = {"queue", "jobs_per_hour", "run_median", "run_spread", "pods", "requests", "by_hour", "by_weekday"}
_MOST_JOBS = 200_000


@dataclass(frozen=True)
class Read:
    """A trace, and the format of its text."""

    trace: Trace
    format: str


def read_workload(text: str, format_name: str = "") -> tuple[Read | None, list[Problem]]:
    """Return the trace of a text; None with every problem if it is invalid."""
    try:
        trace = read_trace(text, format_name)
    except Unreadable as error:
        return None, [
            Problem(
                "trace.unreadable", "error", problem.message, path=problem.column or None,
                fix=problem.fix or None, document="trace", line=problem.line or None,
            )
            for problem in error.problems
        ]  # fmt: skip
    if not trace.jobs:
        message = "The trace has no job that ran."
        return None, [Problem("trace.empty", "error", message, path="trace", fix="Send a trace with jobs.")]
    return Read(trace, format_name or format_of(text)), []


def generated_text(patterns: Iterable[Json], *, seconds: float, seed: int) -> tuple[str, list[Problem]]:
    """Return a generated trace as our own CSV, and the problems of its patterns."""
    given = list(patterns)
    problems = [
        Problem(
            "trace.pattern",
            "error",
            f"{name} is not part of a pattern.",
            path=f"patterns[{place}].{name}",
            fix=f"Use {', '.join(sorted(_PATTERN))}.",
        )
        for place, pattern in enumerate(given)
        for name in sorted(set(pattern) - _PATTERN)
    ]
    expected = sum(float(pattern["jobs_per_hour"]) for pattern in given) * seconds / 3600
    if expected > _MOST_JOBS:
        message = f"About {expected:,.0f} jobs would be drawn; at most {_MOST_JOBS:,} are allowed."
        problems.append(Problem("trace.size", "error", message, path="seconds", fix="Choose a shorter time."))
    if problems:
        return "", problems
    read = [
        Pattern(
            **{**pattern, "pods": {int(pods): share for pods, share in pattern.get("pods", {1: 1.0}).items()}}
        )
        for pattern in given
    ]
    return csv_of(generate(read, seconds=seconds, seed=seed)), []


def csv_of(trace: Trace) -> str:
    """Return a trace as our own CSV."""
    written = StringIO(newline="")
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for job in trace.jobs:
        run = "" if job.run_seconds is None else f"{job.run_seconds:g}"
        requests = [job.requests.get(name, "") for name in ("cpu", "memory", GPU)]
        size = [job.pods, job.min_member, *requests]
        writer.writerow([job.name, job.queue, job.submitted, run, *size, job.priority_class, job.user])
    return written.getvalue()


def queues_for_jobs(queues: Iterable[QueueFields]) -> list[str]:
    """Return the leaf queues of a scenario, which may have jobs."""
    rows = list(queues)
    parents = {row.parent for row in rows} | {"root"}
    return sorted({*(row.name for row in rows), "default"} - parents)


__all__ = ["FORMATS", "csv_of", "generated_text", "queues_for_jobs", "read_workload"]
