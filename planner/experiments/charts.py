"""The charts of an experiment, as data for Plotly; functions of the rows."""

from collections.abc import Sequence
from math import isfinite
from typing import Any

from planner.experiments.chart_texts import brief, escaped, hover_text, level, lines_of
from planner.experiments.columns import Column
from planner.experiments.selectors.cells import CellRow
from planning.amounts import read_amounts
from planning.experiments.space import Axis, Space

Figure = dict[str, Any]

LINES = 200
"""The most cells in the parallel coordinates: those of the front first."""


def is_numeric(axis: Axis) -> bool:
    """Return whether the values of a setting are numbers or quantities."""
    values = [axis.value(place) for place in range(len(axis.levels))]
    return all(value is None or level(value).lstrip("-.")[:1].isdigit() for value in values)


def heat_figure(
    space: Space, rows: Sequence[CellRow], column: Column, columns: Sequence[Column]
) -> Figure | None:
    """Return a figure over two settings as a heat map; None unless exactly two settings vary."""
    moving = [axis for axis in space.axes if len(axis.levels) > 1]
    if len(moving) != 2:
        return None
    across, down = moving
    known = {
        (level(row.settings[across.name]), level(row.settings[down.name])): row
        for row in rows
        if not row.error
    }
    xs, ys = ([level(axis.value(place)) for place in _sorted(axis)] for axis in moving)
    cells = [(x, y, known[x, y]) for y in ys for x in xs if (x, y) in known]
    values = [column.number(row) for _, _, row in cells]
    # Squares instead of Plotly's heat map, whose inline styles the page's content security policy forbids.
    trace = {
        "type": "scatter",
        "mode": "markers+text",
        "meta": "heat",
        "x": [x for x, _, _ in cells],
        "y": [y for _, y, _ in cells],
        "text": ["∞" if value is None else brief(value) for value in values],
        "customdata": [hover_text(row, columns) for _, _, row in cells],
        "hovertemplate": "%{customdata}<extra></extra>",
        "marker": {"symbol": "square", "size": 30, "color": values, "opacity": 0.55},
        "cliponaxis": False,
    }
    # The page sets the size of the squares, and so of the figure, from the space that it has.
    return {
        "data": [trace],
        "layout": {
            "margin": {"l": 90, "r": 20, "t": 10, "b": 60},
            "xaxis": _categories(across.name, xs),
            "yaxis": _categories(down.name, ys),
        },
    }


def _categories(name: str, values: Sequence[str]) -> Figure:
    """Return an axis with all values of a setting, measured or not."""
    return {
        "type": "category",
        "title": {"text": name},
        "categoryorder": "array",
        "categoryarray": list(values),
        "range": [-0.5, len(values) - 0.5],
        "showgrid": False,
    }


def _sorted(axis: Any) -> list[int]:
    """Return the levels of an axis in numeric order, if they are numbers or quantities."""
    places = list(range(len(axis.levels)))
    amounts = read_amounts({str(place): str(axis.value(place)) for place in places})
    if len(amounts) == len(places):
        places.sort(key=lambda place: amounts[str(place)] or 0.0)
    return places


