"""The rows of a replay's result by queue, each with its span of time.

All functions read the result as plain data; times are in seconds. `among` names the queues to include, None
for all.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from math import ceil, inf
from typing import Any, NamedTuple

from scheduler_core.model.queue import ROOT

Result = Mapping[str, Any]
Row = Mapping[str, Any]

_WITHOUT_PODGROUP = (
    "Completing", "Completed", "Failed", "Terminating", "Terminated", "Aborting", "Aborted",
)  # fmt: skip
"""Phases in which a Job has no PodGroup."""
Stretch = tuple[float, float]


class Span(NamedTuple):
    """A stretch of time during which a queue's row did not change."""

    begin: float
    end: float
    row: Row

    @property
    def seconds(self) -> float:
        """Return the length of the span."""
        return self.end - self.begin


def spans(result: Result, among: Collection[str] | None = None) -> dict[str, list[Span]]:
    """Return each queue's rows with their spans of time, from time 0 to the last session.

    A session does not count queues without PodGroups, unless they are in a tree. So a queue's row ends when
    its last PodGroup is deleted, and its next row begins with the first session that finds another one.
    """
    rows: dict[str, list[Row]] = {}
    for row in result["queues"]:
        if among is None or row["queue"] in among:
            rows.setdefault(row["queue"], []).append(row)
    end, present = result["end_seconds"], _counted(result)
    held: dict[str, list[Span]] = {}
    for name, of_queue in sorted(rows.items()):
        ends = [*(following["t"] for following in of_queue[1:]), end]
        whole = [Span(row["t"], until, row) for row, until in zip(of_queue, ends, strict=True)]
        held[name] = list(_within(whole, present[name])) if name in present else whole
    return held


def _counted(result: Result) -> dict[str, list[Stretch]]:
    """Return when sessions counted each queue with PodGroups, as stretches in order.

    In a tree a session counts every queue. Then `root`, which has no PodGroups, has rows.
    """
    present = presence(result)
    of_root = (row["t"] for row in result["queues"] if row["queue"] == ROOT)
    in_tree = None if ROOT in present else next(of_root, None)
    if in_tree is None:
        return present
    return {name: _merged([*found, (in_tree, inf)]) for name, found in present.items()}


def presence(result: Result) -> dict[str, list[Stretch]]:
    """Return when sessions found PodGroups of each queue, as stretches in order.

    A queue that never had any is not included.
    """
    of_vcjobs, period = _podgroups_of_vcjobs(result), result.get("period_seconds") or 0.0
    found: dict[str, list[Stretch]] = {}
    for key, job in result["jobs"].items():
        end = inf if job["finished"] is None else job["finished"]
        lives = of_vcjobs.get(key) or [(job["submitted"] or 0.0, end)]
        found.setdefault(job["queue"], []).extend((_session_at(begin, period), end) for begin, end in lives)
    return {name: _merged(of_queue) for name, of_queue in sorted(found.items())}


def podgroup_ends(result: Result) -> dict[str, float]:
    """Return when the PodGroups of Jobs were finally deleted, completed or not, by PodGroup."""
    ends = {key: lives[-1][1] for key, lives in _podgroups_of_vcjobs(result).items()}
    return {key: end for key, end in ends.items() if end < inf}


def _podgroups_of_vcjobs(result: Result) -> dict[str, list[Stretch]]:
    """Return when the PodGroup of each Job existed, by the PodGroup's key; a resumed Job gets a new one."""
    found: dict[str, list[Stretch]] = {}
    for job in result.get("vcjobs", {}).values():
        lives, begin = list[Stretch](), None
        for time, phase in (*job.get("phases", ()), (job.get("deleted", inf), _WITHOUT_PODGROUP[0])):
            if phase in _WITHOUT_PODGROUP and begin is not None:
                lives.append((begin, time))
                begin = None
            elif phase not in _WITHOUT_PODGROUP and begin is None:
                begin = time
        if lives:
            found[job["podgroup"]] = lives
    return found


def _session_at(time: float, period: float) -> float:
    """Return the time of the first session at or after a time."""
    return ceil(time / period - 1e-9) * period if period else time


def _merged(lives: Iterable[Stretch]) -> list[Stretch]:
    merged: list[Stretch] = []
    for begin, end in sorted(lives):
        if merged and begin <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((begin, end))
    return merged


def _within(held: Iterable[Span], stretches: Sequence[Stretch]) -> Iterator[Span]:
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
