"""What is on the first page?"""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from planner.selectors.home import recent_runs, scenarios_with_last_run
from planner.selectors.workspaces import default_workspace
from planner.services.samples import sample_load
from planner.views.pages import caller


@login_required
@require_GET
def home(request: HttpRequest) -> HttpResponse:
    """Show scenarios and recent runs."""
    workspace = default_workspace()
    context = {
        "scenarios": scenarios_with_last_run(workspace),
        "runs": recent_runs(workspace),
        "place": "home",
    }
    return render(request, "planner/home.html", context)


@login_required
@require_POST
def sample(request: HttpRequest) -> HttpResponse:
    """Open the scenario of the sample cluster; it is made when nobody has opened it before."""
    scenario = sample_load(workspace=default_workspace(), owner=caller(request))
    return redirect("planner:scenario-detail", scenario.pk)
