"""Creation, preview and deletion of workload traces."""

import json
from collections.abc import Iterable, Mapping
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
from planner.rules import row_create
from planner.work.awaited import IN_PROCESS_BYTES, Compute, Cost, computed
from planning.forecasts.preview import Preview, preview_from
from planning.forecasts.trace_sources import Facts, from_patterns, from_snapshot, from_text
from planning.forecasts.trace_texts import expected_jobs
from planning.importing import holds_more
from planning.rows import Problem

IN_PROCESS_JOBS = 1_000
"""How many jobs the requesting process draws itself; a child process draws more."""
_PIECE = 2**20
_TOO_COSTLY = "trace.too_costly"
_OF_TEXT = Cost(_TOO_COSTLY, "file", "Cut the trace to the days that you need.")
_OF_PATTERNS = Cost(_TOO_COSTLY, "seconds", "Choose a shorter time.")
_OF_SNAPSHOT = Cost(
    _TOO_COSTLY, "snapshot", "Choose a snapshot with fewer jobs, or those since a later time."
)


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
    is_large = holds_more([("trace", file)], IN_PROCESS_BYTES)
    return _read(from_text, file, {"format": format_name}, provenance, _OF_TEXT, is_large=is_large)


def trace_of_text(*, text: str, format_name: str = "", provenance: str = "") -> TraceRead:
    """Read the text of a trace as `trace_of_file` does."""
    return trace_of_file(file=BytesIO(text.encode()), format_name=format_name, provenance=provenance)


def trace_of_patterns(*, patterns: list[Mapping[str, Any]], seconds: float, seed: int) -> TraceRead:
    """Generate a trace from patterns, many jobs in a child process; raise Busy or Invalid.

    The same patterns and seed give the same jobs.
    """
    content = json.dumps({"patterns": patterns, "seconds": seconds, "seed": seed}).encode()
    is_large = expected_jobs(patterns, seconds) > IN_PROCESS_JOBS
    drawn = f"generated with seed {seed}"
    return _read(from_patterns, [content], {}, drawn, _OF_PATTERNS, is_large=is_large)


def trace_of_snapshot(*, workspace: Workspace, snapshot: Snapshot, since: str = "") -> TraceRead:
    """Return the jobs of a snapshot as a trace, see `from_snapshot`; those of a large one by a child process.

    Raises Busy, and Invalid for a snapshot of another workspace or without such jobs, and for an invalid
    time.
    """
    if snapshot.workspace_id != workspace.pk:
        message, fix = "The snapshot is in another workspace.", "Store the trace in that workspace."
        raise Invalid([Problem("trace.workspace", "error", message, path="snapshot", fix=fix)])
    begun = f" since {since}" if since else ", finished"
    provenance = f"jobs of snapshot {snapshot.name}{begun}"[:500]
    options = {"name": snapshot.name, "since": since}
    return _of_stored(from_snapshot, snapshot.content, options, provenance, _OF_SNAPSHOT)


def trace_of_stored(*, source: Blob, format_name: str = "", provenance: str = "") -> TraceRead:
    """Read the stored text of a trace as `trace_of_file` does."""
    return _of_stored(from_text, source, {"format": format_name}, provenance, _OF_TEXT)


def _of_stored(
    compute: Compute, content: Blob, options: Mapping[str, Any], provenance: str, cost: Cost
) -> TraceRead:
    is_large = content.size > IN_PROCESS_BYTES
    return _read(compute, content.pieces(), options, provenance, cost, is_large=is_large)


def _read(
    compute: Compute,
    content: Iterable[bytes],
    options: Mapping[str, Any],
    provenance: str,
    cost: Cost,
    *,
    is_large: bool,
) -> TraceRead:
    read = computed(compute, content, options, name="Reading the trace", cost=cost, is_large=is_large)
    with read as (text, facts):
        return TraceRead(Blob.of_pieces(iter(lambda: text.read(_PIECE), b"")), Facts(**facts), provenance)


def trace_preview(trace: WorkloadTrace) -> Preview:
    """Return the arrivals and sizes of a trace (1 query).

    A trace of an earlier release is read once more. Raises Busy, and Invalid if that takes too much.
    """
    if trace.preview is None:
        read = trace_of_stored(source=trace.source, format_name=trace.format)
        trace.preview = read.facts.preview
        WorkloadTrace.objects.filter(pk=trace.pk).update(preview=trace.preview)
    return preview_from(trace.preview)


@transaction.atomic
def trace_delete(*, trace: WorkloadTrace, user: User | None = None) -> None:
    """Delete a trace; its forecasts stay, as their input is frozen."""
    role_require(user=user, workspace=trace.workspace)
    trace.delete()
