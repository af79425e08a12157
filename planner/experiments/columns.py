"""The figures of an experiment as columns of its page, each in a unit that suits its values."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from planner.experiments.selectors.cells import CellRow
from planning.experiments.figures import WAITS, Figure
from planning.units import named, scale_of

_COUNTED = {"evictions": "pods", "waiting_pods": "pods", "waiting_jobs": "jobs", "lost_hours": "pod-hours"}
_TIMES = ((3 * 3600.0, 3600.0, "h"), (180.0, 60.0, "min"), (0.0, 1.0, "s"))
"""The smallest wait for each unit, the unit's seconds, and its name."""


@dataclass(frozen=True)
class Column:
    """A figure as a column of the page: its heading with the unit, and the size of this unit."""

    name: str
    heading: str
    size: float

    def number(self, row: CellRow) -> float | None:
        """Return the figure of a cell in this unit; None if unlimited or without an outcome."""
        value = row.figures.get(self.name)
        return None if value is None else round(value / self.size, 6)

    def interval(self, row: CellRow) -> tuple[float, float] | None:
        """Return the 95 % interval of the figure in this unit; None without seeds."""
        ends = row.intervals.get(self.name) or {}
        low, high = ends.get("low"), ends.get("high")
        return None if low is None or high is None else (low / self.size, high / self.size)


def column_of(figure: Figure, rows: Sequence[CellRow], currency: str = "USD") -> Column:
    """Return the column of a figure."""
    name = str(figure)
    words = str(replace(figure, resource=named(figure.resource))).replace("_", " ")
    if figure.kind in WAITS:
        longest = max((row.figures.get(name) or 0.0 for row in rows), default=0.0)
        size, unit = next((size, unit) for least, size, unit in _TIMES if longest >= least)
        return Column(name, f"{words} ({unit})", size)
    if figure.kind == "cost":
        return Column(name, f"{words} ({currency})", 1)
    if figure.kind == "lost_hours":
        words = words.replace("lost hours", "lost run time")
    if figure.kind in _COUNTED:
        unit = _COUNTED[figure.kind]
        return Column(name, words if figure.kind.endswith(unit) else f"{words} ({unit})", 1)
    if figure.kind in ("share", "utilisation"):
        return Column(name, f"{words} (%)", 0.01)
    if figure.kind == "fairness":
        return Column(name, f"{words} (Jain's index, 0 to 1)", 1)
    largest = max((row.figures.get(name) or 0.0 for row in rows), default=0.0)
    scale = scale_of(figure.resource, largest)
    return Column(name, f"{words} ({scale.many})", scale.size)