def pareto_figure(rows: Sequence[CellRow], column: Column, columns: Sequence[Column]) -> Figure:
    """Return price against a figure, with the Pareto front as a trace of its own."""
    shown = [row for row in rows if row.figures]
    ends = [end for row in shown for end in (column.number(row), *(column.interval(row) or ()))]
    return {
        "data": [
            {
                "type": "scatter",
                "mode": "markers",
                "name": name,
                "meta": meta,
                "x": [row.price for row in listed],
                "y": [column.number(row) for row in listed],
                "customdata": [hover_text(row, columns) for row in listed],
                "hovertemplate": "%{customdata}<extra></extra>",
                "marker": {"size": size, "symbol": symbol},
                "cliponaxis": False,
                **_whiskers(listed, column),
            }
            for name, meta, size, symbol, listed in (
                ("Dominated", "request", 8, "circle-open", _measured(rows, front=False)),
                ("Pareto front", "deserved", 10, "diamond", _measured(rows, front=True)),
            )
        ],
        "layout": {
            "height": 320,
            "margin": {"l": 70, "r": 20, "t": 30, "b": 55},
            "legend": {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom"},
            "xaxis": {
                "title": {"text": "Price of the change"},
                "range": _from_zero([row.price for row in shown]),
            },
            "yaxis": {"title": {"text": column.heading}, "range": _from_zero(ends), "automargin": True},
        },
    }


def _from_zero(values: Sequence[float | None]) -> list[float]:
    """Return a range that contains zero and all values, with margins that keep markers off tick labels."""
    known = [0.0, *(value for value in values if value is not None and isfinite(value))]
    lowest, highest = min(known), max(known)
    if lowest == highest:
        highest = 1.0
    room = (highest - lowest) / 25
    return [lowest - room, highest + room]


def _whiskers(rows: Sequence[CellRow], column: Column) -> Figure:
    """Return the 95 % intervals of a figure as error bars; empty without seeds."""
    ends = [(column.number(row), column.interval(row)) for row in rows]
    if not any(interval for _, interval in ends):
        return {}
    above, below = (
        [abs(interval[side] - value) if interval and value is not None else 0.0 for value, interval in ends]
        for side in (1, 0)
    )
    return {"error_y": {"type": "data", "symmetric": False, "array": above, "arrayminus": below}}


def parallel_figure(space: Space, rows: Sequence[CellRow], columns: Sequence[Column]) -> Figure:
    """Return each cell as a line through its settings, price and figures; each axis shows its ends."""
    axes = [axis for axis in space.axes if len(axis.levels) > 1]
    names = [*(axis.name for axis in axes), "price", *(column.heading for column in columns)]
    shown = [*_measured(rows, front=True), *_measured(rows, front=False)][:LINES]
    tables: list[Sequence[float | None]] = [[float(_rank(axis, row)) for row in shown] for axis in axes]
    tables.append([row.price for row in shown])
    tables += [[column.number(row) for row in shown] for column in columns]
    heights = [_heights(values) for values in tables]
    texts = [[level(row.settings[axis.name]) for row in shown] for axis in axes]
    texts += [["" if value is None else brief(value) for value in values] for values in tables[len(axes) :]]
    return {
        "data": [
            {
                "type": "scatter",
                "mode": "lines+markers",
                "x": names,
                "y": [values[number] for values in heights],
                "meta": "deserved" if row.front else "request",
                "line": {"width": 2.5 if row.front else 1},
                "marker": {"size": 5},
                "opacity": 1 if row.front else 0.45,
                "text": hover_text(row, columns),
                "hovertemplate": "%{text}<extra></extra>",
                "showlegend": False,
                "connectgaps": True,
            }
            for number, row in reversed(list(enumerate(shown)))
        ]
        + [
            {
                "type": "scatter",
                "mode": "text",
                "meta": "end",
                "x": names,
                "y": [height] * len(names),
                "text": [_at(end, *axis) for axis in zip(heights, texts, strict=True)],
                "textposition": position,
                "hoverinfo": "skip",
                "showlegend": False,
                "cliponaxis": False,
            }
            for end, height, position in ((0.0, -0.03, "bottom center"), (1.0, 1.03, "top center"))
        ],
        "layout": {
            "height": 360,
            "margin": {"l": 70, "r": 70, "t": 10, "b": 80},
            "xaxis": {
                "type": "category",
                "automargin": True,
                "tickangle": 0,
                "tickvals": list(range(len(names))),
                "ticktext": [lines_of(name) for name in names],
            },
            "yaxis": {"tickvals": [0, 1], "showticklabels": False, "range": [-0.15, 1.15]},
        },
    }


def _rank(axis: Any, row: CellRow) -> int:
    order = [level(axis.value(place)) for place in _sorted(axis)]
    return order.index(level(row.settings[axis.name]))


def _heights(values: Sequence[float | None]) -> list[float | None]:
    known = [value for value in values if value is not None]
    least, most = min(known, default=0.0), max(known, default=0.0)
    return [None if value is None else (value - least) / ((most - least) or 1.0) for value in values]


def _at(end: float, heights: Sequence[float | None], texts: Sequence[str]) -> str:
    """Return the value at an end of an axis; empty at the upper end if all values are equal."""
    return next((escaped(text) for height, text in zip(heights, texts, strict=True) if height == end), "")


def _measured(rows: Sequence[CellRow], *, front: bool) -> list[CellRow]:
    return [row for row in rows if row.figures and row.front == front]
