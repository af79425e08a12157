"""The pages of an upgrade's impact."""

from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from planner.errors import Invalid
from planner.runs.models import Run
from planner.runs.services.runs import run_create
from planner.upgrades.selectors import (
    KINDS,
    impact_address,
    impact_found,
    impact_of,
    release_of_run,
    usual_target,
)
from planner.upgrades.services import impact_create
from planner.web.views.found import run_or_404, scenario_or_404
from planner.web.views.listing import Listing
from planner.web.views.pages import INVALID, caller, is_htmx
from planning.releases import known_releases


@require_POST
def begin(request: HttpRequest, scenario_id: UUID) -> HttpResponse:
    """Run the scenario's current revision, and request the impact of the next release on it."""
    run = run_create(scenario=scenario_or_404(request, scenario_id), user=caller(request))
    old = release_of_run(run)
    impact = impact_create(run=run, old=old, new=usual_target(old), user=caller(request))
    return redirect(impact_address(impact))


@require_http_methods(["GET", "POST"])
def upgrade(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Request the impact of an upgrade, or show it."""
    run = run_or_404(request, run_id)
    chosen = request.POST if request.method == "POST" else request.GET
    old = chosen.get("from") or release_of_run(run)
    new = chosen.get("to") or usual_target(old)
    if request.method == "POST":
        try:
            impact = impact_create(run=run, old=old, new=new, user=caller(request))
        except Invalid as error:
            return _page(request, run, old, new, problems=error.problems, status=INVALID)
        return redirect(impact_address(impact))
    return _page(request, run, old, new)


@require_GET
def report(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Return the report of an upgrade as Markdown, for a change ticket."""
    run = run_or_404(request, run_id)
    old, new = request.GET.get("from", ""), request.GET.get("to", "")
    impact = impact_of(run, old, new)
    found = impact_found(impact) if impact else None
    if found is None:
        raise Http404
    name = f"upgrade-{old}-{new}.md"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(found.markdown, content_type="text/markdown; charset=utf-8", headers=headers)


def _page(
    request: HttpRequest, run: Run, old: str, new: str, *, problems: Any = (), status: int = 200
) -> HttpResponse:
    impact = None if problems else impact_of(run, old, new)
    found = impact_found(impact) if impact else None
    kind = request.GET.get("kind", "")
    rows = [row for row in found.differences if kind in ("", row.kind)] if found else []
    context = {
        "run": run,
        "old": old,
        "new": new,
        "releases": list(dict.fromkeys([*known_releases(), old, new])),
        "impact": impact,
        "found": found,
        "kinds": KINDS,
        "kind": kind,
        "listing": Listing(rows, name="page", params=request.GET),
        "problems": problems,
    }
    template = "upgrades/_impact.html" if is_htmx(request) else "upgrades/impact.html"
    return render(request, template, context, status=status)
