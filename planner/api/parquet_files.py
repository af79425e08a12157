"""Parquet tables; a column has one type, and values that are not set are null."""

import io
import json
from collections.abc import Iterator
from itertools import islice
from math import inf
from typing import Any

from planner.api.columns import Cell, Rows, cells

_GROUP = 10_000
"""How many rows are in memory at once; they become a row group of the file."""
_INT64 = range(-(2**63), 2**63)
_NUMBERS = {"int64", "float64"}


def parquet(rows: Rows) -> bytes:
    """Return a table as a Parquet file; equal rows give equal bytes, without rows it has no columns.

    A column has whole numbers (int64), numbers (float64), booleans (bool) or text (string), and text if types
    are mixed. An empty column has the type null.
    """
    # Imported on demand: it takes 90 MB, which no other process should spend.
    import pyarrow
    from pyarrow.parquet import ParquetWriter

    types = _types(rows)
    schema = pyarrow.schema([(name, pyarrow.type_for_alias(kind)) for name, kind in types.items()])
    written = io.BytesIO()
    with ParquetWriter(written, schema) as writer:
        for group in _groups(rows, types):
            writer.write_table(pyarrow.table(group, schema=schema))
    return written.getvalue()


def _types(rows: Rows) -> dict[str, str]:
    """Return the type of each column that any row has, in order."""
    types: dict[str, str] = {}
    for row in rows():
        for name, cell in cells(row):
            types[name] = _common(types.get(name, "null"), _type(cell))
    return types


def _type(cell: Cell) -> str:
    if cell is None:
        return "null"
    if isinstance(cell, bool):
        return "bool"
    if isinstance(cell, float):
        return "float64"
    return "int64" if isinstance(cell, int) and cell in _INT64 else "string"


def _common(one: str, other: str) -> str:
    """Return the type that can hold both types.

    >>> _common("null", "bool"), _common("int64", "float64"), _common("int64", "bool")
    ('bool', 'float64', 'string')
    """
    known = {one, other} - {"null"}
    if len(known) < 2:
        return max(known, default="null")
    return "float64" if known == _NUMBERS else "string"


def _groups(rows: Rows, types: dict[str, str]) -> Iterator[dict[str, list[Any]]]:
    """Yield the columns of the next rows."""
    known = (dict(cells(row)) for row in rows())
    while group := list(islice(known, _GROUP)):
        yield {name: [_as(kind, row.get(name)) for row in group] for name, kind in types.items()}


def _as(kind: str, cell: Cell) -> Any:
    """Return the value of a cell in a column of this type; in text columns numbers and booleans as in JSON.

    A value that appeared between the two readings of the rows, and is of another type, is left out.
    """
    if cell is None or _common(kind, _type(cell)) != kind:
        return None
    if kind == "float64":
        return float(cell)
    if kind != "string" or isinstance(cell, str):
        return cell
    return "unlimited" if cell == inf else json.dumps(cell)
