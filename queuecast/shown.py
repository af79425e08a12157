"""How is an answer written: as tables for people, as JSON or YAML for programs?"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

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
        cells = [
            list(self.columns),
            *([_cell(value) for value in row] for row in self.rows),
        ]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in cells]
        return "\n".join([self.title, *lines] if self.title else lines)


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


def percent(share: float | None) -> str:
    """Return a share as per cent."""
    return "-" if share is None else f"{share * 100:.1f} %"


def problems(found: Iterable[Mapping[str, Any]]) -> Table:
    """Return what import, lint or validation found."""
    facts = ("severity", "rule", "path", "line", "message")
    return Table([fact.upper() for fact in facts], [[one.get(fact) for fact in facts] for one in found])


def _quantity(resource: str, value: Any) -> str:
    if isinstance(value, Mapping):
        value = value["value"]
    if value is None or value >= 9.2e18:
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
