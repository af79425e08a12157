"""Objects by id, or 404 if the caller may not see them."""

from uuid import UUID

from django.http import Http404, HttpRequest

from planner.runs.models import Run
from planner.runs.selectors.runs import get_run
from planner.scenarios.models import Queue, Scenario
from planner.scenarios.selectors.scenarios import get_scenario
from planner.web.views.pages import found_or_404


def run_or_404(request: HttpRequest, run_id: UUID) -> Run:
    """Return a run of the caller's workspaces, or raise Http404."""
    return found_or_404(request, get_run, run_id)


def scenario_or_404(request: HttpRequest, scenario_id: UUID) -> Scenario:
    """Return a scenario of the caller's workspaces, or raise Http404."""
    return found_or_404(request, get_scenario, scenario_id)


def queue_or_404(scenario: Scenario, name: str) -> Queue:
    """Return a queue of a scenario, or raise Http404."""
    try:
        return scenario.queues.get(name=name)
    except Queue.DoesNotExist:
        raise Http404 from None
