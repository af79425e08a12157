"""How does a workload trace come in, and what is in it?"""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from planner.accounts.selectors.workspaces import memberships
from planner.clusters.models import Snapshot
from planner.errors import Invalid
from planner.forecasts.charts import arrivals_figure
from planner.forecasts.models import WorkloadTrace
from planner.forecasts.selectors.traces import get_trace, trace_preview, traces
from planner.forecasts.services.traces import (
    file_text,
    trace_create,
    trace_delete,
    trace_generate,
    trace_of_snapshot,
)
from planner.scenarios.selectors.scenarios import snapshots
from planner.web.views.listing import Listing
from planner.web.views.pages import INVALID, caller, found_or_404
from planner.web.views.workspace import present_membership, workspace_for_import
from planning.forecasts.clock import HOUR, duration
from planning.forecasts.intake import FORMATS
from planning.rows import Problem


@login_required
@require_http_methods(["GET", "POST"])
def listing(request: HttpRequest) -> HttpResponse:
    """Show the traces of the workspace, and take a new one: a file, a text, or a pattern to draw from."""
    if request.method == "GET":
        return _page(request)
    try:
        trace = _made(request)
    except Invalid as error:
        return _page(request, problems=error.problems, status=INVALID)
    messages.success(request, f"Trace {trace.name} is kept.")
    return redirect("planner:trace", trace.pk)


@login_required
@require_GET
def detail(request: HttpRequest, trace_id: UUID) -> HttpResponse:
    """Show what a trace brings, when and for which queue."""
    trace = trace_or_404(request, trace_id)
    preview = trace_preview(trace)
    context = {
        "trace": trace,
        "queues": Listing(preview.queues, name="page", params=request.GET),
        "figures": {"arrivals": arrivals_figure(preview.arrivals, preview.bar_seconds)},
        "bar_seconds": preview.bar_seconds,
        "sizes": preview.sizes.items(),
        "run_times": preview.run_times.items(),
    }
    return render(request, "forecasts/trace.html", context)


@login_required
@require_POST
def delete(request: HttpRequest, trace_id: UUID) -> HttpResponse:
    """Delete a trace."""
    trace = trace_or_404(request, trace_id)
    trace_delete(trace=trace, user=caller(request))
    messages.success(request, f"Trace {trace.name} is deleted; forecasts of it stay.")
    return redirect("planner:traces")


def trace_or_404(request: HttpRequest, trace_id: UUID | str) -> WorkloadTrace:
    """Return a trace of a workspace of the caller."""
    try:
        key = UUID(str(trace_id))
    except ValueError:
        raise Http404 from None
    return found_or_404(request, get_trace, key)


def _made(request: HttpRequest) -> WorkloadTrace:
    user = caller(request)
    workspace = workspace_for_import(request)
    name, file = request.POST.get("name", "").strip(), request.FILES.get("file")
    facts: dict[str, Any] = {"workspace": workspace, "user": user}
    if request.POST.get("how") == "generate":
        pattern, seconds, seed = _pattern(request)
        return trace_generate(
            name=name or "Generated", patterns=[pattern], seconds=seconds, seed=seed, **facts
        )
    if request.POST.get("how") == "snapshot":
        snapshot = _snapshot(request)
        since = request.POST.get("since", "").strip()
        return trace_of_snapshot(name=name or snapshot.name, snapshot=snapshot, since=since, **facts)
    if file is not None and file.name:
        origin = f"file {file.name}"[:500]
        return trace_create(name=name or file.name, text=file_text(file), provenance=origin, **facts)
    text = request.POST.get("text", "")
    if not text.strip():
        raise Invalid([Problem("trace.empty", "error", "There is no file and no text.", path="file")])
    return trace_create(name=name or "Pasted", text=text, provenance="pasted", **facts)


def _snapshot(request: HttpRequest) -> Snapshot:
    """Return the snapshot that was chosen, or answer 404."""
    try:
        return snapshots(caller(request)).get(pk=UUID(request.POST.get("snapshot", "")))
    except (Snapshot.DoesNotExist, ValueError):
        raise Http404 from None


def _pattern(request: HttpRequest) -> tuple[dict[str, Any], float, int]:
    """Return the pattern that was typed, for how long, and the seed."""
    typed, problems = request.POST, []

    def read(name: str, default: str, convert: Any) -> Any:
        text = typed.get(name, "").strip() or default
        try:
            value = convert(text)
        except ValueError:
            value = None
        if value is None or value <= 0:
            message = f"{text!r} is not a value above 0."
            problems.append(Problem("trace.pattern", "error", message, path=name, fix=f"Write {default}."))
        return value

    rate = read("jobs_per_hour", "10", float)
    run, seconds = read("run_median", "20m", duration), read("seconds", "1d", duration)
    pods, seed = read("pods", "1", int), read("seed", "1", int)
    queue = typed.get("queue", "").strip()
    if not queue:
        problems.append(Problem("trace.pattern", "error", "The queue has no name.", path="queue"))
    if problems:
        raise Invalid(problems)
    requests = {name: typed.get(name, "").strip() for name in ("cpu", "memory")}
    pattern = {
        "queue": queue,
        "jobs_per_hour": rate,
        "run_median": run,
        "pods": {str(pods): 1.0},
        "requests": {name: text for name, text in requests.items() if text},
    }
    return pattern, seconds, seed


def _page(request: HttpRequest, *, problems: Any = (), status: int = 200) -> HttpResponse:
    here = present_membership(request, memberships(caller(request)))
    found = traces(caller(request)).filter(workspace=here.workspace if here else None)
    context = {
        "traces": Listing(found, name="page", params=request.GET),
        "snapshots": snapshots(caller(request)).filter(workspace=here.workspace if here else None)[:50],
        "problems": problems,
        "typed": request.POST,
        "formats": FORMATS,
        "here": here,
        "hour": HOUR,
        "place": "traces",
    }
    return render(request, "forecasts/traces.html", context, status=status)
