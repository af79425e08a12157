"""The rows of a replay's result by queue, each with its span of time.

All functions read the result as plain data; times are in seconds. `among` names the queues that count, None
for all.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from math import inf
from typing import Any, NamedTuple

Result = Mapping[str, Any]
Row = Mapping[str, Any]

_PODGROUP_DELETED = ("Completed", "Failed", "Terminated", "Aborted")
"""Phases in which a Job has no PodGroup any more."""


class Span(NamedTuple):
    """A stretch of time in which a queue's row did not change."""

    begin: float
    end: float
    row: Row

    @property
    def seconds(self) -> float:
        """Return how long it lasted."""
        return self.end - self.begin


def spans(result: Result, among: Collection[str] | None = None) -> dict[str, list[Span]]:
    """Return each queue's rows with how long each held, from time 0 to the last session.

    A session counts no queue without PodGroups, so its last row ends when its last PodGroup is gone.
    """
    rows: dict[str, list[Row]] = {}
    for row in result["queues"]:
        if among is None or row["queue"] in among:
            rows.setdefault(row["queue"], []).append(row)
    end, present = result["end_seconds"], presence(result)
    held: dict[str, list[Span]] = {}
    for name, of_queue in sorted(rows.items()):
        ends = [*(following["t"] for following in of_queue[1:]), end]
        whole = [Span(row["t"], until, row) for row, until in zip(of_queue, ends, strict=True)]
        held[name] = list(_within(whole, present[name])) if name in present else whole
    return held


def presence(result: Result) -> dict[str, list[tuple[float, float]]]:
    """Return when each queue had PodGroups, as stretches in order; a queue that never had any is missing."""
    ended = podgroup_ends(result)
    lives: dict[str, list[tuple[float, float]]] = {}
    for key, job in result["jobs"].items():
        end = ended.get(key, inf) if job["finished"] is None else job["finished"]
        lives.setdefault(job["queue"], []).append((job["submitted"] or 0.0, end))
    return {name: _merged(of_queue) for name, of_queue in sorted(lives.items())}


def podgroup_ends(result: Result) -> dict[str, float]:
    """Return when the PodGroups of Jobs were deleted that have ended, completed or not, by PodGroup."""
    return {
        job["podgroup"]: job["phases"][-1][0]
        for job in result.get("vcjobs", {}).values()
        if job.get("phases") and job["phases"][-1][1] in _PODGROUP_DELETED
    }


def _merged(lives: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    merged: list[tuple[float, float]] = []
    for begin, end in sorted(lives):
        if merged and begin <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((begin, end))
    return merged


def _within(held: Iterable[Span], stretches: Sequence[tuple[float, float]]) -> Iterator[Span]:
    """Yield the parts of spans that lie in some stretches; both are in order."""
    first = 0
    for span in held:
        while first < len(stretches) and stretches[first][1] <= span.begin:
            first += 1
        place = first
        while place < len(stretches) and stretches[place][0] < span.end:
            begin, end = max(stretches[place][0], span.begin), min(stretches[place][1], span.end)
            if begin < end:
                yield Span(begin, end, span.row)
            place += 1
