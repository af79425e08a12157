"""Which scenario or run does an address name, as far as its caller may know?"""

from uuid import UUID

from django.http import Http404, HttpRequest

from planner.runs.models import Run
from planner.runs.selectors.runs import get_run
from planner.scenarios.models import Queue, Scenario
from planner.scenarios.selectors.scenarios import get_scenario
from planner.web.views.pages import found_or_404


def run_or_404(request: HttpRequest, run_id: UUID) -> Run:
    """Return a run of a workspace of the caller."""
    return found_or_404(request, get_run, run_id)


def scenario_or_404(request: HttpRequest, scenario_id: UUID) -> Scenario:
    """Return a scenario of a workspace of the caller."""
    return found_or_404(request, get_scenario, scenario_id)


def queue_or_404(scenario: Scenario, name: str) -> Queue:
    """Return a queue of a scenario."""
    try:
        return scenario.queues.get(name=name)
    except Queue.DoesNotExist:
        raise Http404 from None
