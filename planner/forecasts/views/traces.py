"""The pages that import and show workload traces."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from planner.accounts.models import Membership, Workspace
from planner.accounts.selectors.workspaces import memberships
from planner.clusters.selectors.snapshots import snapshots
from planner.errors import Invalid
from planner.forecasts.charts import arrivals_figure
from planner.forecasts.forms.traces import PatternForm, SnapshotJobsForm, TraceForm
from planner.forecasts.models import WorkloadTrace
from planner.forecasts.selectors.traces import get_trace, traces
from planner.forecasts.services.traces import (
    TraceRead,
    trace_create,
    trace_delete,
    trace_of_file,
    trace_of_patterns,
    trace_of_snapshot,
    trace_of_text,
    trace_preview,
)
from planner.web.forms import TypedForm
from planner.web.views.listing import Listing
from planner.web.views.pages import INVALID, caller, found_or_404
from planner.web.views.workspace import present_membership, workspace_for_import
from planning.forecasts.trace_texts import FORMATS
from planning.rows import Problem


@require_http_methods(["GET", "POST"])
def listing(request: HttpRequest) -> HttpResponse:
    """Show the traces of the workspace, and store a new one: a file, a text, or generated from a pattern."""
    here = present_membership(request, memberships(caller(request)))
    ways = _forms(request, here)
    if request.method == "GET":
        return _page(request, here, ways)
    form = ways.get(request.POST.get("how", ""), ways[""])
    try:
        trace = _create(request, form)
    except Invalid as error:
        form.refuse(error.problems)
        return _page(request, here, ways, problems=error.problems, status=INVALID)
    messages.success(request, f"Trace {trace.name} is saved.")
    return redirect("planner:trace", trace.pk)


@require_GET
def detail(request: HttpRequest, trace_id: UUID) -> HttpResponse:
    """Show the arrivals of a trace over time and by queue."""
    trace = trace_or_404(request, trace_id)
    try:
        preview = trace_preview(trace)
    except Invalid as error:
        [problem] = error.problems
        messages.warning(request, f"Trace {trace.name} cannot be shown. {problem.message} {problem.fix}")
        return redirect("planner:traces")
    context = {
        "trace": trace,
        "devices": preview.devices,
        "queues": Listing(preview.queues, name="page", params=request.GET),
        "figures": {"arrivals": arrivals_figure(preview.arrivals, preview.bar_seconds)},
        "bar_seconds": preview.bar_seconds,
        "sizes": preview.sizes.items(),
        "run_times": preview.run_times.items(),
    }
    return render(request, "forecasts/trace.html", context)


@require_POST
def delete(request: HttpRequest, trace_id: UUID) -> HttpResponse:
    """Delete a trace."""
    trace = trace_or_404(request, trace_id)
    trace_delete(trace=trace, user=caller(request))
    messages.success(request, f"Trace {trace.name} was deleted; its forecasts stay.")
    return redirect("planner:traces")


def trace_or_404(request: HttpRequest, trace_id: UUID | str) -> WorkloadTrace:
    """Return a trace of the caller's workspaces, or raise Http404."""
    try:
        key = UUID(str(trace_id))
    except ValueError:
        raise Http404 from None
    return found_or_404(request, get_trace, key)


def _create(request: HttpRequest, form: TypedForm) -> WorkloadTrace:
    """Store the trace that a form describes; raise Invalid."""
    workspace, typed = workspace_for_import(request), form.typed()
    read, name = _read(form, typed, workspace)
    return trace_create(workspace=workspace, name=typed["name"] or name, read=read, user=caller(request))


def _read(form: TypedForm, typed: Mapping[str, Any], workspace: Workspace) -> tuple[TraceRead, str]:
    """Return the trace that a form describes and its name if none is typed; raise Invalid."""
    if isinstance(form, PatternForm):
        drawn = {"seconds": typed["seconds"], "seed": typed["seed"]}
        return trace_of_patterns(patterns=[form.pattern()], **drawn), "Generated"
    if isinstance(form, SnapshotJobsForm):
        snapshot = typed["snapshot"]
        return trace_of_snapshot(workspace=workspace, snapshot=snapshot, since=typed["since"]), snapshot.name
    if file := typed["file"]:
        return trace_of_file(file=file, provenance=f"file {file.name}"[:500]), file.name
    return trace_of_text(text=typed["text"], provenance="pasted"), "Pasted"


def _forms(request: HttpRequest, here: Membership | None) -> dict[str, TypedForm]:
    """Return a form for each way to create a trace, by the value of `how`."""
    owned = snapshots(caller(request)).filter(workspace=here.workspace if here else None)
    posted = {"data": request.POST, "files": request.FILES}
    how = request.POST.get("how", "") if request.method == "POST" else None
    return {
        "": TraceForm(auto_id="upload-%s", **(posted if how == "" else {})),
        "snapshot": SnapshotJobsForm(owned, auto_id="own-%s", **(posted if how == "snapshot" else {})),
        "generate": PatternForm(auto_id="pattern-%s", **(posted if how == "generate" else {})),
    }


def _page(
    request: HttpRequest,
    here: Membership | None,
    ways: Mapping[str, TypedForm],
    *,
    problems: Sequence[Problem] = (),
    status: int = 200,
) -> HttpResponse:
    found = traces(caller(request)).filter(workspace=here.workspace if here else None)
    context = {
        "traces": Listing(found, name="page", params=request.GET),
        "upload": ways[""],
        "own": ways["snapshot"],
        "pattern": ways["generate"],
        "problems": problems,
        "is_refused": status == INVALID,
        "formats": FORMATS,
        "here": here,
        "place": "traces",
    }
    return render(request, "forecasts/traces.html", context, status=status)
