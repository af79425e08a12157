"""The page that compares runs."""

from collections.abc import Sequence
from difflib import unified_diff
from functools import cached_property
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from planner.runs.charts import compared_amounts_figure, compared_share_figure
from planner.runs.models import Run
from planner.runs.selectors.comparison_rows import Head, Line
from planner.runs.selectors.comparisons import (
    TOP,
    Comparison,
    NotComparable,
    baseline_first,
    compared_runs,
    run_ids,
    shown_queues,
)
from planner.runs.selectors.figures import largest_amount, most_contested, resources
from planner.runs.selectors.runs import run_of_present
from planner.runs.selectors.settings import settings_that_differ
from planner.runs.services.runs import run_create
from planner.scenarios.selectors.scenarios import scenarios
from planner.web.templatetags.quantities import resource_order
from planner.web.views.pages import caller, fragment_requested, page_or_part
from planning.rows import QueueFigures
from planning.run_settings import Difference
from planning.units import Scale, scale_of

LETTERS = "ABCDEF"
PARTS = {"queues": "runs/_compared_queues.html", "settings": "runs/_compared_settings.html"}
AT_ONCE_BYTES = 2_000_000
"""Larger inputs are compared after the page was sent."""


@require_GET
def compare(request: HttpRequest) -> HttpResponse:
    """Show runs side by side; the address is permanent."""
    try:
        ids = run_ids(request.GET.getlist("runs"))
    except NotComparable as error:
        return page_or_part(request, "runs/compare_none.html", {}, {"why": str(error)}, status=422)
    runs = compared_runs(caller(request), ids)
    if len(runs) < len(ids):
        raise Http404
    if len(request.GET.getlist("runs")) > 1:
        return redirect(_address(baseline_first(runs)))
    is_part = fragment_requested(request) == "settings" or "settings" in request.GET
    page = ComparePage(runs, request.GET, settings_requested=is_part)
    return page_or_part(request, "runs/compare.html", PARTS, {"page": page})


@require_POST
def with_parent(request: HttpRequest, scenario_id: UUID) -> HttpResponse:
    """Compare the newest runs of a scenario and its parent; start a run where there is none."""
    user = caller(request)
    scenario = get_object_or_404(scenarios(user), pk=scenario_id)
    if scenario.parent_id is None:
        raise Http404
    parent = get_object_or_404(scenarios(user), pk=scenario.parent_id)
    runs = [run_of_present(one) or run_create(scenario=one, user=user) for one in (parent, scenario)]
    return redirect(_address(runs))


def _address(runs: Sequence[Run]) -> str:
    """Return the permanent address of a comparison, baseline first."""
    return f"{reverse('planner:compare')}?runs={','.join(str(run.pk) for run in runs)}"


