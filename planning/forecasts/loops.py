"""Eviction loops of a forecast: pods evicted at a steady interval, and the run time that they lose."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from planning.forecasts.jobs import NO_JOB
from planning.forecasts.losses import lost_by_eviction, preemptor_queue
from planning.forecasts.record import Record
from planning.forecasts.steps import Floats

LEAST_TURNS = 3
"""The evictions of one pod for jobs of one queue, at equal intervals, that count as a loop."""


@dataclass(frozen=True)
class EvictionLoop:
    """Pods of one job that are evicted at a steady interval for jobs of the same queue.

    Attributes
    ----------
    victim : str
        The job that loses the pods.
    preemptors : tuple of str
        The jobs that they are evicted for, by name; empty where the scheduler names none.
    queue, by : str
        The queues of both; the second is empty where the scheduler names no job.
    pods : tuple of str
        The pods, by name.
    interval : float
        Seconds from one eviction of a pod to its next.
    begin, end : float
        Of the first and of the last eviction, in seconds.
    evictions : int
    lost : float
        Run time of the job's pods that these evictions discarded, in seconds.
    lost_per_hour : float
        Run time that the loop loses per hour, in seconds: without the first eviction of each pod, which had
        run since before the loop.
    lasts : bool
        Whether it continues at the end of the forecast: the next eviction would come after it.
    interrupted : bool
        Whether other intervals lie between the evictions of a pod for this queue.

    """

    victim: str
    preemptors: tuple[str, ...]
    queue: str
    by: str
    pods: tuple[str, ...]
    interval: float
    begin: float
    end: float
    evictions: int
    lost: float
    lost_per_hour: float
    lasts: bool
    interrupted: bool


_Rows = Mapping[tuple[str, str], Sequence[int]]
"""The evictions as rows of the record, by pod and the queue that they were for."""


@dataclass(frozen=True)
class _Turns:
    """Successive evictions of a pod at equal intervals, as rows of the record."""

    pod: str
    by: str
    rows: Sequence[int]
    interval: float


def eviction_loops(record: Record) -> list[EvictionLoop]:
    """Return the loops, most evictions first."""
    together: dict[tuple[int, str, float], list[_Turns]] = {}
    by_pod = _by_pod(record)
    for turns in _all_turns(record, by_pod):
        victim = int(record.evictions.victims[turns.rows[0]])
        together.setdefault((victim, turns.by, turns.interval), []).append(turns)
    lost = lost_by_eviction(record)
    loops = [_loop(record, lost, by_pod, victim, by, turns) for (victim, by, _), turns in together.items()]
    return sorted(loops, key=lambda loop: (-loop.evictions, loop.begin, loop.victim, loop.by))


def evictions_outside_loops(record: Record) -> int:
    """Return how many evictions belong to no loop; one between two intervals belongs to two loops."""
    in_loops = {row for turns in _all_turns(record, _by_pod(record)) for row in turns.rows}
    return int(record.jobs.evictions.sum()) - len(in_loops)


def _by_pod(record: Record) -> _Rows:
    by_pod: dict[tuple[str, str], list[int]] = {}
    for row, pod in enumerate(record.evictions.pods):
        by_pod.setdefault((pod, preemptor_queue(record, row)), []).append(row)
    return by_pod


def _all_turns(record: Record, by_pod: _Rows) -> Iterator[_Turns]:
    for (pod, by), rows in by_pod.items():
        if len(rows) >= LEAST_TURNS:
            yield from _steady(record, pod, by, rows)


def _steady(record: Record, pod: str, by: str, rows: Sequence[int]) -> Iterator[_Turns]:
    """Yield the longest sequences of a pod's evictions with equal intervals."""
    times = record.evictions.times
    stretch, interval = [rows[0]], 0.0
    for before, after in pairwise(rows):
        gap = round(float(times[after] - times[before]), 6)
        if gap != interval and len(stretch) > 1:
            if len(stretch) >= LEAST_TURNS:
                yield _Turns(pod, by, stretch, interval)
            stretch = [before]
        interval = gap
        stretch.append(after)
    if len(stretch) >= LEAST_TURNS:
        yield _Turns(pod, by, stretch, interval)


def _loop(
    record: Record, lost: Floats, by_pod: _Rows, victim: int, by: str, turns: Sequence[_Turns]
) -> EvictionLoop:
    rows = sorted({row for one in turns for row in one.rows})
    begin, end = float(record.evictions.times[rows[0]]), float(record.evictions.times[rows[-1]])
    names, preemptors = record.jobs.names, record.evictions.preemptors[rows].tolist()
    pods, interval = {one.pod for one in turns}, turns[0].interval
    between = [row for pod in pods for row in by_pod[pod, by] if rows[0] <= row <= rows[-1]]
    again = lost[[row for one in turns for row in one.rows[1:]]]
    return EvictionLoop(
        victim=names[victim],
        preemptors=tuple(sorted({names[row] for row in set(preemptors) if row != NO_JOB})),
        queue=record.jobs.queues[victim],
        by=by,
        pods=tuple(sorted(pods)),
        interval=interval,
        begin=begin,
        end=end,
        evictions=len(rows),
        lost=float(lost[rows].sum()),
        lost_per_hour=float(again.mean()) * len(pods) / interval * 3600.0,
        lasts=end + interval > record.end,
        interrupted=len(pods) < len(turns) or len(rows) < len(between),
    )
