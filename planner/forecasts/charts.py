"""The charts of a forecast, as data for Plotly; functions of curves and of the rows beside them.

All have the same horizontal axis, simulated time in hours, and zoom together.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from planner.web.templatetags.quantities import counted
from planning.forecasts.clock import spelled
from planning.forecasts.curves import Curve
from planning.forecasts.figures import EvictionRow
from planning.units import Scale, resource_label, scale_of

HOUR = 3600.0
ROW, HEAD, FOOT = 86, 46, 44
"""Height in pixels of a queue's row, of the legend above and of the axis below."""
BARS = 60
COLOURS = 8
"""How many colours tell the queues of a figure apart."""
OWN = 7
"""How many queues have a band of their own in a stack; the others share one."""
NAME, BELOW = 20, 6
"""Pixels above a queue's curves, for its name, and below them."""
LINES = 100
"""How many changes in time have a line in the figures."""
FEW = 5
"""Up to this count an axis has a line for each number, instead of halves."""
DIGITS = 9
"""Decimals of an hour in a figure: a page with many curves consists of little else than numbers."""
CUT = 3
"""A request above this many times the other figures of its queue leaves the axis: they stay legible."""

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
    pixel = 1 / (ROW * len(queues)) if queues else 0.0
    for number, queue in enumerate(queues, 1):
        name = "" if number == 1 else str(number)
        bottom, top = (1 - place * ROW * pixel for place in (number, number - 1))
        own = [curve for curve in curves if curve.queue == queue]
        requested, limit = _peak(own, {"request"}), CUT * _peak(own, {"allocated", "deserved"})
        is_cut = 0 < limit < requested
        axes[f"yaxis{name}"] = {
            "domain": [bottom + BELOW * pixel, top - NAME * pixel],
            "rangemode": "tozero",
            "nticks": 3,
            **({"range": [0, scale.number(limit)]} if is_cut else {}),
        }
        notes.append(
            {
                "text": f"{queue}: requests up to {scale.say(requested)}" if is_cut else queue,
                "x": 0, "y": top - NAME * pixel, "xref": "paper", "yref": "paper",
                "xanchor": "left", "yanchor": "bottom", "showarrow": False,
            }
        )  # fmt: skip
        data += [
            {
                **_line(
                    curve.t,
                    curve.figure.capitalize(),
                    [scale.number(value) for value in curve.values],
                    shown,
                ),
                "meta": curve.figure,
                "yaxis": f"y{name}",
                "legendgroup": curve.figure,
                "showlegend": number == 1,
                "hovertemplate": f"{queue}: %{{y:,.4~f}} {scale.many}<extra>{curve.figure}</extra>",
            }
            for curve in own
        ]
    layout = layout_over_time(shown, HEAD + FOOT + ROW * len(queues), annotations=notes)
    layout["xaxis"]["anchor"] = f"y{len(queues)}" if len(queues) > 1 else "y"
    return {"data": data, "layout": layout | axes}


def _peak(curves: Sequence[Curve], figures: Collection[str]) -> float:
    """Return the largest value of these figures."""
    return max((max(curve.values, default=0.0) for curve in curves if curve.figure in figures), default=0.0)


def stacked_figure(
    stack: Sequence[Curve],
    capacity: Curve,
    resource: str,
    shown: Sequence[float],
    numbers: Mapping[str, int],
    hidden: int = 0,
) -> Figure:
    """Return the allocated amounts of the first queues by number, stacked, below the capacity of the nodes.

    The others are one band, together with `hidden` queues that have no curve. `stack` has
    all queues together, then each queue, at the same times.
    """
    scale = scale_of(resource, max(capacity.values, default=0))
    everything, *allocated = ([scale.number(value) for value in curve.values] for curve in stack)
    amounts = dict(zip((curve.queue for curve in stack[1:]), allocated, strict=True))
    amounts = {queue: values for queue, values in amounts.items() if any(values)}
    largest = sorted(amounts, key=numbers.__getitem__)[:OWN]
    bands = {queue: values for queue, values in amounts.items() if queue in largest}
    if others := hidden + len(amounts) - len(bands):
        rest = np.asarray(everything) - sum(np.asarray(values) for values in bands.values())
        bands[counted(others, "other queue")] = np.maximum(rest, 0.0).tolist()
    data = [
        {
            **_line(stack[0].t, queue, values, shown),
            "stackgroup": "all",
            "meta": colour_of(numbers[queue]) if queue in largest else "queue-rest",
            "hovertemplate": f"{queue}: %{{y:,.4~f}} {scale.many}<extra></extra>",
        }
        for queue, values in bands.items()
    ]
    offered = [scale.number(value) for value in capacity.values]
    data.append({**_line(capacity.t, "Offered by the nodes", offered, shown), "meta": "capability"})
    return {"data": data, "layout": layout_over_time(shown, 320, yaxis={"title": {"text": scale.many}})}


def waiting_figure(curves: Sequence[Curve], shown: Sequence[float], numbers: Mapping[str, int]) -> Figure:
    """Return the number of waiting jobs of each queue."""
    data = [
        {
            **_line(curve.t, curve.queue, curve.values, shown, numbers[curve.queue]),
            "meta": colour_of(numbers[curve.queue]),
        }
        for curve in curves
        if any(curve.values)
    ]
    few = max((value for trace in data for value in trace["y"]), default=0) <= FEW
    axis = {"title": {"text": "Waiting jobs"}, **({"dtick": 1} if few else {})}
    return {"data": data, "layout": layout_over_time(shown, 280, yaxis=axis)}


def use_figure(of_resource: Mapping[str, Curve], shown: Sequence[float]) -> Figure:
    """Return the allocated part of what the nodes offer, by resource."""
    return _parts_figure(of_resource, shown, "Allocated", "of what the nodes offer")


