"""What does a workspace keep, and how does something of it go for good? What goes along is shown first."""

import math
from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods

from planner.accounts.models import Workspace
from planner.accounts.selectors.workspaces import memberships
from planner.accounts.services.logins import TooSoon
from planner.accounts.views.logging_in import address_of
from planner.clusters.models import Cluster
from planner.clusters.selectors.usage import (
    Deletable,
    hanging_on,
    hanging_on_account,
    sole_admin_of,
    stored_snapshots,
    usage,
)
from planner.clusters.services.deletion import account_delete, thing_delete
from planner.errors import Invalid
from planner.runs.selectors.runs import runs
from planner.scenarios.selectors.scenarios import clusters, snapshots
from planner.web.views.listing import Listing
from planner.web.views.pages import caller


@login_required
@require_GET
def storage(request: HttpRequest, workspace_id: UUID) -> HttpResponse:
    """Show what a workspace keeps and how much room it takes."""
    mine = get_object_or_404(memberships(caller(request)), workspace=workspace_id)
    context = {
        "mine": mine,
        "usage": usage(mine.workspace),
        "snapshots": Listing(stored_snapshots(mine.workspace), name="page", asked=request.GET),
        "clusters": Cluster.objects.filter(workspace=mine.workspace),
        "keep_days": settings.KEEP_RUNS_DAYS,
        "keep_bytes": settings.KEEP_RUNS_MB * 1e6,
        "may_delete": mine.role != "viewer",
    }
    return render(request, "clusters/storage.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def run(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Delete a run."""
    return _delete(request, get_object_or_404(runs(caller(request)), pk=run_id), "run")


@login_required
@require_http_methods(["GET", "POST"])
def snapshot(request: HttpRequest, snapshot_id: UUID) -> HttpResponse:
    """Delete a snapshot with its scenarios and runs."""
    return _delete(request, get_object_or_404(snapshots(caller(request)), pk=snapshot_id), "snapshot")


@login_required
@require_http_methods(["GET", "POST"])
def cluster(request: HttpRequest, cluster_id: UUID) -> HttpResponse:
    """Delete a cluster with its snapshots."""
    return _delete(request, get_object_or_404(clusters(caller(request)), pk=cluster_id), "cluster")


@login_required
@require_http_methods(["GET", "POST"])
def workspace(request: HttpRequest, workspace_id: UUID) -> HttpResponse:
    """Delete a workspace with all that is in it."""
    mine = get_object_or_404(memberships(caller(request)), workspace=workspace_id)
    return _delete(request, mine.workspace, "workspace")


def _delete(request: HttpRequest, thing: Deletable, kind: str) -> HttpResponse:
    """Show what goes with a thing; delete it."""
    back = reverse("planner:account") if isinstance(thing, Workspace) else _storage(thing.workspace)
    if request.method == "POST":
        thing_delete(thing=thing, user=caller(request))
        messages.success(request, f"The {kind} is deleted.")
        return redirect(back)
    context = {"kind": kind, "thing": thing, "hanging": hanging_on(thing), "back": back}
    return render(request, "clusters/delete.html", context)


def _storage(workspace: Workspace) -> str:
    return reverse("planner:storage", args=[workspace.pk])


@never_cache
@sensitive_post_parameters("confirmation")
@login_required
@require_http_methods(["GET", "POST"])
def account(request: HttpRequest) -> HttpResponse:
    """Show what goes with the caller's own account; delete it."""
    if request.method == "GET":
        return _account_page(request)
    typed = request.POST.get("confirmation", "")
    try:
        account_delete(user=caller(request), confirmation=typed, address=address_of(request))
    except Invalid as error:
        return _account_page(request, problems=error.problems, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    except TooSoon as error:
        page = _account_page(request, paused=error, status=HTTPStatus.TOO_MANY_REQUESTS)
        page["Retry-After"] = str(math.ceil(error.wait.total_seconds()))
        return page
    logout(request)
    return redirect("login")


def _account_page(request: HttpRequest, *, status: int = HTTPStatus.OK, **more: Any) -> HttpResponse:
    user = caller(request)
    context = {
        "hanging": hanging_on_account(user),
        "alone": sole_admin_of(user),
        "has_password": user.has_usable_password(),
        **more,
    }
    return render(request, "accounts/account_delete.html", context, status=status)
