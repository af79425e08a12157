"""What differs between these runs?"""

from collections.abc import Sequence
from difflib import unified_diff
from functools import cached_property
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_GET

from planner.runs.charts import compared_amounts_figure, compared_share_figure
from planner.runs.models import Run
from planner.runs.selectors.comparisons import (
    Comparison,
    Head,
    JobFigures,
    Line,
    NotComparable,
    Placement,
    VictimFigures,
    asked_runs,
    compared_runs,
    shown_queues,
)
from planner.runs.selectors.figures import most_contested, resources
from planner.runs.selectors.settings import Difference, settings_that_differ
from planner.web.templatetags.quantities import resource_order
from planner.web.views.pages import caller, page_or_part
from planning.rows import QueueFigures

LETTERS = "ABCDEF"
SHOWN = 100
"""A list ends here; the API has all of it."""


@login_required
@require_GET
def compare(request: HttpRequest) -> HttpResponse:
    """Show runs side by side; the address is permanent."""
    try:
        asked = asked_runs(request.GET.getlist("runs"))
    except NotComparable as error:
        return page_or_part(request, "runs/compare_none.html", {}, {"why": str(error)}, status=422)
    if len(request.GET.getlist("runs")) > 1:
        return redirect(f"{reverse('planner:compare')}?runs={','.join(map(str, asked))}")
    runs = compared_runs(caller(request), asked)
    if len(runs) < len(asked):
        raise Http404
    page = ComparePage(runs, request.GET)
    return page_or_part(
        request, "runs/compare.html", {"queues": "runs/_compared_queues.html"}, {"page": page}
    )


class ComparePage:
    """The parts of the page under the switches and filters of its address."""

    measures = ("deserved", "allocated", "request", "guarantee", "capability")

    def __init__(self, runs: list[Run], asked: QueryDict) -> None:
        self.comparison = Comparison(runs)
        self.runs = runs
        self.letters = LETTERS[: len(runs)]
        self.asked = asked
        self.containing = asked.get("queue", "").strip()
        self.everything = asked.get("show") == "all"

    @property
    def unfinished(self) -> list[Run]:
        """The runs that have no outcome."""
        return [run for run in self.runs if run.state != Run.State.SUCCEEDED]

    @property
    def has_notes(self) -> bool:
        """Does any run leave something out, or assume something?"""
        return any(run.notes for run in self.runs)

    @cached_property
    def heads(self) -> list[tuple[str, Head]]:
        """Each run under its letter."""
        return list(zip(self.letters, self.comparison.heads, strict=True))

    @cached_property
    def _figures(self) -> list[QueueFigures]:
        return [held for line in self.comparison.queues.rows for held in line.held if held]

    @cached_property
    def resources(self) -> list[str]:
        """The resources to switch between."""
        return resource_order(resources(self._figures)) or ["cpu"]

    @property
    def resource(self) -> str:
        """The resource that is shown."""
        asked = self.asked.get("resource", "")
        return asked if asked in self.resources else most_contested(self._figures, self.resources)

    @cached_property
    def queues(self) -> list[Line[QueueFigures]]:
        """The queues that charts and table show."""
        return shown_queues(self.comparison.queues, containing=self.containing, everything=self.everything)

    @property
    def amounts_figure(self) -> dict[str, Any]:
        """Deserved, allocated, request, guarantee and capability of each queue, run beside run."""
        return compared_amounts_figure(self._rows, self.resource, self._names)

    @property
    def share_figure(self) -> dict[str, Any]:
        """The share of each queue, run beside run."""
        return compared_share_figure(self._rows, self._names)

    @property
    def _names(self) -> list[str]:
        return [line.name for line in self.queues]

    @property
    def _rows(self) -> dict[str, list[QueueFigures]]:
        held = (
            zip(*(line.held for line in self.queues), strict=True) if self.queues else [()] * len(self.runs)
        )
        return {
            letter: [figures for figures in column if figures]
            for letter, column in zip(self.letters, held, strict=True)
        }

    @cached_property
    def _differences(self) -> list[Difference]:
        return settings_that_differ(self.runs)

    @cached_property
    def settings(self) -> list[Difference]:
        """What the runs were given and do not have in common, without the text of the configuration."""
        return [found for found in self._differences if found.kind != "scheduler_conf"]

    @property
    def settings_shown(self) -> Sequence[Difference]:
        """As many settings as a page holds."""
        return self.settings[:SHOWN]

    @property
    def victims_shown(self) -> Sequence[Line[VictimFigures]]:
        """As many victims as a page holds."""
        return self.comparison.victims.rows[:SHOWN]

    @property
    def jobs_shown(self) -> Sequence[Line[JobFigures]]:
        """As many of the jobs that come off differently as a page holds."""
        return self.comparison.jobs.differing[:SHOWN]

    @property
    def placements_shown(self) -> Sequence[Line[Placement]]:
        """As many of the pods that are put elsewhere as a page holds."""
        return self.comparison.placements.differing[:SHOWN]

    @cached_property
    def conf_changes(self) -> dict[str, list[str]]:
        """The lines in which the configuration of a run differs from that of the first, by letter."""
        texts = [found.values for found in self._differences if found.kind == "scheduler_conf"]
        if not texts:
            return {}
        first, *others = ((text or "# Volcano's default") for text in texts[0])
        changed = {
            letter: list(unified_diff(first.splitlines(), text.splitlines(), "A", letter, lineterm="", n=2))
            for letter, text in zip(self.letters[1:], others, strict=True)
        }
        return {letter: lines[2:] for letter, lines in changed.items() if lines}
