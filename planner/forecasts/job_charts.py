"""The chart of a forecast's jobs, as data for Plotly."""

from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter

import numpy as np

from planner.forecasts.charts import BARS, DIGITS, FOOT, HEAD, HOUR, Figure, layout_over_time, window
from planning.forecasts.figures import JobRow, job_rows
from planning.forecasts.record import Record
from planning.forecasts.steps import Floats, Ints

GANTT_JOBS = 500
NAMED = 60
"""The most jobs of a Gantt chart that fit with their names."""
APART = 4
"""How many rows further down the name of another queue fits, where rows have no names."""


def gantt_figure(record: Record, begin: float, end: float, queues: Sequence[str]) -> Figure:
    """Return when each job waited and ran; for more than 500 jobs how many jobs of these queues run."""
    jobs = record.jobs
    there = np.flatnonzero((jobs.there_from <= end) & ~(jobs.over < begin))
    if len(there) > GANTT_JOBS:
        return _running_jobs(record, begin, end, queues)
    ordered = sorted(job_rows(record, there), key=lambda row: (row.queue, row.submitted or 0.0, row.job))
    names = [row.job for row in ordered]
    over = [_first(row.finished, row.ended, record.end) for row in ordered]
    until = [_first(row.started, end) for row, end in zip(ordered, over, strict=True)]
    bars = (
        ("Waits", "request", [row.submitted or 0.0 for row in ordered], until),
        ("Runs", "allocated", until, over),
    )
    data = [
        {
            "type": "bar", "orientation": "h", "name": name, "meta": meta, "y": names,
            "base": [round(value / HOUR, DIGITS) for value in begins],
            "x": [
                round(max(last - first, 0.0) / HOUR, DIGITS)
                for first, last in zip(begins, ends, strict=True)
            ],
            "hovertemplate": f"%{{y}}: {name.lower()} %{{x:,.3f}} h<extra></extra>",
        }
        for name, meta, begins, ends in bars
    ]  # fmt: skip
    height = HEAD + FOOT + max(120, (12 if len(names) <= NAMED else 4) * len(names))
    axis: Figure = {"type": "category", "autorange": "reversed", "automargin": True}
    if len(names) > NAMED:
        axis |= _queue_ticks(ordered)
    layout = layout_over_time(window(begin, end), height, yaxis=axis)
    return {"data": data, "layout": {**layout, "barmode": "overlay"}}


def _queue_ticks(rows: Sequence[JobRow]) -> Figure:
    """Return the names of the queues beside the middle of their jobs, which are in the order of queues."""
    named: list[tuple[int, str]] = []
    first = 0
    for queue, own in groupby(rows, key=attrgetter("queue")):
        count = len(list(own))
        middle = first + count // 2
        if not named or middle - named[-1][0] >= APART:
            named.append((middle, queue))
        first += count
    return {
        "tickmode": "array",
        "tickvals": [rows[middle].job for middle, _ in named],
        "ticktext": [queue for _, queue in named],
    }


def _first(*times: float | None) -> float:
    """Return the first of these times that happened; the last one always does."""
    return next(time for time in times if time is not None)


def _running_jobs(record: Record, begin: float, end: float, queues: Sequence[str]) -> Figure:
    """Return the number of running jobs of each queue as bars, the stronger the more.

    Bars, as the page's content security policy forbids the inline styles of Plotly's heat map, which without
    them blurs the queues into one another.
    """
    edges = np.linspace(begin, end, 2 * BARS + 1)
    counts = [_running(record, queue, (edges[:-1] + edges[1:]) / 2) for queue in queues]
    every = np.concatenate(counts) if counts else np.zeros(0, dtype=int)
    most, bars = int(every.max(initial=0)), len(edges) - 1
    data = [
        {
            "type": "bar", "orientation": "h", "meta": "allocated", "width": 0.85,
            "name": f"Running jobs; strongest colour:<br>{most:,} of one queue",
            "y": [queue for queue in queues for _ in range(bars)],
            "base": np.tile((edges[:-1] / HOUR).round(DIGITS), len(queues)).tolist(),
            "x": np.tile((np.diff(edges) / HOUR).round(DIGITS), len(queues)).tolist(),
            "customdata": every.tolist(),
            "marker": {"opacity": (every / max(most, 1)).round(3).tolist()},
            "hovertemplate": "%{y}: %{customdata} jobs run<extra></extra>",
        }
    ]  # fmt: skip
    axis = {"type": "category", "autorange": "reversed", "automargin": True}
    height = HEAD + FOOT + 30 * max(len(queues), 3)
    return {"data": data, "layout": layout_over_time(window(begin, end), height, yaxis=axis)}


def _running(record: Record, queue: str, at: Floats) -> Ints:
    """Return how many jobs of a queue run at these times."""
    own = record.jobs.of_queue(queue)
    ran = own[~np.isnan(record.jobs.started[own])]
    times = (record.jobs.started[ran], record.jobs.over[ran])
    starts, ends = (np.sort(one[~np.isnan(one)]) for one in times)
    found: Ints = np.searchsorted(starts, at) - np.searchsorted(ends, at)
    return found
