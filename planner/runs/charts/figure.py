"""The common shape of all figures; static/web/figures.js adds the page's colours and fonts."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

ROW_PIXELS = 30
FRAME_PIXELS = 110


def figure_of(traces: Sequence[Any], *, rows: int, axis: str, **layout: Any) -> dict[str, Any]:
    """Return the figure as JSON-ready data: horizontal, a line per row, the first row on top.

    The ``meta`` of a trace names its measure, to which the page assigns a colour.
    """
    figure = go.Figure(
        data=traces,
        layout={
            "template": "none",
            "height": FRAME_PIXELS + ROW_PIXELS * max(rows, 3),
            "margin": {"l": 8, "r": 16, "t": 48, "b": 44},
            "xaxis": {"title": {"text": axis}, "rangemode": "tozero", "automargin": True},
            "yaxis": {
                "range": first_on_top(rows), "automargin": True, "type": "category", "ticksuffix": "  ",
            },
            "legend": {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "xanchor": "left"},
            "hovermode": "y unified",
            "dragmode": False,
        }
        | layout,
    )  # fmt: skip
    data: dict[str, Any] = figure.to_plotly_json()
    return data


def first_on_top(rows: int) -> list[float]:
    """Return the range of an axis of rows, without the margins that Plotly adds for their markers."""
    return [max(rows, 1) - 0.5, -0.5]
