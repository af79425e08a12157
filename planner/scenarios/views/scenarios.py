"""What does a scenario's page show?"""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from planner.scenarios.models import Scenario
from planner.scenarios.selectors.history import steps
from planner.scenarios.selectors.review import scenario_problems
from planner.scenarios.selectors.scenarios import get_scenario, last_changes
from planner.scenarios.views.queue_tree import scenario_tree
from planner.web.selectors.home import scenario_runs
from planner.web.views.pages import caller, fragment_asked


@login_required
@require_GET
def detail(request: HttpRequest, scenario_id: UUID) -> HttpResponse:
    """Show a scenario: its queues, its scheduler configuration, its runs."""
    scenario = scenario_or_404(request, scenario_id)
    if fragment_asked(request) == "queues":
        tree = scenario_tree(scenario, asked_resource(request))
        context = {"scenario": scenario, "tree": tree, "steps": steps(scenario)}
        return render(request, "scenarios/_queues.html", context)
    return scenario_page(request, scenario)


@login_required
@require_GET
def review(request: HttpRequest, scenario_id: UUID) -> HttpResponse:
    """Show what there is to say against the scenario; the page asks for it by itself, after its figures."""
    scenario = scenario_or_404(request, scenario_id)
    checked = {"scenario": scenario, "problems": scenario_problems(scenario), "checked": True}
    if fragment_asked(request) is None:
        return scenario_page(request, scenario, checked)
    return render(request, "scenarios/_review.html", checked)


def scenario_page(
    request: HttpRequest, scenario: Scenario, changed: Mapping[str, Any] | None = None, status: int = 200
) -> HttpResponse:
    """Return the whole page; `changed` holds what an edit that was not saved puts in its place."""
    context = {
        "scenario": scenario,
        "steps": steps(scenario),
        "runs": scenario_runs(scenario),
        "changes": last_changes(scenario),
        **(changed or {}),
    }
    if "tree" not in context:
        context["tree"] = scenario_tree(scenario, asked_resource(request))
    return render(request, "scenarios/detail.html", context, status=status)


def scenario_or_404(request: HttpRequest, scenario_id: UUID) -> Scenario:
    """Return a scenario of a workspace of the caller."""
    try:
        return get_scenario(caller(request), scenario_id)
    except Scenario.DoesNotExist:
        raise Http404 from None


def asked_resource(request: HttpRequest) -> str:
    """Return the resource that the columns of the tree-table should show, empty when none is named."""
    return (request.POST.get("resource") or request.GET.get("resource") or "").strip()
