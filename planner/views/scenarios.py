"""What does a scenario's page show, and how is its configuration edited?"""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from planner.engine.review import scenario_problems
from planner.models import Scenario
from planner.selectors.history import changes_since, steps
from planner.selectors.home import scenario_runs
from planner.selectors.scenarios import changes, get_scenario
from planner.services.errors import Invalid, StaleRevision
from planner.services.scenarios import conf_update
from planner.views.pages import caller, fragment_asked
from planner.views.queue_tree import scenario_tree

CHANGES_SHOWN = 10
STALE, INVALID = 412, 422


@login_required
@require_GET
def detail(request: HttpRequest, scenario_id: UUID) -> HttpResponse:
    """Show a scenario: its queues, its scheduler configuration, its runs."""
    scenario = scenario_or_404(request, scenario_id)
    if fragment_asked(request) == "queues":
        tree = scenario_tree(scenario, asked_resource(request))
        context = {"scenario": scenario, "tree": tree, "steps": steps(scenario)}
        return render(request, "planner/_queues.html", context)
    return scenario_page(request, scenario)


@login_required
@require_GET
def review(request: HttpRequest, scenario_id: UUID) -> HttpResponse:
    """Show what there is to say against the scenario; the page asks for it by itself, after its figures."""
    scenario = scenario_or_404(request, scenario_id)
    checked = {"scenario": scenario, "problems": scenario_problems(scenario), "checked": True}
    if fragment_asked(request) is None:
        return scenario_page(request, scenario, checked)
    return render(request, "planner/_review.html", checked)


@login_required
@require_POST
def conf(request: HttpRequest, scenario_id: UUID) -> HttpResponse:
    """Save the scheduler configuration, or show why not with what was typed."""
    scenario = scenario_or_404(request, scenario_id)
    text = request.POST.get("text", "").replace("\r\n", "\n")
    expected = seen_revision(request)
    try:
        conf_update(scenario=scenario, text=text, expected_revision=expected, user=caller(request))
    except Invalid as error:
        return _conf_answer(request, scenario, {"conf_text": text, "conf_problems": error.problems}, INVALID)
    except StaleRevision as error:
        stale = {"error": error, "changes": changes_since(scenario, error.expected)}
        return _conf_answer(request, scenario, {"conf_text": text, "conf_stale": stale}, STALE)
    if fragment_asked(request):
        return _conf_answer(request, scenario, {"conf_text": scenario.conf_text, "conf_saved": True})
    messages.success(request, f"Scheduler configuration saved: revision {scenario.revision}.")
    return redirect("planner:scenario-detail", scenario.pk)


def scenario_page(
    request: HttpRequest, scenario: Scenario, changed: Mapping[str, Any] | None = None, status: int = 200
) -> HttpResponse:
    """Return the whole page; `changed` holds what an edit that was not saved puts in its place."""
    context = {
        "scenario": scenario,
        "conf_text": scenario.conf_text,
        "steps": steps(scenario),
        "runs": scenario_runs(scenario),
        "changes": changes(scenario)[:CHANGES_SHOWN],
        **(changed or {}),
    }
    if "tree" not in context:
        context["tree"] = scenario_tree(scenario, asked_resource(request))
    return render(request, "planner/scenario_detail.html", context, status=status)


def scenario_or_404(request: HttpRequest, scenario_id: UUID) -> Scenario:
    """Return a scenario of a workspace of the caller."""
    try:
        return get_scenario(caller(request), scenario_id)
    except Scenario.DoesNotExist:
        raise Http404 from None


def asked_resource(request: HttpRequest) -> str:
    """Return the resource that the columns of the tree-table should show, empty when none is named."""
    return (request.POST.get("resource") or request.GET.get("resource") or "").strip()


def seen_revision(request: HttpRequest) -> int:
    """Return the revision that an edit saw; one that names none saw none."""
    text = request.POST.get("revision", "")
    return int(text) if text.isdecimal() else 0


def _conf_answer(
    request: HttpRequest, scenario: Scenario, changed: Mapping[str, Any], status: int = 200
) -> HttpResponse:
    if fragment_asked(request):
        return render(request, "planner/_conf.html", {"scenario": scenario, **changed}, status=status)
    return scenario_page(request, scenario, changed, status)
