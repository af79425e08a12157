"""The pages that start, follow, cancel and show a forecast."""

from collections.abc import Sequence
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from planner.accounts.models import Role
from planner.clusters.services.deletion import thing_delete
from planner.errors import Invalid
from planner.forecasts.forms.changes import in_form
from planner.forecasts.forms.forecasts import ForecastForm, TargetsForm
from planner.forecasts.models import Forecast
from planner.forecasts.selectors.forecasts import get_forecast, scenario_forecasts, scenario_leaves
from planner.forecasts.selectors.targets import wait_targets
from planner.forecasts.selectors.traces import traces
from planner.forecasts.services.forecasts import forecast_create, forecast_problems, targets_change
from planner.forecasts.views.forecast_page import ForecastPage
from planner.forecasts.views.timed import TypedChanges
from planner.forecasts.views.traces import trace_or_404
from planner.scenarios.models import Scenario
from planner.web.views.following import UNCHANGED, seen
from planner.web.views.found import scenario_or_404
from planner.web.views.pages import INVALID, caller, found_or_404, page_or_part
from planner.work.lifecycle import work_cancel
from planning.rows import Problem

PARTS = {"forecast": "forecasts/_forecast.html"}
CHANGES = {"changes": "forecasts/_changes.html", "timeline": "forecasts/_timeline.html"}


@require_http_methods(["GET", "POST"])
def begin(request: HttpRequest, scenario_id: UUID) -> HttpResponse:
    """Show a scenario's forecasts and wait targets, and start a forecast."""
    scenario = scenario_or_404(request, scenario_id)
    if request.method == "GET":
        return _begin_page(request, scenario)
    trace = trace_or_404(request, request.POST.get("trace", ""))
    form = ForecastForm(trace.queues, scenario_leaves(scenario), request.POST)
    timed = TypedChanges(scenario, request.POST, [])
    try:
        if not form.is_valid() or timed.unread:
            further = forecast_problems(scenario=scenario, trace=trace, options=form.readable())
            raise Invalid([*timed.problems, *further])
        options = {**form.options(), "changes": timed.changes}
        forecast = forecast_create(scenario=scenario, trace=trace, options=options, user=caller(request))
    except Invalid as error:
        problems = [*form.problems, *map(in_form, error.problems)]
        form.refuse(error.problems)
        return _begin_page(request, scenario, form=form, problems=problems, status=INVALID)
    return redirect("planner:forecast", forecast.pk)


@require_POST
def changes(request: HttpRequest, scenario_id: UUID) -> HttpResponse:
    """Show the entered timed changes and their problems; nothing is saved."""
    return _begin_page(request, scenario_or_404(request, scenario_id))


@require_POST
def targets(request: HttpRequest, scenario_id: UUID) -> HttpResponse:
    """Set the wait targets of the scenario's queues."""
    scenario = scenario_or_404(request, scenario_id)
    form = TargetsForm(_targets(scenario), data=request.POST)
    if not form.is_valid():
        return _begin_page(request, scenario, form=form, status=INVALID)
    targets_change(scenario=scenario, targets=form.targets(), user=caller(request))
    messages.success(request, "The wait targets are saved; they apply to new forecasts.")
    return redirect("planner:scenario-forecasts", scenario.pk)


@require_GET
def detail(request: HttpRequest, forecast_id: UUID) -> HttpResponse:
    """Show a forecast; answer a poll with 204 if state and progress are unchanged."""
    forecast = forecast_or_404(request, forecast_id)
    if request.GET.get("seen") == seen(forecast):
        return HttpResponse(status=UNCHANGED)
    context = {"forecast": forecast, "page": ForecastPage(forecast, request.GET), "seen": seen(forecast)}
    return page_or_part(request, "forecasts/forecast.html", PARTS, context)


@require_GET
def figures(request: HttpRequest, forecast_id: UUID) -> HttpResponse:
    """Return the figures of a window, for zooming."""
    forecast = ended_or_404(request, forecast_id)
    return JsonResponse({"figures": ForecastPage(forecast, request.GET).over_time})


@require_POST
def cancel(request: HttpRequest, forecast_id: UUID) -> HttpResponse:
    """Request a forecast to stop and show its state."""
    forecast = work_cancel(work=forecast_or_404(request, forecast_id), user=caller(request))
    return redirect("planner:forecast", forecast.pk)


@require_POST
def delete(request: HttpRequest, forecast_id: UUID) -> HttpResponse:
    """Delete a forecast."""
    forecast = forecast_or_404(request, forecast_id)
    scenario_id = forecast.scenario_id
    thing_delete(thing=forecast, user=caller(request))
    messages.success(request, "The forecast was deleted.")
    return redirect("planner:scenario-forecasts", scenario_id)


def forecast_or_404(request: HttpRequest, forecast_id: UUID) -> Forecast:
    """Return a forecast of the caller's workspaces, or raise Http404."""
    return found_or_404(request, get_forecast, forecast_id)


def ended_or_404(request: HttpRequest, forecast_id: UUID) -> Forecast:
    """Return a finished forecast of the caller's workspaces, or raise Http404."""
    forecast = forecast_or_404(request, forecast_id)
    if forecast.state != Forecast.State.SUCCEEDED:
        raise Http404
    return forecast


def _targets(scenario: Scenario, leaves: Sequence[str] | None = None) -> dict[str, float | None]:
    """Return the wait target of each leaf queue; None: it has none (at most 3 queries)."""
    seconds = wait_targets(scenario)
    return {queue: seconds.get(queue) for queue in leaves or scenario_leaves(scenario)}


def _begin_page(
    request: HttpRequest,
    scenario: Scenario,
    *,
    form: ForecastForm | TargetsForm | None = None,
    problems: Sequence[Problem] = (),
    status: int = 200,
) -> HttpResponse:
    user = caller(request)
    known = list(traces(user).filter(workspace=scenario.workspace))
    chosen = request.POST.get("trace") or request.GET.get("trace", "")
    begun = list(scenario_forecasts(scenario))
    wanted = chosen or next((str(forecast.trace_id) for forecast in begun), "")
    trace = next((trace for trace in known if str(trace.pk) == wanted), known[0] if known else None)
    leaves = scenario_leaves(scenario)
    may_edit = scenario.role != Role.VIEWER  # type: ignore[attr-defined]  # annotated by `visible`
    kept = _targets(scenario, leaves)
    trace_queues = trace.queues if trace else {}
    sent = request.POST if "trace" in request.POST else None
    context = {
        "scenario": scenario,
        "forecasts": begun,
        "traces": known,
        "trace": trace,
        "leaves": leaves,
        "targets": form if isinstance(form, TargetsForm) else TargetsForm(kept, may_edit=may_edit),
        "form": form if isinstance(form, ForecastForm) else ForecastForm(trace_queues, leaves, sent),
        "timed": TypedChanges(scenario, request.POST, leaves),
        "problems": problems,
        "is_refused": form is not None,
        "may_edit": may_edit,
    }
    return page_or_part(request, "forecasts/begin.html", CHANGES, context, status=status)
