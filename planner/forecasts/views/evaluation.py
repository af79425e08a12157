"""The forms of a forecast's page for prices and backtests."""

from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from planner.clusters.models import Snapshot
from planner.clusters.selectors.snapshots import snapshots
from planner.errors import Invalid
from planner.forecasts.services.backtests import backtest_measure, backtest_store
from planner.forecasts.services.prices import prices_set
from planner.forecasts.views.forecast_page import ForecastPage
from planner.forecasts.views.forecasts import ended_or_404
from planner.web.views.following import seen
from planner.web.views.pages import INVALID, caller


@require_POST
def prices(request: HttpRequest, forecast_id: UUID) -> HttpResponse:
    """Set the prices of the workspace's nodes; pools that are not in this forecast keep theirs."""
    forecast = ended_or_404(request, forecast_id)
    page = ForecastPage(forecast, request.GET, typed=request.POST)
    try:
        typed = page.prices_form.prices()
    except Invalid as error:
        return _again(request, page, error)
    kept = page.prices.pools if page.prices else {}
    typed["pools"] = {name: kept[name] for name in kept if name not in page.pools} | typed["pools"]
    prices_set(workspace=forecast.workspace, user=caller(request), **typed)
    messages.success(request, "The prices are saved; they apply to all forecasts of the workspace.")
    return redirect(f"{reverse('planner:forecast', args=[forecast.pk])}#cost")


@require_POST
def backtests(request: HttpRequest, forecast_id: UUID) -> HttpResponse:
    """Compare a forecast with a later snapshot."""
    forecast = ended_or_404(request, forecast_id)
    try:
        snapshot = snapshots(caller(request)).get(pk=UUID(request.POST.get("snapshot", "")))
    except (Snapshot.DoesNotExist, ValueError):
        raise Http404 from None
    try:
        measured = backtest_measure(forecast=forecast, snapshot=snapshot, user=caller(request))
    except Invalid as error:
        return _again(request, ForecastPage(forecast, request.GET), error)
    backtest_store(backtest=measured)
    return redirect(f"{reverse('planner:forecast', args=[forecast.pk])}#backtests")


def _again(request: HttpRequest, page: ForecastPage, error: Invalid) -> HttpResponse:
    """Show the page again with the problems and the entered values."""
    context = {
        "forecast": page.forecast,
        "page": page,
        "seen": seen(page.forecast),
        "problems": error.problems,
        "is_refused": True,
    }
    return render(request, "forecasts/forecast.html", context, status=INVALID)
