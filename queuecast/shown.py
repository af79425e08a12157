"""Formats of answers: tables for people, JSON, YAML or CSV for programs, names for shells."""

import csv
import io
import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import jmespath
import yaml

from queuecast.problems import Refused, place_of

_ENDLESS = 9.2e18
_UNITS = {"cpu": "millicores", "memory": "bytes", "pods": "pods"}

FORMS = ("table", "wide", "json", "yaml", "csv", "name")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""Characters that start a formula in a spreadsheet; a quote before them makes it a text."""


@dataclass(frozen=True)
class Table:
    """A table; `empty` is printed without rows.

    Only `-o wide` and CSV have the last `wide` columns, and the rows with the numbers `folded`.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    title: str = ""
    empty: str = ""
    wide: int = 0
    folded: Collection[int] = ()

    def __str__(self) -> str:
        """Return aligned text without the wide columns and the folded rows.

        >>> print(Table(("QUEUE", "WEIGHT"), [("research", 4), ("ads", None)]))
        QUEUE     WEIGHT
        research  4
        ads       -
        >>> print(Table(("QUEUE",), [("research",), ("ads",)], folded={1}))
        QUEUE
        research
        1 further row: -o wide
        """
        return self.aligned(is_wide=False)

    def aligned(self, *, is_wide: bool) -> str:
        """Return aligned text, with all columns and rows if it is wide."""
        if not self.rows:
            return self.empty
        count, folded = (len(self.columns), ()) if is_wide else (len(self.columns) - self.wide, self.folded)
        head, *rows = self.cells()
        cells = [head, *(row for number, row in enumerate(rows) if number not in folded)]
        cells = [row[:count] for row in cells]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in cells]
        if folded:
            lines.append(f"{len(folded):,} further row{'' if len(folded) == 1 else 's'}: -o wide")
        return "\n".join([self.title, *lines] if self.title else lines)

    def cells(self) -> list[list[str]]:
        """Return the columns and the rows as texts."""
        return [list(self.columns), *([_cell(value) for value in row] for row in self.rows)]

    def csv(self) -> str:
        """Return all columns as CSV; unset values are empty cells.

        >>> print(Table(("QUEUE", "WEIGHT"), [("=research", 4), ("a,b", None)]).csv(), end="")
        QUEUE,WEIGHT
        '=research,4
        "a,b",
        """
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows([_csv_cell(value) for value in row] for row in self.rows)
        return text.getvalue()

    def names(self) -> str:
        """Return the names of the rows, a line each: the column NAME, else the first one.

        >>> print(Table(("ID", "NAME"), [(7, "plan")]).names(), end="")
        plan
        """
        at = self.columns.index("NAME") if "NAME" in self.columns else 0
        return "".join(f"{row[at]}\n" for row in self.rows)


@dataclass(frozen=True)
class Output:
    """The answer of a command: data for programs, text and tables for people, and its exit code.

    `notes` are what a run leaves out or assumes, for standard error.
    """

    data: Any
    parts: Sequence[Table | str] = field(default=())
    code: int = 0
    notes: Sequence[str] = ()

    def written(self, form: str, query: str = "") -> str:
        """Return the answer in a format; of its data only what a query selects."""
        if query:
            return _written(_selected(self.data, query), "lines" if form in ("table", "wide") else form)
        if form in ("json", "yaml"):
            return _written(self.data, form)
        if form in ("csv", "name"):
            return self._main(form).csv() if form == "csv" else self._main(form).names()
        return _paragraphs(self.parts, is_wide=form == "wide")

    def beside(self, form: str) -> str:
        """Return what the format leaves out and the user has to know: tables after the first one."""
        return _paragraphs(self.parts[1:], is_wide=False) if form in ("csv", "name") else ""

    def _main(self, form: str) -> Table:
        if self.parts and isinstance(self.parts[0], Table):
            return self.parts[0]
        raise Refused(f"This answer is not a table, which -o {form} needs; use -o json.", code="no_table")


def _paragraphs(parts: Sequence[Table | str], *, is_wide: bool) -> str:
    paragraphs = [
        text for part in parts if (text := part.aligned(is_wide=is_wide) if isinstance(part, Table) else part)
    ]
    return "\n\n".join(paragraphs).rstrip("\n") + "\n" if paragraphs else ""


def _selected(data: Any, query: str) -> Any:
    try:
        return jmespath.search(query, data)
    except jmespath.exceptions.JMESPathError as error:
        raise Refused(f"--query {query!r}: {str(error).splitlines()[0]}", code="query") from None


