"""Verification of a search's proposal under workloads that the search did not use."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from planning.experiments.cells import Cell, intervals_written
from planning.experiments.figure_texts import figure_text, goal_text
from planning.experiments.figures import Figure, Goal
from planning.experiments.search import Missed, left_open, missed_goals
from scheduler_core.explain.wording import agreed
from traces.text import counted


@dataclass(frozen=True)
class Verification:
    """The outcome of a proposal under seeds that no cell was measured on.

    Attributes
    ----------
    seeds : int
        The number of these seeds.
    reached : int
        The number of seeds under which, each alone, every goal is reached and none is open.
    cell : Cell
        The proposal over these seeds.
    missed : tuple of Missed
        The goals that the means of its figures miss.
    open : str
        The goal that is open because jobs had not started by the end; empty: none.

    """

    seeds: int
    reached: int
    cell: Cell
    missed: tuple[Missed, ...]
    open: str

    @property
    def holds(self) -> bool:
        """Return whether the means reach every goal, whatever happens to jobs that had not started."""
        return not (self.cell.error or self.missed or self.open)

    def to_keep(self, figures: Sequence[Figure]) -> dict[str, Any]:
        """Return it as JSON data, figures by name; infinite values are null."""
        cell = self.cell
        names = [str(figure) for figure in figures]
        return {
            "holds": self.holds,
            "seeds": self.seeds,
            "reached": self.reached,
            "figures": dict(zip(names, map(_finite, cell.figures), strict=False)),
            "intervals": intervals_written(cell, figures),
            "missed": [{"goal": str(one.goal), "by": one.by} for one in self.missed],
            "open": self.open,
            "error": cell.error,
        }


def verified(cell: Cell, goals: Sequence[Goal], figures: Sequence[Figure], seeds: int) -> Verification:
    """Return whether a cell over this many unseen seeds reaches the goals.

    The search requires the whole interval of the mean to reach them; here the mean itself is enough.
    """
    if cell.error:
        return Verification(seeds, 0, cell, (), "")
    pairs = zip(cell.over, cell.highest_over or cell.over, strict=True)
    each = [replace(cell, figures=one, over=(), highest=most) for one, most in pairs]
    return Verification(
        seeds=seeds,
        reached=sum(
            not missed_goals(one, goals, figures) and not left_open(one, goals, figures) for one in each
        ),
        cell=cell,
        missed=missed_goals(replace(cell, over=()), goals, figures),
        open=left_open(cell, goals, figures),
    )


def not_verified(error: str, seeds: int) -> dict[str, Any]:
    """Return the stored form of a proposal that could not be measured under unseen seeds."""
    return Verification(seeds, 0, Cell((), 0.0, (), error), (), "").to_keep(())


def sentence(kept: Mapping[str, Any]) -> str:
    """Return a stored verification in words."""
    if kept["error"]:
        return f"Not verified: {kept['error']}"
    unseen = f"{counted(kept['seeds'], 'workload')} that the search did not see"
    reached = kept["reached"]
    alone = f"{reached} of them {agreed(reached, 'reaches', 'reach')} every goal individually."
    if kept["holds"]:
        return f"Verified: the means over {unseen} reach every goal; {alone}"
    missed = [
        f"{goal_text(one['goal'])} is missed by {figure_text(one['goal'], one['by'])}"
        for one in kept["missed"]
    ]
    why = "; ".join([*missed, *filter(None, [kept["open"]])])
    return f"The proposal does not hold: over {unseen}, {why}; {alone}"


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
