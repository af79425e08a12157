"""The charts of a forecast, as data for Plotly; functions of curves and of the rows beside them.

All have the same horizontal axis, simulated time in hours, and zoom together.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from planning.forecasts.figures import Curve, EvictionRow, job_rows
from planning.forecasts.record import Record
from planning.forecasts.steps import Ints
from planning.units import Scale, resource_label, scale_of

HOUR = 3600.0
ROW, HEAD, FOOT = 86, 46, 44
"""Height in pixels of a queue's row, of the legend above and of the axis below."""
GANTT_JOBS = 500
NAMED = 60
"""The most jobs of a Gantt chart that fit with their names."""
BARS = 60
GAP = 0.025

Figure = dict[str, Any]
Json = Mapping[str, Any]

_HOURS = {"title": {"text": "Hours since the beginning"}, "rangemode": "nonnegative"}
_LEGEND = {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "xanchor": "left"}


def window(begin: float, end: float) -> list[float]:
    """Return a window in seconds as the range of an axis."""
    return [begin / HOUR, end / HOUR]


def unit_of(curves: Sequence[Curve], resource: str) -> str:
    """Return the unit in which curves of a resource are drawn."""
    return _scale(curves, resource).many


def _scale(curves: Sequence[Curve], resource: str) -> Scale:
    return scale_of(resource, max((max(curve.values, default=0) for curve in curves), default=0))


def queues_figure(curves: Sequence[Curve], resource: str, shown: Sequence[float]) -> Figure:
    """Return a row for each queue: allocated compared with deserved and request."""
    scale = _scale(curves, resource)
    queues = list(dict.fromkeys(curve.queue for curve in curves))
    data, axes, notes = [], {}, []
    for number, queue in enumerate(queues, 1):
        name = "" if number == 1 else str(number)
        top = 1 - (number - 1) / len(queues)
        axes[f"yaxis{name}"] = {
            "domain": [top - 1 / len(queues) + GAP, top - GAP],
            "rangemode": "tozero",
            "nticks": 4,
        }
        notes.append(
            {
                "text": queue, "x": 0, "y": top - GAP, "xref": "paper", "yref": "paper",
                "xanchor": "left", "yanchor": "bottom", "showarrow": False,
            }
        )  # fmt: skip
        data += [
            {
                **_line(curve.t, curve.figure.capitalize(), [scale.number(value) for value in curve.values]),
                "meta": curve.figure,
                "yaxis": f"y{name}",
                "legendgroup": curve.figure,
                "showlegend": number == 1,
                "hovertemplate": f"{queue}: %{{y:,.4~f}} {scale.many}<extra>{curve.figure}</extra>",
            }
            for curve in curves
            if curve.queue == queue
        ]
    layout = _layout(shown, HEAD + FOOT + ROW * len(queues), annotations=notes)
    layout["xaxis"]["anchor"] = f"y{len(queues)}" if len(queues) > 1 else "y"
    return {"data": data, "layout": layout | axes}


def stacked_figure(
    curves: Sequence[Curve], use: Sequence[Curve], resource: str, shown: Sequence[float]
) -> Figure:
    """Return the allocated amounts of the queues, stacked, below the capacity of the nodes."""
    capacity = next(curve for curve in use if curve.figure == "capacity")
    scale = scale_of(resource, max(capacity.values, default=0))
    allocated = [curve for curve in curves if curve.figure == "allocated" and any(curve.values)]
    grid = np.unique(np.concatenate([[0.0], *(np.asarray(curve.t) for curve in allocated)]))
    data = [
        {
            **_line(grid.tolist(), curve.queue, _sampled(curve, grid, scale.size)),
            "stackgroup": "all",
            "meta": f"queue-{number % 8}",
            "hovertemplate": f"{curve.queue}: %{{y:,.4~f}} {scale.many}<extra></extra>",
        }
        for number, curve in enumerate(allocated)
    ]
    data.append(
        {
            **_line(capacity.t, "Offered by the nodes", [scale.number(value) for value in capacity.values]),
            "meta": "capability",
        }
    )
    return {"data": data, "layout": _layout(shown, 320, yaxis={"title": {"text": scale.many}})}