def _written(data: Any, form: str) -> str:
    """Return data in a format for programs; `lines` has plain values one per line, and other data as JSON.

    >>> print(_written(["a", 2, True], "lines"), end="")
    a
    2
    true
    """
    if form == "yaml":
        return yaml.safe_dump(data, sort_keys=False, allow_unicode=True)
    if form in ("csv", "name"):
        raise Refused(f"--query selects data, which -o {form} does not write; use json, yaml or table.")
    rows = data if isinstance(data, list) else [data]
    if form == "lines" and not any(isinstance(one, (dict, list)) for one in rows):
        texts = [one if isinstance(one, str) else json.dumps(one) for one in rows if one is not None]
        return "".join(f"{text}\n" for text in texts)
    return json.dumps(data, ensure_ascii=False, indent=2) + "\n"


@dataclass(frozen=True)
class Amounts:
    """Amounts of the scheduler in a cell: in cores and GiB for people, as quantities in CSV.

    `held` is from a server or the core.

    >>> print(Amounts({"cpu": {"value": 1500.0, "unlimited": False}, "memory": {"value": None}}))
    1.5 cores, unlimited memory
    >>> Amounts({"cpu": 8000, "memory": 34359738368, "nvidia.com/gpu": 2000, "pods": 5}).quantities()
    'cpu=8 memory=32Gi nvidia.com/gpu=2 pods=5'
    """

    held: Mapping[str, Any]

    def __str__(self) -> str:
        """Return the amounts as pages write them."""
        from scheduler_core.units import amount_texts  # loads the core

        values = {name: _number(value) for name, value in self.held.items()}
        return ", ".join(amount_texts(values, sorted(values)))

    def quantities(self) -> str:
        """Return the amounts as quantities by resource."""
        return " ".join(f"{name}={_quantity(name, _number(self.held[name]))}" for name in sorted(self.held))


def amounts(held: Mapping[str, Any] | None) -> Amounts | None:
    """Return amounts for a cell, None without any."""
    return Amounts(held) if held else None


def figures(held: Mapping[str, Any]) -> dict[str, Any]:
    """Return amounts of the core in the shape of the API, each with its unit.

    >>> figures({"cpu": 1500})
    {'cpu': {'value': 1500.0, 'unit': 'millicores', 'unlimited': False}}
    """
    return {
        name: {
            "value": None if value is None or value >= _ENDLESS else float(value),
            "unit": _UNITS.get(name, "milliunits"),
            "unlimited": value is None or value >= _ENDLESS,
        }
        for name, value in sorted(held.items())
    }


def percent(share: float | None) -> str:
    """Return a share as per cent."""
    return "-" if share is None else f"{share * 100:.1f} %"


def brief(*values: Any) -> list[Any]:
    """Return values for cells; for an object or a long text, whether it is set."""
    return ["present" if isinstance(value, Mapping) or "\n" in str(value) else value for value in values]


def problems(found: Iterable[Mapping[str, Any]]) -> Table:
    """Return the findings of import, lint or validation: place and fix."""
    rows = [[one["severity"], one["rule"], place_of(one), one["message"], one.get("fix")] for one in found]
    return Table(("SEVERITY", "RULE", "PLACE", "MESSAGE", "FIX"), rows)


def _number(value: Any) -> float:
    """Return an amount of the API or the core; infinity without a limit."""
    if isinstance(value, Mapping):
        value = value["value"]
    return math.inf if value is None or value >= _ENDLESS else float(value)


def _quantity(resource: str, value: float) -> str:
    if math.isinf(value):
        return "unlimited"
    if resource == "memory":
        for size, unit in ((2**40, "Ti"), (2**30, "Gi"), (2**20, "Mi"), (2**10, "Ki")):
            if value >= size:
                return f"{value / size:.4g}{unit}"
        return f"{value:g}"
    return f"{value if resource == 'pods' else value / 1000:.10g}"


def _cell(value: Any) -> str:
    if value is None or value == "":
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping | list | tuple):
        return json.dumps(value, ensure_ascii=False)
    return str(value)


def _csv_cell(value: Any) -> str:
    if isinstance(value, Amounts):
        return value.quantities()
    text = "" if value is None or value == "" else _cell(value)
    return f"'{text}" if isinstance(value, str) and text.startswith(_FORMULA) else text