def fragmentation_figure(of_resource: Mapping[str, Curve], shown: Sequence[float]) -> Figure:
    """Return the fragmented part of the free resources, by resource."""
    return _parts_figure(of_resource, shown, "Fragmented", "of what is free")


def _parts_figure(of_resource: Mapping[str, Curve], shown: Sequence[float], what: str, whole: str) -> Figure:
    data = [
        {
            **_line(
                curve.t, resource_label(resource), [round(100 * value, 3) for value in curve.values], shown
            ),
            "meta": colour_of(number),
            "hovertemplate": f"{resource_label(resource)}: %{{y:.1f}} % {whole}<extra></extra>",
        }
        for number, (resource, curve) in enumerate(of_resource.items())
    ]
    axis = {"title": {"text": f"{what}, in %"}, "range": [0, 105]}
    return {"data": data, "layout": layout_over_time(shown, 260, yaxis=axis)}


def evictions_figure(rows: Sequence[EvictionRow], begin: float, end: float) -> Figure:
    """Return the number of evicted pods over time, by queue and by the queue they were evicted for.

    Beyond the pairs of queues with the most evictions, the others are drawn together.
    """
    edges = np.linspace(begin, end, BARS + 1)
    between: dict[str, list[float]] = {}
    for row in rows:
        if begin <= row.t <= end:
            between.setdefault(f"{row.queue} for {row.for_queue or 'no queue named'}", []).append(row.t)
    largest = sorted(between, key=lambda name: (-len(between[name]), name))
    shown = {name: between[name] for name in sorted(largest[:OWN])}
    if others := largest[OWN:]:
        shown[counted(len(others), "other pair")] = [t for name in others for t in between[name]]
    bar = (end - begin) / BARS
    middles = ((edges[:-1] + edges[1:]) / 2 / HOUR).tolist()
    data = [
        {
            "type": "bar", "name": name, "x": middles, "y": np.histogram(times, edges)[0].tolist(),
            "width": bar / HOUR, "meta": f"queue-{number}" if number < OWN else "queue-rest",
            "hovertemplate": f"{name}: %{{y}} evictions<extra></extra>",
        }
        for number, (name, times) in enumerate(shown.items())
    ]  # fmt: skip
    axis = {"title": {"text": f"Evictions per {spelled(bar)}"}, "rangemode": "tozero"}
    layout = layout_over_time(window(begin, end), 260, yaxis=axis)
    return {"data": data, "layout": {**layout, "barmode": "stack"}}


def arrivals_figure(queues: Mapping[str, Sequence[int]], bar_seconds: float) -> Figure:
    """Return the number of submitted jobs over time, by queue; the smallest queues together."""
    largest = sorted(queues.items(), key=lambda item: (-sum(item[1]), item[0]))
    shown = dict(largest[:OWN])
    rest = [counts for _, counts in largest[OWN:]]
    if rest:
        shown[counted(len(rest), "other queue")] = [sum(column) for column in zip(*rest, strict=True)]
    data = [
        {
            "type": "bar", "name": name or "no queue", "y": list(counts),
            "meta": f"queue-{number}" if number < OWN else "queue-rest",
            "x": [(place + 0.5) * bar_seconds / HOUR for place in range(len(counts))],
            "width": bar_seconds / HOUR, "hovertemplate": f"{name}: %{{y}} jobs<extra></extra>",
        }
        for number, (name, counts) in enumerate(shown.items())
    ]  # fmt: skip
    bars = max((len(counts) for counts in queues.values()), default=1)
    layout = layout_over_time(window(0, bars * bar_seconds), 280, yaxis={"title": {"text": "Submitted jobs"}})
    return {"data": data, "layout": {**layout, "barmode": "stack"}}


def lines_at(times: Sequence[float]) -> list[Figure]:
    """Return vertical lines at some seconds, of many the first ones."""
    return [
        {
            "type": "line", "xref": "x", "yref": "paper",
            "x0": round(at / HOUR, DIGITS), "x1": round(at / HOUR, DIGITS), "y0": 0, "y1": 1,
            "line": {"width": 1.5, "dash": "dot"},
        }
        for at in sorted(set(times))[:LINES]
    ]  # fmt: skip


def _line(
    times: Sequence[float], name: str, values: Sequence[float], shown: Sequence[float], number: int = 0
) -> Figure:
    """Return a curve up to the end of the window, where a record ends every curve with 0."""
    curve = zip((time / HOUR for time in times), values, strict=True)
    known = [(hour, value) for hour, value in curve if hour < shown[1]]
    if known:
        known.append((shown[1], known[-1][1]))
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": [round(hour, DIGITS) for hour, _ in known],
        "y": [value for _, value in known],
        "line": {"shape": "hv", "width": 1.5, **dash_of(number)},
    }


def dash_of(number: int) -> Figure:
    """Return the dash of a line by number: dots once the colours come again, then dots and dashes."""
    return {"dash": ("dot", "dashdot")[min(number // COLOURS, 2) - 1]} if number >= COLOURS else {}


def colour_of(number: int) -> str:
    """Return the name of the colour of a number."""
    return f"queue-{number % COLOURS}"


def frame() -> Figure:
    """Return the common layout of all figures."""
    return {
        "margin": {"l": 60, "r": 20, "t": HEAD, "b": FOOT},
        "legend": _LEGEND,
        "hovermode": "closest",
        "showlegend": True,
    }


def layout_over_time(shown: Sequence[float], height: int, **more: Any) -> Figure:
    """Return the layout of a figure over a window in hours."""
    axis = {**_HOURS, "range": list(shown)}
    return {**frame(), "height": height, "xaxis": axis, "dragmode": "zoom", **more}
