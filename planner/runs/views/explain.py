"""The pages that explain the decisions of a run."""

from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from planner.runs.charts import flow_figure
from planner.runs.models import Victim
from planner.runs.selectors.explain import flow, victim_neighbours, victim_story, victims_together
from planner.runs.selectors.figures import most_contested
from planner.runs.selectors.runs import queue_figures
from planner.runs.selectors.searches import search_of
from planner.runs.selectors.stories import (
    SHOWN,
    node_at_end,
    node_decisions,
    node_pods,
    pod_decisions,
    pod_place,
    pod_waits_for,
    pods_by_step,
    victims_around_pod,
    victims_on_node,
)
from planner.runs.selectors.verdicts import run_verdict
from planner.runs.services.searches import change_apply, search_create
from planner.runs.views.runs import job_or_404, search_context
from planner.runs.views.step_page import StepPage
from planner.web.templatetags.quantities import resource_order
from planner.web.views.found import run_or_404
from planner.web.views.listing import Listing
from planner.web.views.pages import caller, is_htmx
from planning.object_states import node_reason, pod_reason


@require_GET
def victim(request: HttpRequest, run_id: UUID, order: int) -> HttpResponse:
    """Show why one pod was selected as a victim."""
    run = run_or_404(request, run_id)
    try:
        row = run.victims.get(order=order)
    except Victim.DoesNotExist:
        raise Http404 from None
    story = victim_story(run, row)
    context = {
        "run": run,
        "victim": row,
        "story": story,
        "near": victim_neighbours(run, row),
        "together": victims_together(run, row, story) if story else (),
        "resources": resource_order({**story.needed, **story.freed}) if story else (),
    }
    return render(request, "runs/victim.html", context)


@require_GET
def lost(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Show how much each queue lost to each other queue."""
    run = run_or_404(request, run_id)
    rows = flow(run)
    resources = resource_order({"pods", *(name for row in rows for name in row.amounts)})
    wanted = request.GET.get("resource", "")
    resource = wanted if wanted in resources else most_contested(queue_figures(run), resources)
    verdict = run_verdict(run, None)
    context = {
        "run": run,
        "rows": Listing(rows, name="page", params=request.GET),
        "resources": resources,
        "resource": resource,
        "figure": flow_figure(rows, resource),
        "freed": next((line for line in verdict.lines if line.id == "evictions"), None) if verdict else None,
    }
    return render(request, "runs/flow.html", context)


@require_GET
def step(request: HttpRequest, run_id: UUID, seq: int) -> HttpResponse:
    """Show the state of queues and nodes at one step, and the steps around it."""
    page = StepPage(run_or_404(request, run_id), seq, request.GET)
    if not 0 <= seq <= page.total:
        raise Http404
    return render(request, "runs/step.html", {"run": page.run, "page": page})


@require_GET
def pod(request: HttpRequest, run_id: UUID, namespace: str, name: str) -> HttpResponse:
    """Show the outcome of a run for one pod."""
    run = run_or_404(request, run_id)
    key = f"{namespace}/{name}"
    place = pod_place(run, key)
    steps = list(pod_decisions(run, key))
    if place is None and not steps:
        raise Http404
    context = {
        "run": run,
        "pod": key,
        "place": place,
        "reason": pod_reason(key, place, steps, pod_waits_for(run, place)),
        "decisions": steps,
        "victims": victims_around_pod(run, key),
    }
    return render(request, "runs/pod.html", context)


@require_GET
def node(request: HttpRequest, run_id: UUID, node: str) -> HttpResponse:
    """Show the outcome of a run for one node."""
    run = run_or_404(request, run_id)
    stands = node_at_end(run, node)
    if stands is None:
        raise Http404
    steps = node_decisions(run, node)
    context = {
        "run": run,
        "node": stands,
        "reason": node_reason(stands, pods_by_step(steps)),
        "resources": resource_order({*stands.idle, *stands.releasing, *stands.pipelined}),
        "pods": node_pods(run, node),
        "decisions": steps[:SHOWN],
        "victims": victims_on_node(run, node),
    }
    return render(request, "runs/node.html", context)


@require_http_methods(["GET", "POST"])
def unblock(request: HttpRequest, run_id: UUID, namespace: str, name: str) -> HttpResponse:
    """Start a search for what would unblock a job, or show its progress."""
    run = run_or_404(request, run_id)
    job = job_or_404(run, f"{namespace}/{name}")
    if request.method == "POST":
        search_create(run=run, job=job.job, user=caller(request))
    if not is_htmx(request):
        return redirect("planner:run-job", run.pk, namespace, name)
    return render(request, "runs/_unblock.html", {"run": run, "job": job, **search_context(run, job.job)})


@require_POST
def unblock_try(request: HttpRequest, run_id: UUID, namespace: str, name: str, number: int) -> HttpResponse:
    """Create a scenario with one of the changes that a search found, and redirect to it."""
    run = run_or_404(request, run_id)
    search = search_of(run, job_or_404(run, f"{namespace}/{name}").job)
    if search is None or search.result is None:
        raise Http404
    try:
        branch = change_apply(search=search, number=number, user=caller(request))
    except IndexError:
        raise Http404 from None
    return redirect("planner:scenario-detail", branch.pk)
