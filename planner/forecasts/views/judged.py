"""What does a forecast cost, and how right was it?"""

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from planner.clusters.models import Snapshot
from planner.errors import Invalid
from planner.forecasts.forms import prices_typed
from planner.forecasts.models import Forecast
from planner.forecasts.services.backtests import backtest_make
from planner.forecasts.services.prices import prices_set
from planner.forecasts.views.forecast_page import ForecastPage
from planner.forecasts.views.forecasts import ended_or_404
from planner.scenarios.selectors.scenarios import snapshots
from planner.web.views.following import seen
from planner.web.views.pages import INVALID, caller


@login_required
@require_POST
def prices(request: HttpRequest, forecast_id: UUID) -> HttpResponse:
    """Set what the nodes of the workspace cost; pools that this forecast does not have keep their prices."""
    forecast = ended_or_404(request, forecast_id)
    page = ForecastPage(forecast, request.GET)
    typed, problems = prices_typed(request.POST, page.pools, page.priced_resources)
    try:
        if problems:
            raise Invalid(problems)
        kept = page.prices
        others = (
            {} if kept is None else {name: kept.pools[name] for name in kept.pools if name not in page.pools}
        )
        typed["pools"] = others | typed["pools"]
        prices_set(workspace=forecast.workspace, user=caller(request), **typed)
    except Invalid as error:
        return _again(request, forecast, error)
    messages.success(request, "Prices are saved; all forecasts of the workspace say what they cost.")
    return redirect(f"{reverse('planner:forecast', args=[forecast.pk])}#cost")


@login_required
@require_POST
def backtests(request: HttpRequest, forecast_id: UUID) -> HttpResponse:
    """Compare a forecast with what a later snapshot says that happened."""
    forecast = ended_or_404(request, forecast_id)
    try:
        snapshot = snapshots(caller(request)).get(pk=UUID(request.POST.get("snapshot", "")))
    except (Snapshot.DoesNotExist, ValueError):
        raise Http404 from None
    try:
        backtest_make(forecast=forecast, snapshot=snapshot, user=caller(request))
    except Invalid as error:
        return _again(request, forecast, error)
    return redirect(f"{reverse('planner:forecast', args=[forecast.pk])}#backtests")


def _again(request: HttpRequest, forecast: Forecast, error: Invalid) -> HttpResponse:
    """Show the page with what is wrong, and what was typed."""
    context = {
        "forecast": forecast,
        "page": ForecastPage(forecast, request.GET, typed=request.POST),
        "seen": seen(forecast),
        "problems": error.problems,
    }
    return render(request, "forecasts/forecast.html", context, status=INVALID)
