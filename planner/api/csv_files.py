"""CSV tables, safe against formulas in spreadsheets."""

import csv
import io
from collections.abc import Iterable, Iterator
from math import inf
from typing import Any

from planner.api.columns import Cell, Rows, cells

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""Characters that start a formula in a spreadsheet; a quote before them makes it a text."""


def lines(rows: Rows) -> Iterator[str]:
    r"""Yield the lines of a table while its rows are read; without rows there are none.

    >>> list(lines(lambda: [{"name": "=1", "share": 0.5, "is_open": True, "parent": None}]))
    ['name,share (ratio),is_open,parent\r\n', "'=1,0.5,true,\r\n"]
    """
    columns: dict[str, None] = {}
    for row in rows():
        columns.update(dict.fromkeys(name for name, _ in cells(row)))
    if not columns:
        return
    written = io.StringIO(newline="")
    writer = csv.writer(written)
    for line in _lines(rows, columns):
        writer.writerow(line)
        yield written.getvalue()
        written.seek(0)
        written.truncate()


def _lines(rows: Rows, columns: Iterable[str]) -> Iterator[list[Any]]:
    yield [_safe(name) for name in columns]
    for row in rows():
        known = dict(cells(row))
        yield [_written(known.get(name)) for name in columns]


def _written(cell: Cell) -> Any:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, str):
        return _safe(cell)
    return "unlimited" if cell == inf else cell


def _safe(text: str) -> str:
    """Return a text that no spreadsheet evaluates."""
    return f"'{text}" if text.startswith(_FORMULA) else text
