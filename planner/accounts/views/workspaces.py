"""The pages that create, switch, rename and leave a workspace."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from planner.accounts.forms import WorkspaceForm
from planner.accounts.models import Membership
from planner.accounts.selectors.workspaces import memberships
from planner.accounts.services.members import member_remove
from planner.accounts.services.workspaces import workspace_create, workspace_rename
from planner.accounts.views.account import account_page
from planner.accounts.views.members import members_page
from planner.errors import Invalid
from planner.web.views.pages import INVALID, caller, warn
from planner.web.views.workspace import CHOSEN


@require_POST
def make(request: HttpRequest) -> HttpResponse:
    """Create a workspace and switch to it."""
    form = WorkspaceForm(request.POST, auto_id="workspace-%s")
    try:
        member = workspace_create(**form.typed(), user=caller(request))
    except Invalid as error:
        form.refuse(error.problems)
        return account_page(request, workspace=form, status=INVALID)
    request.session[CHOSEN] = str(member.workspace_id)
    messages.success(request, f"Created. You now work in {member.workspace}; invite others here.")
    return redirect("planner:members", member.workspace_id)


@require_POST
def switch(request: HttpRequest, workspace_id: UUID) -> HttpResponse:
    """Switch to another workspace."""
    member = _membership(request, workspace_id)
    request.session[CHOSEN] = str(member.workspace_id)
    return redirect("planner:home")


@require_POST
def rename(request: HttpRequest, workspace_id: UUID) -> HttpResponse:
    """Rename a workspace."""
    member = _membership(request, workspace_id)
    form = WorkspaceForm(request.POST, auto_id="workspace-%s")
    try:
        workspace_rename(workspace=member.workspace, **form.typed(), user=caller(request))
    except Invalid as error:
        form.refuse(error.problems)
        return members_page(request, _membership(request, workspace_id), workspace=form, status=INVALID)
    return redirect("planner:members", workspace_id)


@require_POST
def leave(request: HttpRequest, workspace_id: UUID) -> HttpResponse:
    """Leave a workspace."""
    member = _membership(request, workspace_id)
    try:
        member_remove(membership=member, user=caller(request))
        messages.success(request, f"You left {member.workspace}.")
    except Invalid as error:
        warn(request, error.problems)
    return redirect("planner:account")


def _membership(request: HttpRequest, workspace_id: UUID) -> Membership:
    return get_object_or_404(memberships(caller(request)), workspace=workspace_id)
