"""Charts that compare runs: one panel per run, all with the same axes."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from planner.runs.charts.amounts import amounts_figure
from planner.runs.charts.bullets import common_end, largest_drawn
from planner.runs.charts.figure import first_on_top
from planner.runs.charts.share import share_figure
from planning.rows import QueueFigures
from planning.units import Scale

GAP = 0.05
"""The gap between two panels, as a fraction of the width."""

SPARE = 1.05
"""The end of an axis, relative to the largest amount that is drawn as a whole."""
LONGEST_TITLE = 30

Figure = Mapping[str, Any]
Runs = Mapping[str, Sequence[QueueFigures]]
"""The rows of each run under its title; a run may lack a queue."""


def compared_amounts_figure(runs: Runs, resource: str, scale: Scale, queues: Sequence[str]) -> dict[str, Any]:
    """Return deserved, allocated, request, guarantee and capability of each queue, run by run.

    Amounts of queues with children leave the axis where they exceed those of all others.
    """
    figures = {title: amounts_figure(rows, resource, scale) for title, rows in runs.items()}
    every = [row for rows in runs.values() for row in rows]
    end, most = common_end(every, resource), largest_drawn(every, resource)
    return _side_by_side(figures, queues, scale.number(end) * SPARE if most > end else 0.0)


def compared_share_figure(runs: Runs, queues: Sequence[str]) -> dict[str, Any]:
    """Return the share of each queue, run by run."""
    every = [row for rows in runs.values() for row in rows]
    return _side_by_side({title: share_figure(rows, every) for title, rows in runs.items()}, queues)


def _side_by_side(figures: Mapping[str, Figure], queues: Sequence[str], most: float = 0.0) -> dict[str, Any]:
    """Return one figure with a panel per run; the first panel shows the names and the legend of all.

    The axes end at the amount `most`, unless it is 0.
    """
    first = next(iter(figures.values()))["layout"]
    axes = {}
    for number, (title, figure) in enumerate(figures.items(), 1):
        begin, end = _span(number - 1, len(figures))
        axes[f"xaxis{number if number > 1 else ''}"] = {
            **figure["layout"]["xaxis"],
            "domain": [begin, end],
            "title": {"text": f"{_short(title)}<br>{figure['layout']['xaxis']['title']['text']}"},
            **({"matches": "x"} if number > 1 else {}),
            **({"range": [0, most]} if most else {}),
        }
    data = [
        {**trace, "xaxis": f"x{number if number > 1 else ''}", "yaxis": "y", "showlegend": number == 1}
        for number, figure in enumerate(figures.values(), 1)
        for trace in figure["data"]
    ]
    shapes = [
        {**shape, "xref": axis.replace("axis", "")} for axis in axes for shape in first.get("shapes", ())
    ]
    order = {"categoryorder": "array", "categoryarray": list(queues), "range": first_on_top(len(queues))}
    margin = {**first["margin"], "b": first["margin"]["b"] + 18}
    yaxis = {**first["yaxis"], **order}
    return {
        "data": data,
        "layout": {**first, **axes, "margin": margin, "yaxis": yaxis, "shapes": shapes},
    }


def _short(title: str) -> str:
    """Return the title of a panel, shortened to fit and escaped, as Plotly interprets tags.

    >>> _short("A: a name that goes on & on for ever and ever")
    'A: a name that goes on &amp; on f…'
    """
    return escape(title if len(title) <= LONGEST_TITLE else f"{title[: LONGEST_TITLE - 1]}…")


def _span(place: int, panels: int) -> tuple[float, float]:
    """Return the start and end of a panel, as fractions of the width."""
    width = (1 - GAP * (panels - 1)) / panels
    begin = place * (width + GAP)
    return round(begin, 4), round(begin + width, 4)
