"""Why the jobs of a forecast waited, by the amounts of their queue and of the nodes at each moment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from planning.amounts import UNLIMITED
from planning.forecasts.record import Record
from planning.forecasts.steps import Floats, Ints, counted_intervals, moments
from planning.forecasts.targets import submitted_in_time
from scheduler_core.resource import MIN_RESOURCE, PODS


@dataclass(frozen=True)
class CauseRow:
    """The waits of a queue's jobs submitted during a forecast, divided by cause; in seconds of jobs.

    At each moment a waiting job needs what minMember of its pods request. Jobs of unknown requests are left
    out.

    Attributes
    ----------
    queue : str
    jobs : int
    waited : float
        The sum of all waits; the other figures add up to it.
    above_deserved : float
        While the job would have taken its queue above deserved in a resource.
    no_room : float
        While it would not, and the nodes had less free in total than it needs of a resource.
    not_placed : float
        While enough was free in total: on nodes that are too full or do not match, or held back by a limit, a
        gate or the order of jobs.
    delays : float
        Until the first session after the submission, and from the last bind until the pods ran.

    """

    queue: str
    jobs: int
    waited: float
    above_deserved: float
    no_room: float
    not_placed: float
    delays: float


def cause_rows(record: Record) -> list[CauseRow]:
    """Return the causes of the waits of each queue's jobs, by name; without queues that got none."""
    rows = (_cause_row(record, queue) for queue in sorted(set(record.jobs.queues)))
    return [row for row in rows if row.jobs]


def _cause_row(record: Record, queue: str) -> CauseRow:
    jobs = record.jobs
    rows = submitted_in_time(record, queue)
    rows = rows[jobs.pods[rows] > 0]
    waited = float(jobs.waits_at_least(record.end)[rows].sum())
    first = np.ceil(jobs.submitted[rows] / record.period - 1e-9) * record.period
    begins = np.minimum(first, record.end)
    started, bound = jobs.started[rows], jobs.bound[rows]
    decided = np.where(np.isnan(bound), started, bound)
    ends = np.where(np.isnan(started), np.fmin(jobs.ended[rows], record.end), decided)
    seconds = np.zeros(3)
    for needs, same in _needs(record, rows):
        seconds += _of_equal_jobs(record, queue, needs, begins[same], np.maximum(begins, ends)[same])
    above, no_room, not_placed = seconds.tolist()
    delays = max(waited - above - no_room - not_placed, 0.0)
    return CauseRow(queue, len(rows), waited, above, no_room, not_placed, delays)


def _needs(record: Record, rows: Ints) -> Iterator[tuple[dict[str, float], Ints]]:
    """Yield what minMember pods of a job request by resource, and the places of the jobs that need this."""
    names = [name for name in sorted(record.jobs.sizes) if name != PODS]
    amounts = np.array([record.jobs.sizes[name][rows] * record.jobs.minimum[rows] for name in names])
    kinds, kind_of = np.unique(amounts.T, axis=0, return_inverse=True)
    for number, kind in enumerate(kinds.tolist()):
        needs = {name: amount for name, amount in zip(names, kind, strict=True) if amount >= MIN_RESOURCE}
        yield needs, np.flatnonzero(kind_of.reshape(-1) == number)


def _of_equal_jobs(
    record: Record, queue: str, needs: dict[str, float], begins: Floats, ends: Floats
) -> Floats:
    """Return the seconds that equal jobs waited above deserved, without room, and otherwise."""
    waiting = counted_intervals(begins, ends)
    deserved = record.queues.get(queue, {}).get("deserved", {})
    limits = {name: steps for name, steps in deserved.items() if name in needs}
    functions = [
        waiting,
        *limits.values(),
        *(record.steps(queue, "allocated", name) for name in limits),
        *(record.free(name) for name in needs),
    ]
    edges = moments(functions, record.end)
    jobs = waiting.at(edges[:-1])
    times, lasts, jobs = edges[:-1][jobs > 0], np.diff(edges)[jobs > 0], jobs[jobs > 0]
    above, short = np.zeros(len(times), dtype=np.bool_), np.zeros(len(times), dtype=np.bool_)
    for name, limit in limits.items():
        most = limit.at(times)
        wanted = record.steps(queue, "allocated", name).at(times) + needs[name]
        above |= (wanted > most + MIN_RESOURCE) & (most < UNLIMITED)
    for name, need in needs.items():
        short |= record.free(name).at(times) + MIN_RESOURCE < need
    seconds = jobs * lasts
    found: Floats = np.array(
        [seconds[above].sum(), seconds[~above & short].sum(), seconds[~above & ~short].sum()]
    )
    return found
