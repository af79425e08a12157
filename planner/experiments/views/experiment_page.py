"""The data of an experiment's page; each part is computed when the template uses it."""

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any

from django.http import QueryDict

from planner.experiments import charts
from planner.experiments.chart_texts import level
from planner.experiments.columns import Column, column_of
from planner.experiments.models import Experiment
from planner.experiments.selectors.cells import CellRow, Cells
from planner.experiments.selectors.experiments import Progress
from planner.web.views.listing import Listing
from planning.experiments.search import remark, why_none, why_smallest
from planning.experiments.verification import sentence


class ExperimentPage:
    """The parts of an experiment's page, given the filters in its address: the charted figure, lists."""

    def __init__(self, experiment: Experiment, params: QueryDict) -> None:
        self.experiment, self.params = experiment, params
        self.cells = Cells(experiment)

    @cached_property
    def progress(self) -> Progress:
        """The progress of the experiment."""
        return self.cells.progress

    @property
    def seen(self) -> str:
        """The state that a poll sends back, to find out whether anything changed."""
        progress = self.progress
        return f"{self.experiment.state}-{progress.measured}-{progress.workers}-{progress.verifies}"

    @property
    def rows(self) -> list[CellRow]:
        """The known cells."""
        return self.cells.rows

    @cached_property
    def columns(self) -> list[Column]:
        """The figures, each with its unit."""
        currency = (self.experiment.written.get("forecast") or {}).get("prices", {}).get("currency", "USD")
        return [column_of(figure, self.rows, currency) for figure in self.cells.figures]

    @property
    def column(self) -> Column:
        """The charted figure: the requested one, otherwise the first."""
        wanted = self.params.get("figure", "")
        return next((column for column in self.columns if column.name == wanted), self.columns[0])

    @cached_property
    def settings(self) -> list[tuple[str, bool]]:
        """The name of each setting, and whether its values are numbers or quantities."""
        return [(axis.name, charts.is_numeric(axis)) for axis in self.cells.space.axes]

    @cached_property
    def table(self) -> Listing:
        """The cells: those of the front first, then by price."""
        ordered = sorted(self.rows, key=lambda row: (not row.front, row.price, row.number))
        return Listing([self.shown(row) for row in ordered], name="cells", params=self.params)

    def shown(self, row: CellRow) -> dict[str, Any]:
        """Return a cell with its texts in the order of the columns."""
        return {
            "row": row,
            "settings": [(level(row.settings[name]), is_number) for name, is_number in self.settings],
            "figures": [(column.number(row), column.interval(row)) for column in self.columns],
        }

    @property
    def verdict(self) -> dict[str, Any]:
        """The result of a search, with its cell as in the table."""
        row, kept = self.cells.verdict_row(), self.experiment.verdict.get("verification")
        return {
            **self.experiment.verdict,
            "shown": [] if row is None else [self.shown(row)],
            "verified": None if kept is None else sentence(kept),
            "fails": kept is not None and not kept["holds"],
            "title": self._verdict_title(kept),
            "unseen": [] if kept is None else self._unseen(kept),
            "lacking": list(self._lacking()),
            "done": "tried" if self.experiment.verdict.get("failed") else self.measured_as,
            "why_none": self._why(why_none),
            "remark": self._remark(),
            "why_smallest": self._why(why_smallest),
        }

    def _why(self, sentence_of: Callable[..., str]) -> str:
        verdict = self.experiment.verdict
        return sentence_of(verdict, is_of_forecasts=self.experiment.is_of_forecasts) if verdict else ""

    def _remark(self) -> str:
        verdict = self.experiment.verdict
        return remark(verdict, self.experiment.written) if verdict else ""

    def _lacking(self) -> Iterator[tuple[str, float]]:
        """Yield each goal that the verdict's cell misses, and by how much, both in the unit of its column."""
        goals = {str(goal): goal for goal in self.cells.definition.goals}
        columns = {column.name: column for column in self.columns}
        for missed in self.experiment.verdict.get("missed") or ():
            goal = goals.get(missed["goal"])
            if goal is None:
                # An earlier release worded its goals differently.
                yield missed["goal"], missed["by"]
                continue
            column = columns[str(goal.figure)]
            ends = (("at most", goal.most), ("at least", goal.least))
            words = [f"{word} {end / column.size:,.12g}" for word, end in ends if end is not None]
            yield f"{column.heading} {' and '.join(words)}", missed["by"] / column.size

    def _verdict_title(self, kept: Mapping[str, Any] | None) -> str:
        """Return the title of the verdict's cell."""
        if self.experiment.verdict.get("status") != "found":
            return "Combination that comes closest"
        return "Proposed change" if kept is None or kept["holds"] else "Change that does not hold"

    def _unseen(self, kept: Mapping[str, Any]) -> list[tuple[Column, Any, Any]]:
        """Return each figure of a proposal under unseen workloads, with its interval."""
        row = CellRow(0, {}, 0.0, kept["figures"], False, "", "", kept["intervals"])
        return [(column, column.number(row), column.interval(row)) for column in self.columns if row.figures]

    @property
    def measured_as(self) -> str:
        """The verb for what was done with each combination."""
        return "forecast" if self.experiment.is_of_forecasts else "simulated"

    @property
    def then(self) -> str:
        """What can be started for a cell once it is a scenario."""
        return "forecast" if self.experiment.is_of_forecasts else "run"

    @property
    def best(self) -> list[dict[str, Any]]:
        """The cells of the front of a sweep, cheapest first: at most five."""
        front = sorted((row for row in self.rows if row.front), key=lambda row: (row.price, row.number))
        return [self.shown(row) for row in front[:5]]

    @cached_property
    def figures(self) -> dict[str, Any]:
        """The figures, by their place on the page."""
        heat = charts.heat_figure(self.cells.space, self.rows, self.column, self.columns)
        return {
            **({} if heat is None else {"heat": heat}),
            "pareto": charts.pareto_figure(self.rows, self.column, self.columns),
            "parallel": charts.parallel_figure(self.cells.space, self.rows, self.columns),
        }
