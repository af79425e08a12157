"""The pages that start, follow, cancel and show a run."""

from collections.abc import Mapping
from functools import partial
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from planner.runs.forms import RunForm
from planner.runs.models import JobOutcome, Run
from planner.runs.models.outcome import WAITS
from planner.runs.selectors.explain import derivation, flow, job_story
from planner.runs.selectors.figures import queue_lines, resources
from planner.runs.selectors.lists import job_groups
from planner.runs.selectors.runs import job_outcome, jobs_waiting, queue_figures
from planner.runs.selectors.searches import found, search_of
from planner.runs.selectors.stories import (
    job_decisions,
    queue_jobs,
    victims_for_job,
    victims_for_queue,
    victims_of_job,
    victims_of_queue,
)
from planner.runs.services.runs import run_create
from planner.runs.views.run_page import RunPage
from planner.scenarios.services.labels import label
from planner.upgrades.selectors import impact_address
from planner.web.templatetags.quantities import resource_order
from planner.web.views.following import UNCHANGED, seen
from planner.web.views.found import run_or_404, scenario_or_404
from planner.web.views.labels import labelled
from planner.web.views.listing import Listing
from planner.web.views.pages import caller, is_htmx, page_or_part
from planner.work.lifecycle import work_cancel

PARTS = {
    "run": "runs/_run.html",
    "amounts": "runs/_amounts.html",
    "victims": "runs/_victims.html",
    "pending": "runs/_pending.html",
    "decisions": "runs/_decisions.html",
}


@require_POST
def submit(request: HttpRequest, scenario_id: UUID) -> HttpResponse:
    """Start a run of the current revision, with one cycle unless the form says otherwise, and show it."""
    scenario = scenario_or_404(request, scenario_id)
    form = RunForm(request.POST)
    if not form.is_valid():
        messages.warning(request, f"Nothing was run. Cycles: {form.errors['cycles'][0]}")
        return redirect("planner:scenario-detail", scenario.pk)
    options = {"cycles": form.cleaned_data["cycles"] or 1}
    run = run_create(scenario=scenario, options=options, user=caller(request))
    return redirect("planner:run-detail", run.pk)


@require_GET
def detail(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Show a run; answer a poll with 204 if state and progress are unchanged."""
    run = run_or_404(request, run_id)
    if run.new_release:
        return redirect(impact_address(run))
    if run.probe is not None:
        return redirect("planner:run-nodes", run.explains_id)
    if run.job:
        return redirect("planner:run-job", run.explains_id, *run.job.split("/", 1))
    if request.GET.get("seen") == seen(run):
        return HttpResponse(status=UNCHANGED)
    return _page(request, run)


def _page(
    request: HttpRequest, run: Run, changed: Mapping[str, Any] | None = None, status: int = 200
) -> HttpResponse:
    context = {**_context(request, run), **(changed or {})}
    return page_or_part(request, "runs/detail.html", PARTS, context, status)


def _context(request: HttpRequest, run: Run) -> dict[str, Any]:
    return {"run": run, "page": RunPage(run, request.GET), "seen": seen(run)}


@require_POST
def labels(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Set the name, note and tags of a run, or archive it."""
    run = run_or_404(request, run_id)
    keep = partial(label, thing=run, user=caller(request))
    return labelled(request, keep, partial(_page, request, run), reverse("planner:run-detail", args=[run.pk]))


@require_POST
def cancel(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Request a run to stop and show its state."""
    run = work_cancel(work=run_or_404(request, run_id), user=caller(request))
    if is_htmx(request):
        return render(request, PARTS["run"], _context(request, run))
    return redirect("planner:run-detail", run.pk)


@require_GET
def queue(request: HttpRequest, run_id: UUID, queue: str) -> HttpResponse:
    """Show the outcome of a run for one queue."""
    run = run_or_404(request, run_id)
    rows = queue_figures(run)
    figures = next((row for row in rows if row.queue == queue), None)
    if figures is None:
        raise Http404
    lines = queue_lines(rows, "cpu", jobs_waiting(run))
    jobs = queue_jobs(run, queue)
    context = {
        "run": run,
        "row": figures,
        "line": next(line for line in lines if line.figures.queue == queue),
        "resources": resource_order(resources([figures]) | set(figures.real_capability)),
        "derivation": derivation(run, queue),
        "jobs": Listing(jobs, name="jobs", params=request.GET),
        "reasons": job_groups(jobs.filter(WAITS), "gate"),
        "flows": [link for link in flow(run) if queue in (link.giver, link.taker)],
        "taken": Listing(victims_of_queue(run, queue), name="taken", params=request.GET),
        "given": Listing(victims_for_queue(run, queue), name="given", params=request.GET),
    }
    return render(request, "runs/queue.html", context)


@require_GET
def job(request: HttpRequest, run_id: UUID, namespace: str, name: str) -> HttpResponse:
    """Show the outcome of a run for one job."""
    run = run_or_404(request, run_id)
    outcome = job_or_404(run, f"{namespace}/{name}")
    key = outcome.job
    context = {
        "run": run,
        "job": outcome,
        "story": job_story(run, key),
        **search_context(run, key),
        "decisions": job_decisions(run, key),
        "taken": victims_of_job(run, key),
        "given": victims_for_job(run, key),
    }
    return render(request, "runs/job.html", context)


def job_or_404(run: Run, job: str) -> JobOutcome:
    """Return a job of a run by the name of its PodGroup or its vcjob."""
    outcome = job_outcome(run, job)
    if outcome is None:
        raise Http404
    return outcome


def search_context(run: Run, job: str) -> dict[str, Any]:
    """Return the context of the part about unblocking: the search and its result."""
    search = search_of(run, job)
    return {"search": search, "found": found(search) if search else None}
