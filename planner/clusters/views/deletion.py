"""The page of a workspace's storage, and deletion after a confirmation that lists what is deleted."""

from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from planner.accounts.models import Workspace
from planner.accounts.selectors.workspaces import memberships
from planner.clusters.selectors.snapshots import clusters, snapshots
from planner.clusters.selectors.usage import (
    Deletable,
    dependent_counts,
    stored_snapshots,
    usage,
)
from planner.clusters.services.deletion import deletion_refusal, thing_delete
from planner.runs.selectors.runs import runs
from planner.web.views.listing import Listing
from planner.web.views.pages import caller


@require_GET
def storage(request: HttpRequest, workspace_id: UUID) -> HttpResponse:
    """Show what a workspace stores and how much space it takes."""
    mine = get_object_or_404(memberships(caller(request)), workspace=workspace_id)
    context = {
        "mine": mine,
        "usage": usage(mine.workspace),
        "snapshots": Listing(stored_snapshots(mine.workspace), name="page", params=request.GET),
        "clusters": clusters(caller(request)).filter(workspace=mine.workspace),
        "keep_days": settings.KEEP_RUNS_DAYS,
        "keep_bytes": settings.KEEP_RUNS_MB * 1e6,
        "may_delete": mine.role != "viewer",
    }
    return render(request, "clusters/storage.html", context)


@require_http_methods(["GET", "POST"])
def run(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Delete a run."""
    return _delete(request, get_object_or_404(runs(caller(request)), pk=run_id), "run")


@require_http_methods(["GET", "POST"])
def snapshot(request: HttpRequest, snapshot_id: UUID) -> HttpResponse:
    """Delete a snapshot with its scenarios and runs."""
    return _delete(request, get_object_or_404(snapshots(caller(request)), pk=snapshot_id), "snapshot")


@require_http_methods(["GET", "POST"])
def cluster(request: HttpRequest, cluster_id: UUID) -> HttpResponse:
    """Delete a cluster with its snapshots."""
    return _delete(request, get_object_or_404(clusters(caller(request)), pk=cluster_id), "cluster")


@require_http_methods(["GET", "POST"])
def workspace(request: HttpRequest, workspace_id: UUID) -> HttpResponse:
    """Delete a workspace with all that is in it."""
    mine = get_object_or_404(memberships(caller(request)), workspace=workspace_id)
    return _delete(request, mine.workspace, "workspace")


def _delete(request: HttpRequest, thing: Deletable, kind: str) -> HttpResponse:
    """Show what is deleted with an object, or delete it."""
    back = reverse("planner:account") if isinstance(thing, Workspace) else _storage(thing.workspace)
    if request.method == "POST":
        thing_delete(thing=thing, user=caller(request))
        messages.success(request, f"The {kind} was deleted.")
        return redirect(back)
    context = {
        "kind": kind,
        "thing": thing,
        "hanging": dependent_counts(thing),
        "back": back,
        "refusal": deletion_refusal(thing=thing, user=caller(request)),
    }
    return render(request, "clusters/delete.html", context)


def _storage(workspace: Workspace) -> str:
    return reverse("planner:storage", args=[workspace.pk])
