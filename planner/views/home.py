"""What is on the first page?"""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from planner.selectors.home import recent_runs, scenarios_with_last_run
from planner.selectors.workspaces import default_workspace


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
@require_GET
def sample(request: HttpRequest) -> HttpResponse:
    """Show scenarios and recent runs."""
    return home(request)
