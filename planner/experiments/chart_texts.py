"""The texts of an experiment's charts, with escaped markup."""

from collections.abc import Mapping
from textwrap import wrap
from typing import Any

from planner.experiments.selectors.cells import CellRow

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


def hover_text(row: CellRow) -> str:
    """Return settings and figures of a cell as lines, for its tooltip."""
    parts: list[tuple[str, Any]] = [*row.settings.items(), ("price", f"{row.price:g}")]
    figures: Mapping[str, float | None] = row.figures
    parts += [(name, _figure_text(value, row.intervals.get(name))) for name, value in figures.items()]
    return "<br>".join(f"{escaped(name)}: {escaped(level(value))}" for name, value in parts)


def _figure_text(value: float | None, interval: Mapping[str, float | None] | None) -> str:
    if value is None:
        return "unlimited"
    return f"{value:,g}" + (f" ({interval['low']:,.5g} to {interval['high']:,.5g})" if interval else "")


def escaped(text: str) -> str:
    """Return a text with escaped markup, which Plotly would interpret."""
    return text.replace("&", "&amp;").replace("<", "&lt;")