class ComparePage:
    """The parts of the page, given the filters in its address."""

    growing = ("deserved", "allocated", "request")
    """The measures that are shown with their difference."""
    top = TOP
    """How many queues are shown unless all are requested."""
    first = ":100"
    """The longest list on the page, for the filter `slice`; the API has all of it."""

    def __init__(self, runs: list[Run], params: QueryDict, *, settings_requested: bool = False) -> None:
        self._settings_requested = settings_requested
        self.comparison = Comparison(runs)
        self.runs = runs
        self.letters = LETTERS[: len(runs)]
        self.params = params
        self.containing = params.get("queue", "").strip()
        self.everything = params.get("show") == "all"

    @property
    def anyway(self) -> bool:
        """Whether all differences of unrelated runs are requested."""
        return "anyway" in self.params

    @property
    def reads_later(self) -> bool:
        """Whether the inputs are so large that the page requests their differences after loading."""
        different = {run.input_id: run.input.size for run in self.runs}
        is_large = len(different) > 1 and sum(different.values()) > AT_ONCE_BYTES
        return is_large and not self._settings_requested

    @property
    def is_short(self) -> bool:
        """Whether the runs belong to different clusters and their differences are not requested."""
        return not self.unfinished and not self.comparison.related and not self.anyway

    @property
    def address(self) -> str:
        """The permanent address of the comparison."""
        return _address(self.runs)

    @property
    def width_with_delta(self) -> int:
        """The number of columns of a measure: one per run, and one for each difference from the first run."""
        return 2 * len(self.runs) - 1

    @property
    def is_under_way(self) -> bool:
        """Whether a run is queued or running."""
        return any(not run.is_over for run in self.runs)

    @cached_property
    def titles(self) -> list[str]:
        """The letter of each run, and its name or that of its scenario."""
        names = [run.name or run.scenario.name for run in self.runs]
        same = len(set(names)) < len(names)
        return [
            f"{letter}: {name}" + (f", {run.created:%-d %b %H:%M}" if same and not run.name else "")
            for letter, name, run in zip(self.letters, names, self.runs, strict=True)
        ]

    @property
    def columns(self) -> list[tuple[str, str, str]]:
        """The letter and title of each run, with the address that makes it the baseline."""
        return [
            (letter, title, _address([run, *(other for other in self.runs if other != run)]))
            for letter, title, run in zip(self.letters, self.titles, self.runs, strict=True)
        ]

    @property
    def unfinished(self) -> list[Run]:
        """The runs without an outcome."""
        return [run for run in self.runs if run.state != Run.State.SUCCEEDED]

    @property
    def has_notes(self) -> bool:
        """Whether a run does not model something or assumes something."""
        return any(run.notes for run in self.runs)

    @cached_property
    def heads(self) -> list[tuple[str, Head]]:
        """Each run's totals with its letter."""
        return list(zip(self.letters, self.comparison.heads, strict=True))

    @cached_property
    def _figures(self) -> list[QueueFigures]:
        return [held for line in self.comparison.queues.rows for held in line.held if held]

    @cached_property
    def resources(self) -> list[str]:
        """The resources to switch between."""
        return resource_order(resources(self._figures)) or ["cpu"]

    @cached_property
    def resource(self) -> str:
        """The selected resource."""
        wanted = self.params.get("resource", "")
        return wanted if wanted in self.resources else most_contested(self._figures, self.resources)

    @cached_property
    def limits(self) -> list[str]:
        """The limits that some queue in the table has; a guarantee of 0 is none."""
        held = [row for line in self.queues for row in line.held if row]
        has = {
            "guarantee": any(row.guarantee.get(self.resource) for row in held),
            "capability": any(self.resource in row.capability for row in held),
        }
        return [limit for limit, is_set in has.items() if is_set]

    @cached_property
    def queues(self) -> list[Line[QueueFigures]]:
        """The queues in charts and table."""
        return shown_queues(self.comparison.queues, containing=self.containing, everything=self.everything)

    @cached_property
    def scale(self) -> Scale:
        """The unit of all amounts of the queues."""
        held = [row for line in self.queues for row in line.held if row]
        return scale_of(self.resource, largest_amount(held, self.resource))

    @property
    def amounts_figure(self) -> dict[str, Any]:
        """Deserved, allocated, request, guarantee and capability of each queue, run by run."""
        return compared_amounts_figure(self._rows, self.resource, self.scale, self._names)

    @property
    def share_figure(self) -> dict[str, Any]:
        """The share of each queue, run by run."""
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
            title: [figures for figures in column if figures]
            for title, column in zip(self.titles, held, strict=True)
        }

    @cached_property
    def _differences(self) -> list[Difference]:
        return settings_that_differ(self.runs)

    @cached_property
    def settings(self) -> list[Difference]:
        """The settings in which the runs differ, without the text of the configuration."""
        return [found for found in self._differences if found.kind != "scheduler_conf"]

    @cached_property
    def conf_changes(self) -> dict[str, list[str]]:
        """The changed lines of each run's configuration compared with the first, by letter."""
        texts = [found.values for found in self._differences if found.kind == "scheduler_conf"]
        if not texts:
            return {}
        first, *others = ((text or "# Volcano's default") for text in texts[0])
        changed = {
            letter: list(unified_diff(first.splitlines(), text.splitlines(), "A", letter, lineterm="", n=2))
            for letter, text in zip(self.letters[1:], others, strict=True)
        }
        return {letter: lines[2:] for letter, lines in changed.items() if lines}
