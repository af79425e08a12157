"""The columns of a table made of API rows."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from math import inf
from typing import Any

UNITS = {
    "share": "ratio", "share_at_open": "ratio", "progress": "ratio", "work_lost": "pod-seconds",
    "ran_seconds": "s", "pods": "pods", "pending": "pods", "running": "pods", "replicas": "pods",
    "bound": "pods", "pipelined": "pods", "work_lost_seconds": "pod-seconds",
}  # fmt: skip
"""The units of plain numbers, by the last part of their name; amounts have their own."""
_AMOUNT = {"value", "unit", "unlimited"}
_RUN_BY_RUN = ("runs", "values", "deltas")
"""Lists that become columns, one per run in the requested order; other lists are JSON in one cell."""

Row = Mapping[str, Any]
Rows = Callable[[], Iterable[Row]]
"""Called twice: for the columns that any row has, then for the cells."""
Cell = str | int | float | bool | None
"""None: not set; infinity: an unlimited amount."""


def cells(row: Any, path: str = "") -> Iterator[tuple[str, Cell]]:
    """Yield the columns of a row, with units in their names, and the cells.

    >>> cpu = {"value": 1000.0, "unit": "millicores", "unlimited": False}
    >>> list(cells({"name": "a", "share": 0.5, "deserved": {"cpu": cpu}, "reasons": ["b"]}))
    [('name', 'a'), ('share (ratio)', 0.5), ('deserved.cpu (millicores)', 1000.0), ('reasons', '["b"]')]
    >>> list(cells({"pipelined": True})), list(cells({"pipelined": 2}))
    ([('pipelined', True)], [('pipelined (pods)', 2)])
    """
    if isinstance(row, Mapping):
        if row.keys() == _AMOUNT:
            yield f"{path} ({row['unit']})", inf if row["unlimited"] else row["value"]
            return
        for name, inner in row.items():
            yield from cells(inner, f"{path}.{name}".lstrip("."))
    elif isinstance(row, list) and path in _RUN_BY_RUN:
        for number, inner in enumerate(row, start=1):
            if inner is not None:
                yield from cells(inner, f"{path}[{number}]")
    else:
        last = path.rpartition(".")[2]
        is_counted = last in UNITS and not isinstance(row, bool)
        yield (f"{path} ({UNITS[last]})" if is_counted else path), _cell(row)


def _cell(value: Any) -> Cell:
    if value is None or isinstance(value, int | float):
        return value
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list) else str(value)