def _sampled(curve: Curve, grid: Any, size: float) -> list[float]:
    places = np.searchsorted(np.asarray(curve.t), grid, side="right")
    found: list[float] = (np.append(0.0, np.asarray(curve.values))[places] / size).tolist()
    return found


def waiting_figure(curves: Sequence[Curve], shown: Sequence[float]) -> Figure:
    """Return the number of waiting jobs of each queue."""
    data = [
        {**_line(curve.t, curve.queue, curve.values), "meta": f"queue-{number % 8}"}
        for number, curve in enumerate(curve for curve in curves if any(curve.values))
    ]
    return {"data": data, "layout": _layout(shown, 280, yaxis={"title": {"text": "Waiting jobs"}})}


def use_figure(of_resource: Mapping[str, Sequence[Curve]], shown: Sequence[float]) -> Figure:
    """Return the allocated fraction of the nodes' capacity, by resource."""
    data = []
    for number, (resource, use) in enumerate(of_resource.items()):
        allocated, capacity = use
        grid = np.unique(np.concatenate([np.asarray(allocated.t), np.asarray(capacity.t)]))
        offered = np.asarray(_sampled(capacity, grid, 1.0))
        had = np.asarray(_sampled(allocated, grid, 1.0))
        part = 100 * np.divide(had, offered, out=np.zeros_like(had), where=offered > 0)
        line = _line(grid.tolist(), resource_label(resource), part.round(3).tolist())
        data.append({**line, "meta": f"queue-{number % 8}"})
    axis = {"title": {"text": "Allocated, in %"}, "range": [0, 105]}
    return {"data": data, "layout": _layout(shown, 260, yaxis=axis)}


def fragmentation_figure(of_resource: Mapping[str, Curve], shown: Sequence[float]) -> Figure:
    """Return the fragmented fraction of the free resources, by resource."""
    data = [
        {
            **_line(curve.t, resource_label(resource), [round(100 * value, 3) for value in curve.values]),
            "meta": f"queue-{number % 8}",
            "hovertemplate": f"{resource_label(resource)}: %{{y:.1f}} % of what is free<extra></extra>",
        }
        for number, (resource, curve) in enumerate(of_resource.items())
    ]
    axis = {"title": {"text": "Fragmented, in %"}, "range": [0, 105]}
    return {"data": data, "layout": _layout(shown, 260, yaxis=axis)}


def evictions_figure(rows: Sequence[EvictionRow], begin: float, end: float) -> Figure:
    """Return the number of evicted pods over time, by queue and by the queue they were evicted for."""
    edges = np.linspace(begin, end, BARS + 1)
    between: dict[str, list[float]] = {}
    for row in rows:
        if begin <= row.t <= end:
            between.setdefault(f"{row.queue} for {row.for_queue or 'no queue named'}", []).append(row.t)
    middles = ((edges[:-1] + edges[1:]) / 2 / HOUR).tolist()
    data = [
        {
            "type": "bar", "name": name, "x": middles, "y": np.histogram(times, edges)[0].tolist(),
            "width": (end - begin) / BARS / HOUR, "meta": f"queue-{number % 8}",
            "hovertemplate": f"{name}: %{{y}} evictions<extra></extra>",
        }
        for number, (name, times) in enumerate(sorted(between.items()))
    ]  # fmt: skip
    layout = _layout(window(begin, end), 260, yaxis={"title": {"text": "Evictions"}})
    return {"data": data, "layout": {**layout, "barmode": "stack"}}


