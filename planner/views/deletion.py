"""What does a workspace keep, and how does something of it go for good? What goes along is shown first."""

from collections.abc import Callable
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods
from knox.models import AuthToken

from planner.models import Cluster, Membership, Scenario, User
from planner.selectors.runs import runs
from planner.selectors.scenarios import snapshots
from planner.selectors.usage import Deletable, hanging_on, sole_admin_of, stored_snapshots, usage
from planner.selectors.workspaces import memberships, visible
from planner.services.deletion import account_delete, thing_delete
from planner.services.errors import Invalid
from planner.views.listing import Listing
from planner.views.pages import caller


def _workspace(user: User, id: UUID) -> Deletable:
    return get_object_or_404(memberships(user), workspace=id).workspace


FINDERS: dict[str, Callable[[User, UUID], Deletable]] = {
    "run": lambda user, id: get_object_or_404(runs(user), pk=id),
    "scenario": lambda user, id: get_object_or_404(visible(Scenario.objects.all(), user), pk=id),
    "snapshot": lambda user, id: get_object_or_404(snapshots(user), pk=id),
    "cluster": lambda user, id: get_object_or_404(visible(Cluster.objects.all(), user), pk=id),
    "workspace": _workspace,
}
"""What can be deleted, by the word in its address."""


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
    return render(request, "planner/storage.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def delete(request: HttpRequest, kind: str, thing_id: UUID) -> HttpResponse:
    """Show what goes with a thing; delete it."""
    if kind not in FINDERS:
        raise Http404
    thing = FINDERS[kind](caller(request), thing_id)
    if request.method == "POST":
        after = _after(thing, kind)
        thing_delete(thing=thing, user=caller(request))
        messages.success(request, f"The {kind} is deleted.")
        return redirect(after)
    context = {"kind": kind, "thing": thing, "hanging": hanging_on(thing), "back": _after(thing, kind)}
    return render(request, "planner/delete.html", context)


def _after(thing: Deletable, kind: str) -> str:
    if kind == "workspace":
        return reverse("planner:account")
    return reverse("planner:storage", args=[getattr(thing, "workspace_id")])  # noqa: B009 - all but a workspace


@login_required
@require_http_methods(["GET", "POST"])
def account(request: HttpRequest) -> HttpResponse:
    """Show what goes with the caller's own account; delete it."""
    user = caller(request)
    if request.method == "POST":
        try:
            account_delete(user=user)
        except Invalid as error:
            messages.warning(request, f"{error.problems[0].message} {error.problems[0].fix}")
            return redirect("planner:account-delete")
        logout(request)
        return redirect("login")
    context = {
        "memberships": Membership.objects.filter(user=user).count(),
        "tokens": AuthToken.objects.filter(user=user).count(),
        "alone": sole_admin_of(user),
    }
    return render(request, "planner/account_delete.html", context)
