"""Parsing of trace texts, and the text of generated traces."""

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Any

from planning.queues import QueueFields
from planning.rows import Problem
from scheduler_core.quantity import QuantityError, parse_quantity
from scheduler_core.resource_names import is_counted
from traces import FORMATS, Pattern, Trace, Unreadable, generate, read_trace
from traces.columns import GPU
from traces.generate import drawn_moments, jobs_of
from traces.read import format_of
from traces.text import exact, is_resource_column

Json = Mapping[str, Any]

_COLUMNS = (
    "name", "queue", "submit_seconds", "run_seconds", "pods", "min_member", "cpu", "memory", "gpu",
    "priority_class", "user",
)  # fmt: skip
_PATTERN = {"queue", "jobs_per_hour", "run_median", "run_spread", "pods", "requests", "by_hour", "by_weekday"}
_REQUESTED = ("cpu", "memory", GPU)
_RANGES = {"run_median": (0.001, 1e9), "run_spread": (0.0, 5.0)}
_MOST_JOBS, _MOST_PODS, _MOST_WEIGHT = 200_000, 99_999, 1_000_000
_MOST_DRAWN = 1_000_000


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
    if problems := pattern_problems(given, seconds=seconds):
        return "", problems
    return csv_of(generate(_read(given), seconds=seconds, seed=seed)), []


def any_drawn(patterns: Iterable[Json], *, seconds: float, seed: int) -> bool:
    """Return whether valid patterns draw a job."""
    return any(True for pattern in _read(patterns) for _ in jobs_of(pattern, seconds, seed))


def _read(patterns: Iterable[Json]) -> list[Pattern]:
    return [
        Pattern(
            **{**pattern, "pods": {int(pods): share for pods, share in pattern.get("pods", {1: 1.0}).items()}}
        )
        for pattern in patterns
    ]


def expected_jobs(patterns: Iterable[Json], seconds: float) -> float:
    """Return how many jobs patterns draw on average."""
    return sum(float(pattern["jobs_per_hour"]) for pattern in patterns) * seconds / 3600


def pattern_problems(patterns: Sequence[Json], *, seconds: float) -> list[Problem]:
    """Return why no work can be drawn from patterns over some time."""
    found = [
        Problem("trace.pattern", "error", message, path=f"patterns[{place}].{at}", fix=fix)
        for place, pattern in enumerate(patterns)
        for at, message, fix in _pattern_problems(pattern)
    ]
    expected = expected_jobs(patterns, seconds)
    if expected > _MOST_JOBS:
        message = f"About {expected:,.0f} jobs would be drawn; at most {_MOST_JOBS:,} are allowed."
        found.append(Problem("trace.size", "error", message, path="seconds", fix="Choose a shorter time."))
    elif not found and (drawn := sum(drawn_moments(one, seconds) for one in _read(patterns))) > _MOST_DRAWN:
        message = (
            f"About {drawn:,.0f} moments would be drawn for the few busy hours; at most {_MOST_DRAWN:,}."
        )
        found.append(Problem("trace.size", "error", message, path="seconds", fix="Choose a shorter time."))
    return found


def _pattern_problems(pattern: Json) -> Iterator[tuple[str, str, str]]:
    """Yield the part of a pattern, what is wrong with it, and the fix."""
    for name in sorted(set(pattern) - _PATTERN):
        yield name, f"{name} is not part of a pattern.", f"Use {', '.join(sorted(_PATTERN))}."
    for name, (least, most) in _RANGES.items():
        if name in pattern and not least <= pattern[name] <= most:
            yield name, f"{name} is out of range.", f"Choose {least:g} to {most:,.0f}."
    for name in ("by_hour", "by_weekday"):
        if any(not 0 <= weight <= _MOST_WEIGHT for weight in pattern.get(name) or ()):
            yield name, f"A weight of {name} is out of range.", f"Choose 0 to {_MOST_WEIGHT:,}."
    shares = pattern.get("pods") or {}
    if any(not _is_count(pods) for pods in shares):
        yield "pods", "A key of pods is not a number of pods.", f"Choose 1 to {_MOST_PODS:,}."
    if any(not 0 <= share <= _MOST_WEIGHT for share in shares.values()):
        yield "pods", "A share of pods is out of range.", f"Choose 0 to {_MOST_WEIGHT:,}."
    for name, quantity in (pattern.get("requests") or {}).items():
        if not is_counted(name) or name == "pods":
            message = f"A pod cannot request {name[:60]!r}."
            yield (
                f"requests.{name}",
                message,
                f"Use {', '.join(_REQUESTED)}, or the name of another resource.",
            )
        elif "/" in name and not quantity.isdecimal():
            message = f"The request of {name}, {quantity[:40]!r}, is not a number of devices."
            yield f"requests.{name}", message, "Write a whole number such as 8."
        elif not _is_request(quantity):
            message = f"The request of {name}, {quantity[:40]!r}, is not an amount of 0 or more."
            yield f"requests.{name}", message, "Write an amount such as 8, 500m or 64Gi."


def _is_count(pods: object) -> bool:
    text = str(pods)
    return text.isascii() and text.isdecimal() and len(text) < 10 and 1 <= int(text) <= _MOST_PODS


def _is_request(quantity: str) -> bool:
    try:
        return 0 <= parse_quantity(quantity) < 2**63 - 1
    except QuantityError:
        return False


def csv_of(trace: Trace) -> str:
    """Return a trace as our own CSV; with columns for further resources, node constraints and roles if any.

    Names that no resource of the scheduler has are left out.
    """
    written = StringIO(newline="")
    writer = csv.writer(written, lineterminator="\n")
    roles = [role for job in trace.jobs for role in job.roles]
    named = {name for role in roles for name in role.requests} - set(_REQUESTED)
    others = sorted(filter(is_resource_column, named))
    has_constraints = any(role.constraints is not None for role in roles)
    has_roles = len(roles) > len(trace.jobs)
    reserves = any(job.min_resources is not None for job in trace.jobs)
    written_if = {
        "constraints": has_constraints,
        "role": has_roles,
        "min_resources": reserves,
        "annotations": any(job.annotations for job in trace.jobs),
        "pod_annotations": any(role.annotations for role in roles),
    }
    optional = [name for name, is_written in written_if.items() if is_written]
    writer.writerow([*_COLUMNS, *others, *optional])
    for job in trace.jobs:
        run = "" if job.run_seconds is None else exact(job.run_seconds)
        for number, role in enumerate(job.roles, 1):
            requests = [role.requests.get(name, "") for name in _REQUESTED]
            size = [role.pods, job.min_member, *requests]
            row = [job.name, job.queue, job.submitted, run, *size, job.priority_class, job.user]
            row += [role.requests.get(name, "") for name in others]
            more = {
                "constraints": _json(role.constraints),
                "role": number,
                "min_resources": _json(job.min_resources),
                "annotations": _json(job.annotations or None),
                "pod_annotations": _json(role.annotations or None),
            }
            writer.writerow([*row, *(more[name] for name in optional)])
    return written.getvalue()


def _json(value: Json | None) -> str:
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def queues_for_jobs(queues: Iterable[QueueFields]) -> list[str]:
    """Return the leaf queues of a scenario, which may have jobs."""
    rows = list(queues)
    parents = {row.parent for row in rows} | {"root"}
    return sorted({*(row.name for row in rows), "default"} - parents)


__all__ = [
    "FORMATS", "any_drawn", "csv_of", "expected_jobs", "generated_text", "pattern_problems",
    "queues_for_jobs", "read_workload",
]  # fmt: skip
