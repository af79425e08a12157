"""How is a table written as Parquet? A column has one type; what is not set is null."""

import io
import json
from collections.abc import Iterator
from itertools import islice
from math import inf
from typing import Any

from planner.api.columns import Cell, Rows, cells

_GROUP = 10_000
"""So many rows are held at once; they become a row group of the file."""
_INT64 = range(-(2**63), 2**63)
_NUMBERS = {"int64", "float64"}


def parquet(rows: Rows) -> bytes:
    """Return a table as a Parquet file; equal rows give equal bytes, without rows it has no columns.

    A column holds whole numbers (int64), numbers (float64), true and false (bool) or text (string), and text
    where it holds several of these. Nothing is said of a column that holds nothing: its type is null.
    """
    # Imported where a file is asked for: it takes 90 MB, which no other process should pay.
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
    """Return the type of each column that any row has, in their order."""
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
    """Return the type that holds what two types hold.

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
    """Return what stands in a cell of a column of this type, a number or a flag as text as in JSON.

    What came between the two readings of the rows, and is not of this type, is left out.
    """
    if cell is None or _common(kind, _type(cell)) != kind:
        return None
    if kind == "float64":
        return float(cell)
    if kind != "string" or isinstance(cell, str):
        return cell
    return "unlimited" if cell == inf else json.dumps(cell)
