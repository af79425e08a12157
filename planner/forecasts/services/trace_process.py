"""Reading and generating of traces in a child process."""

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from typing import IO, Any

from planner.clusters.models import Blob
from planner.errors import Invalid
from planner.work.awaited import awaited, go_on
from planner.work.subprocess_runner import Task, room_on_disk, run_child
from planning.forecasts.trace_sources import PATTERNS, SNAPSHOT, TEXT, Facts
from planning.rows import Problem

_PIECE = 2**20
_PLACES: Mapping[str, tuple[str, str]] = {
    TEXT: ("file", "Cut the trace to the days that you need."),
    SNAPSHOT: ("snapshot", "Choose a snapshot with fewer jobs, or those since a later time."),
    PATTERNS: ("seconds", "Choose a shorter time."),
}
"""The part of a request that costs, and how it costs less."""


def trace_by_child(kind: str, content: Iterable[bytes], options: Mapping[str, Any]) -> tuple[Blob, Facts]:
    """Return the unsaved text and the facts of a trace, read as by `planning.forecasts.trace_sources`.

    Raises Busy, and Invalid with every problem of the trace, or because the child exceeded its limits.
    """
    task = Task("Reading the trace", "planner.forecasts.trace_reading", [kind, json.dumps(options)])
    path, fix = _PLACES[kind]
    with (
        awaited(rule="trace.too_costly", path=path, fix=fix) as limits,
        room_on_disk(),
        tempfile.TemporaryFile() as source,
        tempfile.TemporaryFile() as result,
    ):
        source.writelines(content)
        answer = run_child(task, source, result, limits, go_on)
        if answer["facts"] is None:
            raise Invalid([Problem(**found) for found in answer["problems"]])
        return Blob.of_pieces(_pieces(result)), Facts(**answer["facts"])


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    while piece := file.read(_PIECE):
        yield piece
