"""Chart of the share of each queue before and after the run."""

from collections.abc import Iterable, Sequence
from typing import Any

import plotly.graph_objects as go

from planner.runs.charts.figure import figure_of
from planning.rows import QueueFigures
from planning.units import percent

LONGEST = 10
"""The end of the axis: one queue that deserves next to nothing would leave no bar for the others."""


def share_figure(rows: Sequence[QueueFigures], beside: Iterable[QueueFigures] = ()) -> dict[str, Any]:
    """Return a bar per queue, allocated as a fraction of deserved; a tick shows the value before.

    `beside` are the rows of the figures that share its axis.
    """
    queues = [row.queue for row in rows]
    end = go.Bar(
        name="Share at the end",
        meta="allocated",
        y=queues,
        x=[_percent(row.share) for row in rows],
        width=0.5,
        orientation="h",
        hovertemplate="%{x:,.1f} %",
    )
    start = go.Scatter(
        name="Share at the start",
        meta="start",
        y=queues,
        x=[_percent(row.share_at_open) for row in rows],
        mode="markers",
        marker={"symbol": "line-ns", "size": 18},
        hovertemplate="%{x:,.1f} %",
    )
    shares = [
        share for row in (*rows, *beside) for share in (row.share, row.share_at_open) if share is not None
    ]
    is_cut = max(shares, default=0.0) > LONGEST
    full = {"type": "line", "x0": 100, "x1": 100, "yref": "paper", "y0": 0, "y1": 1, "name": "full"}
    axis = f"Share (allocated ÷ deserved), in %{f'; the axis ends at {percent(LONGEST)}' if is_cut else ''}"
    figure = figure_of([end, start], rows=len(rows), axis=axis, shapes=[full])
    if is_cut:
        figure["layout"]["xaxis"]["range"] = [0, LONGEST * 100]
    return figure


def _percent(share: float | None) -> float | None:
    return None if share is None else share * 100
