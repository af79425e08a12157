"""Chart of what each queue deserves, has allocated, requests and may use of one resource."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from planner.runs.charts.figure import figure_of
from planning.rows import QueueFigures
from planning.units import Scale, resource_label, scale_of

# Wide and pale behind, narrow and saturated in front, ticks on top: each line reads like a thermometer.
BARS = (("request", "Request", 0.72), ("allocated", "Allocated", 0.4))
TICKS = (
    ("deserved", "Deserved", "line-ns", 22),
    ("guarantee", "Guarantee", "triangle-up", 10),
    ("capability", "Capability", "triangle-left", 11),
)


def amounts_figure(rows: Sequence[QueueFigures], resource: str, scale: Scale | None = None) -> dict[str, Any]:
    """Return the figure with a line per queue; amounts that are not set are not drawn.

    `scale` is the unit of a figure that shares its axis; by default that of the largest amount.
    """
    amounts = {
        measure: [getattr(row, measure).get(resource) for row in rows]
        for measure in ("request", "allocated", "deserved", "guarantee", "capability")
    }
    scale = scale or scale_of(
        resource, max((value for column in amounts.values() for value in column if value), default=0)
    )
    queues = [row.queue for row in rows]

    def numbers(measure: str) -> list[float | None]:
        nothing = (None, 0) if measure == "guarantee" else (None,)
        return [None if value in nothing else scale.number(value or 0.0) for value in amounts[measure]]

    hover = f"%{{x:,.4~f}} {scale.many}"
    bars = [
        go.Bar(
            name=name, meta=measure, y=queues, x=numbers(measure), width=width,
            orientation="h", hovertemplate=hover,
        )
        for measure, name, width in BARS
    ]  # fmt: skip
    ticks = [
        go.Scatter(
            name=name, meta=measure, y=queues, x=numbers(measure), mode="markers",
            marker={"symbol": symbol, "size": size}, hovertemplate=hover,
        )
        for measure, name, symbol, size in TICKS
    ]  # fmt: skip
    label = resource_label(resource)
    axis = label if label.lower().endswith(scale.many) else f"{label} in {scale.many}"
    return figure_of([*bars, *ticks], rows=len(rows), axis=axis, barmode="overlay")
