"""The texts of an experiment's charts, with escaped markup."""

from collections.abc import Sequence
from textwrap import wrap
from typing import Any

from planner.experiments.columns import Column
from planner.experiments.selectors.cells import CellRow
from planning.units import written

LETTERS = 18
"""How many letters of a name fit on a line below its axis."""
SET, UNSET = "set", "not set"


def level(value: Any) -> str:
    """Return the value of a setting as a text."""
    return UNSET if value is None else str(value)


def lines_of(name: str) -> str:
    """Return a name in lines of an axis that break after the dots of a setting rather than within its words.

    >>> lines_of("burstable-single.deserved.cpu"), lines_of("wait_p95 of R&D (min)")
    ('burstable-single.<br>deserved.cpu', 'wait_p95 of R&amp;D<br>(min)')
    """
    lines = wrap(name.replace(".", ". "), LETTERS)
    return "<br>".join(escaped(line.replace(". ", ".")) for line in lines)


def hover_text(row: CellRow, columns: Sequence[Column]) -> str:
    """Return settings and figures of a cell as lines, for its tooltip."""
    parts: list[tuple[str, Any]] = [*row.settings.items(), ("price", brief(row.price))]
    parts += [(column.heading, _figure_text(column, row)) for column in columns]
    return "<br>".join(f"{escaped(name)}: {escaped(level(value))}" for name, value in parts)


def _figure_text(column: Column, row: CellRow) -> str:
    value, interval = column.number(row), column.interval(row)
    if value is None:
        return "unlimited"
    return written(value) + (f" ({written(interval[0])} to {written(interval[1])})" if interval else "")


def brief(value: float) -> str:
    """Return a number with four digits, or all before the decimal point.

    >>> brief(15331.4), brief(118.5592), brief(0.25), brief(0)
    ('15,331', '118.6', '0.25', '0')
    """
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}" if abs(value) >= 0.1 else written(value)


def escaped(text: str) -> str:
    """Return a text with escaped markup, which Plotly would interpret."""
    return text.replace("&", "&amp;").replace("<", "&lt;")
