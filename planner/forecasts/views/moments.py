"""The page of one moment of a forecast, which can become a scenario."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from planner.errors import Busy, Invalid
from planner.forecasts.forms.forecasts import MomentForm
from planner.forecasts.models import Forecast
from planner.forecasts.selectors.forecasts import decisions_at, record_of
from planner.forecasts.services.moments import moment_open
from planner.forecasts.views.forecast_page import ForecastPage
from planner.forecasts.views.forecasts import forecast_or_404
from planner.runs.services.runs import run_create
from planner.web.views.listing import Listing
from planner.web.views.pages import INVALID, caller
from planning.forecasts.clock import moment_of
from planning.forecasts.moment import Now, cluster_now, session_at
from planning.rows import Problem


@require_http_methods(["GET", "POST"])
def moment(request: HttpRequest, forecast_id: UUID) -> HttpResponse:
    """Show queues and jobs at a time, or create a scenario of it and run it to get explanations."""
    forecast = forecast_or_404(request, forecast_id)
    if forecast.state != Forecast.State.SUCCEEDED:
        return redirect("planner:forecast", forecast.pk)
    form = MomentForm(request.POST if request.method == "POST" else request.GET)
    at = form.cleaned_data.get("at") or 0.0 if form.is_valid() else 0.0
    if request.method == "GET":
        return _page(request, forecast, at)
    try:
        typed = form.typed()
        scenario = moment_open(forecast=forecast, at=at, user=caller(request))
    except Invalid as error:
        return _page(request, forecast, at, problems=[*form.problems, *error.problems], status=INVALID)
    except Busy as error:
        problem = Problem("forecast.busy", "error", str(error), path="at", fix="Send the form again.")
        return _page(request, forecast, at, problems=[problem], status=503)
    if typed["then"] == "run":
        run = run_create(scenario=scenario, user=caller(request))
        return redirect("planner:run-detail", run.pk)
    messages.success(request, f"{scenario.name} is a scenario of its own now.")
    return redirect("planner:scenario-detail", scenario.pk)


def _page(
    request: HttpRequest, forecast: Forecast, at: float, *, problems: Any = (), status: int = 200
) -> HttpResponse:
    record = record_of(forecast)
    shown = min(session_at(at, record.period) * record.period, record.end)
    now: Now = cluster_now(record, shown)
    steps = decisions_at(forecast, shown)
    context = {
        "forecast": forecast,
        "at": shown,
        "says": moment_of(shown, record.begin),
        "page": ForecastPage(forecast, request.GET),
        "queues": Listing(
            sorted(now.queues, key=lambda row: (-row.waiting, row.queue)), name="queues", params=request.GET
        ),
        "waiting": Listing(now.waiting, name="waiting", params=request.GET),
        "running": len(now.running),
        "decisions": Listing(steps, name="decisions", params=request.GET),
        "before": max(shown - record.period, 0.0),
        "after": min(shown + record.period, record.end),
        "problems": problems,
    }
    return render(request, "forecasts/moment.html", context, status=status)
