"""How is an answer written: as tables for people, as JSON or YAML for programs?"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

from queuecast.problems import place_of

_ENDLESS = 9.2e18
_UNITS = {"cpu": "millicores", "memory": "bytes", "pods": "pods"}

FORMS = ("table", "json", "yaml")


@dataclass(frozen=True)
class Table:
    """Rows under columns; `empty` is said when there are none."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    title: str = ""
    empty: str = ""

    def __str__(self) -> str:
        """Return aligned text.

        >>> print(Table(("QUEUE", "WEIGHT"), [("research", 4), ("ads", None)]))
        QUEUE     WEIGHT
        research  4
        ads       -
        """
        if not self.rows:
            return self.empty
        cells = self.cells()
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in cells]
        return "\n".join([self.title, *lines] if self.title else lines)

    def cells(self) -> list[list[str]]:
        """Return the columns and the rows as texts."""
        return [list(self.columns), *([_cell(value) for value in row] for row in self.rows)]


@dataclass(frozen=True)
class Told:
    """What a command answers: the data for programs, text and tables for people, and its exit code.

    `notes` are what a run leaves out or assumes, for standard error.
    """

    data: Any
    parts: Sequence[Table | str] = field(default=())
    code: int = 0
    notes: Sequence[str] = ()

    def written(self, form: str) -> str:
        """Return the answer in a form."""
        if form == "json":
            return json.dumps(self.data, ensure_ascii=False, indent=2) + "\n"
        if form == "yaml":
            return yaml.safe_dump(self.data, sort_keys=False, allow_unicode=True)
        said = [text for part in self.parts if (text := str(part))]
        return "\n\n".join(said).rstrip("\n") + "\n" if said else ""


def amounts(held: Mapping[str, Any] | None) -> str:
    """Return amounts of the scheduler as quantities, ``cpu=8 memory=32Gi``; of a server or of the core.

    >>> amounts({"cpu": {"value": 1500.0, "unlimited": False}, "memory": {"value": None, "unlimited": True}})
    'cpu=1.5 memory=unlimited'
    >>> amounts({"cpu": 8000, "memory": 34359738368, "nvidia.com/gpu": 2000, "pods": 5})
    'cpu=8 memory=32Gi nvidia.com/gpu=2 pods=5'
    """
    return " ".join(f"{name}={_quantity(name, value)}" for name, value in sorted((held or {}).items()))


def figures(held: Mapping[str, Any]) -> dict[str, Any]:
    """Return amounts of the core as a server answers them, each with its unit.

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
    """Return values for cells; a whole object, or a text of many lines, is only there or not."""
    return ["present" if isinstance(value, Mapping) or "\n" in str(value) else value for value in values]


def problems(found: Iterable[Mapping[str, Any]]) -> Table:
    """Return what import, lint or validation found: where, and how it is fixed."""
    rows = [[one["severity"], one["rule"], place_of(one), one["message"], one.get("fix")] for one in found]
    return Table(("SEVERITY", "RULE", "PLACE", "MESSAGE", "FIX"), rows)


def _quantity(resource: str, value: Any) -> str:
    if isinstance(value, Mapping):
        value = value["value"]
    if value is None or value >= _ENDLESS:
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
