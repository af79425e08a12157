"""The page that exports a scenario to a cluster."""

from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from planner.accounts.services.events import export_note
from planner.scenarios.selectors.export import scenario_export
from planner.scenarios.selectors.review import scenario_problems
from planner.web.views.found import scenario_or_404
from planner.web.views.pages import caller

FILES = {"changed": "yaml", "whole": "yaml", "script": "sh"}
"""The files to download, with their extensions."""


@require_GET
def show(request: HttpRequest, scenario_id: UUID) -> HttpResponse:
    """Show the steps from the snapshot to the scenario, and changes that Volcano rejects in any order."""
    scenario = scenario_or_404(request, scenario_id)
    refused = [problem for problem in scenario_problems(scenario) if problem.is_error]
    context = {"scenario": scenario, "export": scenario_export(scenario), "refused": refused}
    return render(request, "scenarios/export.html", context)


@require_GET
def download(request: HttpRequest, scenario_id: UUID, part: str) -> HttpResponse:
    """Send one of the files."""
    scenario = scenario_or_404(request, scenario_id)
    if part not in FILES:
        raise Http404
    subject, address = f"scenario {scenario.pk}: {part}", request.META.get("REMOTE_ADDR", "")
    export_note(user=caller(request), workspace=scenario.workspace, subject=subject, address=address)
    text: str = getattr(scenario_export(scenario), part)
    name = f"scenario-{scenario.revision}-{part}.{FILES[part]}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(text, content_type="text/plain; charset=utf-8", headers=headers)
