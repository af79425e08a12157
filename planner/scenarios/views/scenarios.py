"""The page of a scenario."""

from collections.abc import Mapping
from functools import partial
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from planner.accounts.selectors.workspaces import editable
from planner.clusters.sample import SAMPLE_NAME
from planner.scenarios.models import Scenario
from planner.scenarios.selectors.history import last_changes, steps
from planner.scenarios.selectors.review import scenario_problems
from planner.scenarios.services.labels import label
from planner.scenarios.views.queue_tree import scenario_tree, shown_of
from planner.web.selectors.home import scenario_runs
from planner.web.views.found import scenario_or_404
from planner.web.views.labels import labelled
from planner.web.views.pages import caller, fragment_requested


@require_GET
def detail(request: HttpRequest, scenario_id: UUID) -> HttpResponse:
    """Show a scenario: its queues, its scheduler configuration, its runs."""
    scenario = scenario_or_404(request, scenario_id)
    if fragment_requested(request) == "queues":
        tree = scenario_tree(scenario, shown_of(request))
        context = {"scenario": scenario, "tree": tree, "steps": steps(scenario)}
        return render(request, "scenarios/_queues.html", context)
    return scenario_page(request, scenario)


@require_POST
def labels(request: HttpRequest, scenario_id: UUID) -> HttpResponse:
    """Set the name, note and tags of a scenario, or archive it."""
    scenario = scenario_or_404(request, scenario_id)
    keep, page = (
        partial(label, thing=scenario, user=caller(request)),
        partial(scenario_page, request, scenario),
    )
    return labelled(request, keep, page, reverse("planner:scenario-detail", args=[scenario.pk]))


@require_GET
def review(request: HttpRequest, scenario_id: UUID) -> HttpResponse:
    """Show the findings about the scenario; the page requests them after its figures."""
    scenario = scenario_or_404(request, scenario_id)
    checked = {"scenario": scenario, "problems": scenario_problems(scenario), "checked": True}
    if fragment_requested(request) is None:
        return scenario_page(request, scenario, checked)
    return render(request, "scenarios/_review.html", checked)


def scenario_page(
    request: HttpRequest, scenario: Scenario, changed: Mapping[str, Any] | None = None, status: int = 200
) -> HttpResponse:
    """Return the whole page; `changed` has the context of a rejected edit."""
    context = {
        "scenario": scenario,
        "steps": steps(scenario),
        "runs": scenario_runs(scenario),
        "changes": last_changes(scenario),
        "is_sample": scenario.snapshot.name == SAMPLE_NAME,
        "may_edit_elsewhere": editable(caller(request)).exists,
        **(changed or {}),
    }
    if "tree" not in context:
        context["tree"] = scenario_tree(scenario, shown_of(request))
    return render(request, "scenarios/detail.html", context, status=status)