def gantt_figure(record: Record, begin: float, end: float) -> Figure:
    """Return when each job waited and ran; for more than 500 jobs the number of running jobs per queue."""
    jobs = record.jobs
    there = np.flatnonzero((jobs.submitted <= end) & ~(jobs.finished < begin))
    if len(there) > GANTT_JOBS:
        return _density(record, there, begin, end)
    ordered = sorted(job_rows(record, there), key=lambda row: (row.queue, row.submitted or 0.0, row.job))
    names = [row.job for row in ordered]
    until = [record.end if row.started is None else row.started for row in ordered]
    bars = (
        ("Waits", "request", [row.submitted or 0.0 for row in ordered], until),
        (
            "Runs",
            "allocated",
            until,
            [record.end if row.finished is None else row.finished for row in ordered],
        ),
    )
    data = [
        {
            "type": "bar", "orientation": "h", "name": name, "meta": meta, "y": names,
            "base": [value / HOUR for value in begins],
            "x": [max(last - first, 0.0) / HOUR for first, last in zip(begins, ends, strict=True)],
            "hovertemplate": f"%{{y}}: {name.lower()} %{{x:,.3f}} h<extra></extra>",
        }
        for name, meta, begins, ends in bars
    ]  # fmt: skip
    height = HEAD + FOOT + max(120, (12 if len(names) <= NAMED else 4) * len(names))
    axis = {"type": "category", "autorange": "reversed", "automargin": True}
    axis["showticklabels"] = len(names) <= NAMED
    return {"data": data, "layout": {**_layout(window(begin, end), height, yaxis=axis), "barmode": "overlay"}}


def _density(record: Record, there: Ints, begin: float, end: float) -> Figure:
    jobs = record.jobs
    edges = np.linspace(begin, end, 2 * BARS + 1)
    middles = (edges[:-1] + edges[1:]) / 2
    queues, counts = [], []
    for queue in sorted(set(jobs.queues)):
        own = np.intersect1d(jobs.of_queue(queue), there, assume_unique=True)
        if not len(own):
            continue
        queues.append(queue)
        starts, ends = (np.sort(times[~np.isnan(times)]) for times in (jobs.started[own], jobs.finished[own]))
        counts.append((np.searchsorted(starts, middles) - np.searchsorted(ends, middles)).tolist())
    data = [
        {
            "type": "heatmap", "x": (middles / HOUR).tolist(), "y": queues, "z": counts, "meta": "density",
            "hovertemplate": "%{y}: %{z} jobs run<extra></extra>",
            "colorbar": {"title": {"text": "Running jobs"}},
        }
    ]  # fmt: skip
    axis = {"type": "category", "automargin": True}
    height = HEAD + FOOT + 30 * max(len(queues), 3)
    return {"data": data, "layout": _layout(window(begin, end), height, yaxis=axis)}


def arrivals_figure(queues: Mapping[str, Sequence[int]], bar_seconds: float) -> Figure:
    """Return the number of submitted jobs over time, by queue; the smallest queues together."""
    largest = sorted(queues.items(), key=lambda item: (-sum(item[1]), item[0]))
    shown = dict(largest[:7])
    rest = [counts for _, counts in largest[7:]]
    if rest:
        shown[f"{len(rest)} other queues"] = [sum(column) for column in zip(*rest, strict=True)]
    data = [
        {
            "type": "bar", "name": name or "no queue", "y": list(counts), "meta": f"queue-{number % 8}",
            "x": [(place + 0.5) * bar_seconds / HOUR for place in range(len(counts))],
            "width": bar_seconds / HOUR, "hovertemplate": f"{name}: %{{y}} jobs<extra></extra>",
        }
        for number, (name, counts) in enumerate(shown.items())
    ]  # fmt: skip
    bars = max((len(counts) for counts in queues.values()), default=1)
    layout = _layout(window(0, bars * bar_seconds), 280, yaxis={"title": {"text": "Submitted jobs"}})
    return {"data": data, "layout": {**layout, "barmode": "stack"}}


def _line(times: Sequence[float], name: str, values: Sequence[float]) -> Figure:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": [round(time / HOUR, 9) for time in times],
        "y": list(values),
        "line": {"shape": "hv", "width": 1.5},
    }


def frame() -> Figure:
    """Return the common layout of all figures."""
    return {
        "margin": {"l": 60, "r": 20, "t": HEAD, "b": FOOT},
        "legend": _LEGEND,
        "hovermode": "closest",
        "showlegend": True,
    }


def _layout(shown: Sequence[float], height: int, **more: Any) -> Figure:
    axis = {**_HOURS, "range": list(shown)}
    return {**frame(), "height": height, "xaxis": axis, "dragmode": "zoom", **more}
