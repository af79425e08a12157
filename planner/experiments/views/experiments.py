"""The pages that start, follow, stop and show an experiment, and turn cells into scenarios."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from planner.accounts.models import Role
from planner.errors import Invalid
from planner.experiments.forms import DocumentForm, ExperimentForm, example, in_text, setting_choices
from planner.experiments.models import Experiment
from planner.experiments.selectors.experiments import experiments, get_experiment, scenario_experiments
from planner.experiments.selectors.offers import Offer, offered
from planner.experiments.selectors.remedies import search_for
from planner.experiments.services.cells import cell_forecast, cell_forecast_plan, cell_open, cell_plan
from planner.experiments.services.experiments import (
    experiment_create,
    experiment_delete,
    experiment_problems,
)
from planner.experiments.services.settling import experiment_cancel
from planner.experiments.views.experiment_page import ExperimentPage
from planner.forecasts.models import Forecast
from planner.forecasts.selectors.forecasts import get_forecast
from planner.runs.services.runs import run_create
from planner.scenarios.models import Scenario
from planner.web.views.following import UNCHANGED
from planner.web.views.found import scenario_or_404
from planner.web.views.listing import Listing
from planner.web.views.pages import INVALID, caller, found_or_404, page_or_part
from planning.rows import Problem

PARTS = {"experiment": "experiments/_experiment.html"}


@require_GET
def listing(request: HttpRequest) -> HttpResponse:
    """Show the experiments of all scenarios."""
    listed = Listing(experiments(caller(request)), name="experiments", params=request.GET)
    return render(request, "experiments/experiments.html", {"experiments": listed, "place": "experiments"})


@require_http_methods(["GET", "POST"])
def begin(request: HttpRequest, scenario_id: UUID) -> HttpResponse:
    """Show a scenario's experiments, and start an experiment."""
    scenario = scenario_or_404(request, scenario_id)
    if request.method == "GET":
        return _begin_page(request, scenario)
    is_document = "document" in request.POST
    form = DocumentForm(request.POST) if is_document else _short_form(offered(scenario), request.POST)
    try:
        written = form.written(scenario.name)
        experiment = experiment_create(scenario=scenario, written=written, user=caller(request))
    except Invalid as error:
        found = error.problems or _further(scenario, form)
        problems = [*form.problems, *found]
        form.refuse(found)
        return _begin_page(request, scenario, form, problems=problems, status=INVALID)
    return redirect("planner:experiment", experiment.pk)


def _further(scenario: Scenario, form: ExperimentForm | DocumentForm) -> list[Problem]:
    """Return the problems of what a form with errors of its own has entered in its other fields."""
    if isinstance(form, DocumentForm):
        return []
    written = form.readable(scenario.name)
    return experiment_problems(scenario=scenario, written=written) if written["settings"] else []


@require_GET
def detail(request: HttpRequest, experiment_id: UUID) -> HttpResponse:
    """Show an experiment; answer a poll with 204 if no cell was added."""
    experiment = experiment_or_404(request, experiment_id)
    page = ExperimentPage(experiment, request.GET)
    if request.GET.get("seen") == page.seen:
        return HttpResponse(status=UNCHANGED)
    context = {"experiment": experiment, "page": page, "place": "experiments"}
    return page_or_part(request, "experiments/experiment.html", PARTS, context)


@require_POST
def cancel(request: HttpRequest, experiment_id: UUID) -> HttpResponse:
    """Stop an experiment and show the measured cells."""
    experiment = experiment_cancel(experiment=experiment_or_404(request, experiment_id), user=caller(request))
    return redirect("planner:experiment", experiment.pk)


@require_POST
def delete(request: HttpRequest, experiment_id: UUID) -> HttpResponse:
    """Delete an experiment."""
    experiment = experiment_or_404(request, experiment_id)
    scenario_id = experiment.scenario_id
    experiment_delete(experiment=experiment, user=caller(request))
    messages.success(request, "The experiment was deleted.")
    return redirect("planner:scenario-experiments", scenario_id)


@require_POST
def cell(request: HttpRequest, experiment_id: UUID, number: int) -> HttpResponse:
    """Create the scenario of a cell; with `then=run` or `then=forecast` start one of it."""
    experiment = experiment_or_404(request, experiment_id)
    then, user = request.POST.get("then"), caller(request)
    try:
        if then == "forecast":
            planned = cell_forecast_plan(experiment=experiment, number=number, user=user)
            forecast = cell_forecast(plan=planned, user=user)
            return redirect("planner:forecast", forecast.pk)
        scenario = cell_open(plan=cell_plan(experiment=experiment, number=number, user=user), user=user)
    except Invalid as error:
        page = ExperimentPage(experiment, request.GET)
        context = {"experiment": experiment, "page": page, "problems": error.problems}
        return render(request, "experiments/experiment.html", context, status=INVALID)
    if then == "run":
        run = run_create(scenario=scenario, options=_run_options(experiment), user=user)
        return redirect("planner:run-detail", run.pk)
    messages.success(request, f"{scenario.name} is a scenario of its own now.")
    return redirect("planner:scenario-detail", scenario.pk)


def _run_options(experiment: Experiment) -> dict[str, Any]:
    return {"cycles": (experiment.written.get("run") or {}).get("cycles", 1)}


def experiment_or_404(request: HttpRequest, experiment_id: UUID) -> Experiment:
    """Return an experiment of the caller's workspaces, or raise Http404."""
    return found_or_404(request, get_experiment, experiment_id)


def _document(request: HttpRequest, scenario: Scenario, offer: Offer) -> tuple[str, Forecast | None]:
    """Return the document to start from: what helps the forecast in the address, with it, else an example."""
    if given := request.GET.get("forecast"):
        forecast = found_or_404(request, get_forecast, _uuid(given))
        if forecast.scenario_id == scenario.pk and (search := search_for(forecast, scenario, offer)):
            return in_text(search), forecast
    return example(scenario.name, offer.setting, next(iter(offer.nodes), "")), None


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise Http404 from None


def _short_form(offer: Offer, data: QueryDict | None = None) -> ExperimentForm:
    choices = setting_choices(offer.nodes, offer.resources, offer.unread)
    return ExperimentForm(offer.queues, choices, data, example=None if data else offer.setting)


def _begin_page(
    request: HttpRequest,
    scenario: Scenario,
    form: ExperimentForm | DocumentForm | None = None,
    *,
    problems: Sequence[Problem] = (),
    status: int = 200,
) -> HttpResponse:
    offer = offered(scenario)
    document, helped = _document(request, scenario, offer)
    context = {
        "scenario": scenario,
        "experiments": scenario_experiments(scenario),
        "form": form if isinstance(form, ExperimentForm) else _short_form(offer),
        "text": form if isinstance(form, DocumentForm) else DocumentForm(initial={"document": document}),
        "helped": helped,
        "problems": problems,
        "is_refused": form is not None,
        "may_edit": scenario.role != Role.VIEWER,  # type: ignore[attr-defined]  # annotated by `visible`
    }
    return render(request, "experiments/begin.html", context, status=status)
