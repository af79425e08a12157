"""Creation, preview and deletion of workload traces."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from io import BytesIO
from typing import IO, Any

from django.db import transaction

from planner.accounts.models import User, Workspace
from planner.accounts.services.members import role_require
from planner.clusters.models import Blob, Snapshot
from planner.clusters.selectors.usage import quota_require
from planner.errors import Invalid
from planner.forecasts.models import WorkloadTrace
from planner.forecasts.services.trace_process import trace_by_child
from planner.rules import row_create
from planner.work.awaited import IN_PROCESS_BYTES
from planning.forecasts.preview import Preview, preview_from
from planning.forecasts.trace_sources import PATTERNS, SNAPSHOT, TEXT, Facts, NoTrace, trace_from
from planning.forecasts.trace_texts import expected_jobs
from planning.importing import holds_more
from planning.rows import Problem

IN_PROCESS_JOBS = 1_000
"""How many jobs the requesting process draws itself; a child process draws more."""


@dataclass(frozen=True)
class TraceRead:
    """A trace that was read, packed for storage."""

    source: Blob
    facts: Facts
    provenance: str


def trace_create(
    *, workspace: Workspace, name: str, read: TraceRead, user: User | None = None
) -> WorkloadTrace:
    """Store a trace; raise RoleTooLow or QuotaExceeded."""
    role_require(user=user, workspace=workspace)
    quota_require(workspace=workspace)
    with transaction.atomic():
        return row_create(
            WorkloadTrace(
                workspace=workspace,
                name=name,
                owner=user,
                provenance=read.provenance,
                source=read.source.keep(),
                **asdict(read.facts),
            )
        )


def trace_of_file(*, file: IO[bytes], format_name: str = "", provenance: str = "") -> TraceRead:
    """Read the text of a trace, plain or gzip, in a child process unless it is small.

    Slow, so call it outside transactions. Raises Busy, and Invalid with all problems.
    """
    options = {"format": format_name}
    if not holds_more([("trace", file)], IN_PROCESS_BYTES):
        return _here(TEXT, file.read(), options, provenance)
    return TraceRead(*trace_by_child(TEXT, file, options), provenance)


def trace_of_text(*, text: str, format_name: str = "", provenance: str = "") -> TraceRead:
    """Read the text of a trace as `trace_of_file` does."""
    return trace_of_file(file=BytesIO(text.encode()), format_name=format_name, provenance=provenance)


def trace_of_patterns(*, patterns: list[Mapping[str, Any]], seconds: float, seed: int) -> TraceRead:
    """Generate a trace from patterns, many jobs in a child process; raise Busy or Invalid.

    The same patterns and seed give the same jobs.
    """
    arguments = {"patterns": patterns, "seconds": seconds, "seed": seed}
    content, provenance = json.dumps(arguments).encode(), f"generated with seed {seed}"
    if expected_jobs(patterns, seconds) <= IN_PROCESS_JOBS:
        return _here(PATTERNS, content, {}, provenance)
    return TraceRead(*trace_by_child(PATTERNS, [content], {}), provenance)


def trace_of_snapshot(*, workspace: Workspace, snapshot: Snapshot, since: str = "") -> TraceRead:
    """Return the jobs of a snapshot as a trace, see `trace_from`; those of a large one by a child process.

    Raises Busy, and Invalid for a snapshot of another workspace or without such jobs, and for an invalid
    time.
    """
    if snapshot.workspace_id != workspace.pk:
        message, fix = "The snapshot is in another workspace.", "Store the trace in that workspace."
        raise Invalid([Problem("trace.workspace", "error", message, path="snapshot", fix=fix)])
    begun = f" since {since}" if since else ", finished"
    provenance = f"jobs of snapshot {snapshot.name}{begun}"[:500]
    options = {"name": snapshot.name, "since": since}
    return _of_stored(SNAPSHOT, snapshot.content, options, provenance)


def _of_stored(kind: str, content: Blob, options: Mapping[str, Any], provenance: str) -> TraceRead:
    if content.size <= IN_PROCESS_BYTES:
        return _here(kind, content.content(), options, provenance)
    return TraceRead(*trace_by_child(kind, content.pieces(), options), provenance)


def _here(kind: str, content: bytes, options: Mapping[str, Any], provenance: str) -> TraceRead:
    try:
        text, facts = trace_from(kind, content, options)
    except NoTrace as error:
        raise Invalid(error.problems) from None
    return TraceRead(Blob.of(text), facts, provenance)


def trace_preview(trace: WorkloadTrace) -> Preview:
    """Return the arrivals and sizes of a trace (1 query).

    A trace of an earlier release is read once more. Raises Busy, and Invalid if that takes too much.
    """
    if trace.preview is None:
        read = _of_stored(TEXT, trace.source, {"format": trace.format}, trace.provenance)
        trace.preview = read.facts.preview
        trace.save(update_fields=["preview"])
    return preview_from(trace.preview)


@transaction.atomic
def trace_delete(*, trace: WorkloadTrace, user: User | None = None) -> None:
    """Delete a trace; its forecasts stay, as their input is frozen."""
    role_require(user=user, workspace=trace.workspace)
    trace.delete()
