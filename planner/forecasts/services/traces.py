"""Creation and deletion of workload traces."""

import gzip
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import IO, Any

from django.db import transaction

from planner.accounts.models import User, Workspace
from planner.accounts.services.members import role_require
from planner.clusters.models import Blob, Snapshot
from planner.clusters.selectors.usage import quota_require
from planner.errors import Invalid
from planner.forecasts.models import WorkloadTrace
from planner.rules import row_create
from planning.forecasts.backtest import real_work
from planning.forecasts.clock import instant
from planning.forecasts.trace_texts import csv_of, generated_text, read_workload
from planning.forecasts.workload import own_trace
from planning.rows import Problem
from traces import Trace

MOST_BYTES = 50_000_000
"""The size limit of one trace; 82,000 jobs of the Philly trace are 5 MB."""
GZIP = b"\x1f\x8b"


@dataclass(frozen=True)
class TraceRead:
    """A trace that was read, packed for storage."""

    trace: Trace
    format: str
    source: Blob
    provenance: str


def trace_create(
    *, workspace: Workspace, name: str, read: TraceRead, user: User | None = None
) -> WorkloadTrace:
    """Store a trace; raise RoleTooLow or QuotaExceeded."""
    role_require(user=user, workspace=workspace)
    quota_require(workspace=workspace)
    trace = read.trace
    with transaction.atomic():
        return row_create(
            WorkloadTrace(
                workspace=workspace,
                name=name,
                owner=user,
                provenance=read.provenance,
                format=read.format,
                source=read.source.keep(),
                begin=trace.begin,
                span_seconds=trace.span,
                jobs=len(trace.jobs),
                pods=sum(job.pods for job in trace.jobs),
                queues=trace.queues(),
                notes=list(trace.notes),
            )
        )


def trace_of_text(*, text: str, format_name: str = "", provenance: str = "") -> TraceRead:
    """Read the text of a trace; slow, so call it outside transactions. Raises Invalid with all problems."""
    read, problems = read_workload(text, format_name)
    if read is None:
        raise Invalid(problems)
    return TraceRead(read.trace, read.format, Blob.of(text.encode()), provenance)


def trace_of_patterns(*, patterns: list[Mapping[str, Any]], seconds: float, seed: int) -> TraceRead:
    """Generate a trace from patterns; the same patterns and seed give the same jobs. Raises Invalid."""
    text, problems = generated_text(patterns, seconds=seconds, seed=seed)
    if problems:
        raise Invalid(problems)
    return trace_of_text(text=text, format_name="queuecast", provenance=f"generated with seed {seed}")


def trace_of_snapshot(*, workspace: Workspace, snapshot: Snapshot, since: str = "") -> TraceRead:
    """Return the jobs of a snapshot as a trace: finished ones, or all that were submitted `since`.

    `since`, an RFC 3339 time, gives the workload of a backtest: the real arrivals after an earlier snapshot.
    Raises Invalid for a snapshot of another workspace or without such jobs, and for an invalid time.
    """
    if snapshot.workspace_id != workspace.pk:
        message, fix = "The snapshot is in another workspace.", "Store the trace in that workspace."
        raise Invalid([Problem("trace.workspace", "error", message, path="snapshot", fix=fix)])
    document = snapshot.content.document()
    if since and instant(since) is None:
        message, fix = f"{since!r} is not a time.", "Write it as 2026-01-31T12:00:00Z."
        raise Invalid([Problem("trace.since", "error", message, path="since", fix=fix)])
    jobs = real_work(document, since) if since else own_trace(document)
    if not jobs.jobs:
        which = f"came since {since}" if since else "has finished"
        message = f"Snapshot {snapshot.name} has no job that {which}."
        fix = "Choose a snapshot that was taken while finished jobs still existed."
        raise Invalid([Problem("trace.empty", "error", message, path="snapshot", fix=fix)])
    begun = f" since {since}" if since else ", finished"
    provenance = f"jobs of snapshot {snapshot.name}{begun}"[:500]
    return trace_of_text(text=csv_of(jobs), format_name="queuecast", provenance=provenance)


@transaction.atomic
def trace_delete(*, trace: WorkloadTrace, user: User | None = None) -> None:
    """Delete a trace; its forecasts stay, as their input is frozen."""
    role_require(user=user, workspace=trace.workspace)
    trace.delete()


def file_text(file: IO[bytes]) -> str:
    """Return the text of an uploaded file, plain or gzip; raise Invalid if it is damaged or too large."""
    content = file.read(MOST_BYTES + 1)
    if content[:2] == GZIP:
        try:
            with gzip.open(BytesIO(content)) as unpacked:
                content = unpacked.read(MOST_BYTES + 1)
        except (OSError, EOFError, zlib.error):
            raise _unfit(
                "trace.gzip", "The file is damaged: it cannot be unpacked.", "Send it again."
            ) from None
    if len(content) > MOST_BYTES:
        limit = f"The trace is larger than {MOST_BYTES / 1e6:,.0f} MB."
        raise _unfit("trace.too_large", limit, "Cut it to the days that you need.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"The file is not UTF-8 text: byte {error.start} cannot be read."
        raise _unfit("trace.not_text", message, "Save it as UTF-8.") from None


def _unfit(rule: str, message: str, fix: str) -> Invalid:
    return Invalid([Problem(rule, "error", message, path="file", fix=fix)])
