"""The start page."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from planner.accounts.models import Role
from planner.accounts.selectors.workspaces import memberships
from planner.clusters.services.samples import sample_load
from planner.web.selectors.home import run_lines, scenario_lines, scenario_tree
from planner.web.views.listing import Listing
from planner.web.views.pages import caller
from planner.web.views.workspace import present_membership, workspace_for_import


@require_GET
def home(request: HttpRequest) -> HttpResponse:
    """Show scenarios and recent runs."""
    user = caller(request)
    mine = list(memberships(user))
    here = present_membership(request, mine)
    workspace = here.workspace if here else None
    archived, tag = request.GET.get("archived") == "true", request.GET.get("tag", "").strip()
    tree = scenario_tree(user, workspace, archived=archived, tag=tag)
    page = Listing(tree, name="page", params=request.GET)
    context = {
        "page": page,
        "lines": scenario_lines(user, page.rows),
        "runs": run_lines(user, workspace),
        "archived": archived,
        "tag": tag,
        "here": here,
        "memberships": mine,
        "may_edit": any(member.role != Role.VIEWER for member in mine),
        "place": "home",
    }
    return render(request, "web/home.html", context)


@require_POST
def sample(request: HttpRequest) -> HttpResponse:
    """Open the scenario of the sample cluster; create it on the first call."""
    user = caller(request)
    scenario = sample_load(workspace=workspace_for_import(request), owner=user)
    return redirect("planner:scenario-detail", scenario.pk)
