"""The pages of an import: read, preview, save; workers read large files."""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from planner.accounts.selectors.workspaces import editable
from planner.clusters.forms import LONGEST_NAME, ClusterForm
from planner.clusters.models import Import
from planner.clusters.selectors.imports import get_import, problems_of, recent_imports
from planner.clusters.services.imports import (
    ClusterRead,
    cluster_read_apart,
    import_create,
    is_large,
    packed_files,
)
from planner.clusters.services.snapshots import preview_of, preview_save, preview_store
from planner.errors import Gone, Invalid, RoleTooLow
from planner.runs.services.runs import run_create
from planner.scenarios.models import Scenario
from planner.scenarios.selectors.scenarios import scenarios
from planner.scenarios.services.scenarios import scenario_create
from planner.web.views.following import UNCHANGED, seen
from planner.web.views.pages import INVALID, caller, found_or_404, is_htmx, page_or_part
from planner.web.views.workspace import workspace_for_import
from planner.work.lifecycle import work_cancel
from planning.rows import Problem

ID = "import-%s"
"""The labels of the form's fields."""
IN_A_REQUEST_BYTES = 2_000_000
"""How much text is read during the request, about a second; a worker reads more."""
PARTS = {"import": "clusters/_import.html"}
SPENT = (
    "This preview was saved already, or it is older than an hour."
    " Look for its scenario, or preview the files again."
)
BEGUN = "Imported. The scenario starts as an exact copy of the cluster; change a queue and run it."


@require_http_methods(["GET", "POST"])
def import_cluster(request: HttpRequest) -> HttpResponse:
    """Show the form; with files or a text, show a preview and save nothing.

    Larger files go to a worker, and the browser to the page of that import. A viewer reads why there is no
    form.
    """
    try:
        workspace = workspace_for_import(request)
    except RoleTooLow as refusal:
        if request.method != "GET":
            raise
        return render(request, "clusters/import.html", {"place": "import", "refusal": refusal})
    if request.method == "GET":
        return _page(request, ClusterForm(auto_id=ID))
    form = ClusterForm(request.POST, request.FILES, auto_id=ID)
    if not form.is_valid():
        return _page(request, form, status=INVALID)
    files = form.sent()
    facts: dict[str, Any] = {
        "workspace": workspace,
        "name": (form.cleaned_data["name"] or files[0][0].partition(".")[0])[:LONGEST_NAME],
        "provenance": ", ".join(label for label, _ in files)[:500],
        "user": caller(request),
    }
    if is_large(files, IN_A_REQUEST_BYTES):
        return redirect("planner:import-detail", import_create(files=packed_files(files), **facts).pk)
    try:
        read = cluster_read_apart(files)
    except Invalid as error:
        return _page(request, form, problems=error.problems, status=INVALID)
    if read.content is None:
        return _page(request, form, read=read, problems=read.problems, status=INVALID)
    preview = preview_store(read=read, **facts)
    return _page(request, form, read=read, problems=read.problems, draft=str(preview.pk))


@require_GET
def detail(request: HttpRequest, import_id: UUID) -> HttpResponse:
    """Show an import by a worker; answer a poll with 204 if nothing changed."""
    cluster_import = import_or_404(request, import_id)
    if request.GET.get("seen") == seen(cluster_import):
        return HttpResponse(status=UNCHANGED)
    return page_or_part(request, "clusters/import_detail.html", PARTS, _context(request, cluster_import))


@require_POST
def cancel(request: HttpRequest, import_id: UUID) -> HttpResponse:
    """Request an import to stop and show its state."""
    cluster_import = work_cancel(work=import_or_404(request, import_id), user=caller(request))
    if is_htmx(request):
        return render(request, PARTS["import"], _context(request, cluster_import))
    return redirect("planner:import-detail", cluster_import.pk)


@require_POST
def begin(request: HttpRequest, import_id: UUID) -> HttpResponse:
    """Create a scenario on the snapshot of an import, and run it if requested."""
    cluster_import = import_or_404(request, import_id)
    if cluster_import.snapshot is None:
        raise Http404
    scenario = scenario_create(
        snapshot=cluster_import.snapshot, name=cluster_import.name, owner=caller(request)
    )
    return _begun(request, scenario)


@require_POST
def save(request: HttpRequest) -> HttpResponse:
    """Store a previewed cluster as a snapshot and open its first scenario, or a run of it."""
    preview = preview_of(user=caller(request), preview_id=request.POST.get("draft", ""))
    if preview is None:
        return _spent(request)
    try:
        with transaction.atomic():  # without its scenario, no snapshot is kept, and the preview remains
            snapshot = preview_save(preview=preview, user=caller(request))
            scenario = scenario_create(snapshot=snapshot, name=snapshot.name, owner=caller(request))
    except Gone:
        return _spent(request)
    return _begun(request, scenario)


def _spent(request: HttpRequest) -> HttpResponse:
    """Return to the form, as a preview cannot be saved, or not again."""
    messages.warning(request, SPENT)
    return redirect("planner:import")


def _begun(request: HttpRequest, scenario: Scenario) -> HttpResponse:
    if "run" in request.POST:
        return redirect("planner:run-detail", run_create(scenario=scenario, user=caller(request)).pk)
    messages.success(request, BEGUN)
    return redirect("planner:scenario-detail", scenario.pk)


def _page(
    request: HttpRequest,
    form: ClusterForm,
    *,
    problems: Sequence[Problem] = (),
    read: ClusterRead | None = None,
    draft: str = "",
    status: int = HTTPStatus.OK,
) -> HttpResponse:
    """Return the page with the entered values, the preview and the problems."""
    context = {
        "place": "import",
        "form": form,
        "had_files": bool(request.FILES),
        "read": read,
        "problems": problems,
        "errors": sum(problem.is_error for problem in problems) + sum(map(len, form.errors.values())),
        "draft": draft,
        "imports": recent_imports(caller(request)),
        "into": workspace_for_import(request),
        "editable": editable(caller(request)),
    }
    return render(request, "clusters/import.html", context, status=status)


def import_or_404(request: HttpRequest, import_id: UUID) -> Import:
    """Return an import of the caller's workspaces, or raise Http404."""
    return found_or_404(request, get_import, import_id)


def _context(request: HttpRequest, cluster_import: Import) -> dict[str, Any]:
    """Return the context of an import's page."""
    problems = problems_of(cluster_import)
    return {
        "place": "import",
        "import": cluster_import,
        "seen": seen(cluster_import),
        "problems": problems,
        "errors": sum(problem.is_error for problem in problems),
        "scenario": scenarios(caller(request)).filter(snapshot=cluster_import.snapshot_id).first(),
    }
