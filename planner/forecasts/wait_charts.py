"""The charts of a forecast's waits, as data for Plotly."""

from collections.abc import Mapping

import numpy as np

from planner.forecasts.charts import FOOT, HEAD, Figure, colour_of, dash_of, frame
from planning.forecasts.steps import Floats


def waits_figure(of_queue: Mapping[str, Floats], numbers: Mapping[str, int]) -> Figure:
    """Return the waits of each queue as boxes: quartiles, shortest and longest."""
    data = []
    for queue, waits in of_queue.items():
        low, first, middle, third, high = np.quantile(waits, [0, 0.25, 0.5, 0.75, 1]) / 60
        data.append(
            {
                "type": "box", "name": queue, "y": [queue], "orientation": "h",
                "meta": colour_of(numbers[queue]),
                "lowerfence": [low], "q1": [first], "median": [middle], "q3": [third], "upperfence": [high],
                "showlegend": False,
            }
        )  # fmt: skip
    axis = {"title": {"text": "Wait, in minutes"}, "rangemode": "tozero"}
    height = HEAD + FOOT + 34 * max(len(of_queue), 2)
    layout = {"height": height, "xaxis": axis, "yaxis": {"type": "category", "automargin": True}}
    return {"data": data, "layout": {**frame(), **layout}}


def cdf_figure(of_queue: Mapping[str, Floats], numbers: Mapping[str, int]) -> Figure:
    """Return the fraction of each queue's started jobs that waited at most so long."""
    data = []
    for queue, waits in of_queue.items():
        ordered = np.sort(waits) / 60
        parts = 100 * np.arange(1, len(ordered) + 1) / len(ordered)
        kept = np.unique(np.linspace(0, len(ordered) - 1, min(len(ordered), 400)).astype(int))
        data.append(
            {
                "type": "scatter", "mode": "lines", "name": queue, "meta": colour_of(numbers[queue]),
                "x": [0.0, *ordered[kept].tolist()], "y": [0.0, *parts[kept].tolist()],
                "line": {"shape": "hv", **dash_of(numbers[queue])},
                "hovertemplate": f"{queue}: %{{y:.1f}} % within %{{x:,.1f}} min<extra></extra>",
            }
        )  # fmt: skip
    layout = {
        "height": 300,
        "xaxis": {"title": {"text": "Wait, in minutes"}, "rangemode": "tozero"},
        "yaxis": {"title": {"text": "Started jobs, in %"}, "range": [0, 102]},
    }
    return {"data": data, "layout": {**frame(), **layout}}
