"""Settings of a forecast's workload: its factors, and the seed that draws it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from planning.experiments.levels import Json, Setting
from planning.experiments.values import Refusal

WORK: Mapping[str, Any] = {"rate": 1.0, "size": 1.0, "run_time": 1.0, "seed": None}
"""The options that may vary, each with its default; without a seed the trace itself is used."""


@dataclass(frozen=True)
class WorkSetting(Setting):
    """Jobs, pods of a job or run times for each one of the trace, or the seed that draws the work.

    Attributes
    ----------
    option : str
        A key of `WORK`.
    now : float or None
        The value in the experiment's forecast.

    """

    option: str
    now: float | None

    def present(self, document: Json) -> Any:
        """Return the value in the experiment's forecast; a whole factor as people write it, 1."""
        return int(self.now) if self.now is not None and float(self.now).is_integer() else self.now

    def refusal(self, document: Json, value: Any) -> Refusal | None:
        """Return why the work cannot be drawn with a value."""
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if self.option == "seed" and not (isinstance(value, int) and is_number and value >= 0):
            return f"{value!r} is not a seed", "write whole numbers from 0 on"
        if not is_number or (self.option != "seed" and not 0.0001 <= value <= 1e6):
            return f"{value!r} is not a factor", "write numbers from 0.0001 to 1000000"
        return None

    def options(self, value: Any) -> Json:
        """Return the option with this value."""
        return {self.option: value}

    @property
    def is_circumstance(self) -> bool:
        """Return True: no goal can be reached by choosing the workload."""
        return True
