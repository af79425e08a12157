"""The current workspace of a browser."""

from collections.abc import Iterable

from django.http import HttpRequest

from planner.accounts.models import Membership, Workspace
from planner.accounts.selectors.workspaces import editable
from planner.accounts.services.members import workspace_require
from planner.web.views.pages import caller

CHOSEN = "workspace"
"""The session key of the selected workspace."""


def present_membership(request: HttpRequest, mine: Iterable[Membership]) -> Membership | None:
    """Return the membership of the workspace that the caller selected last, otherwise the first."""
    by_id = {str(member.workspace_id): member for member in mine}
    return by_id.get(request.session.get(CHOSEN, "")) or next(iter(by_id.values()), None)


def workspace_for_import(request: HttpRequest) -> Workspace:
    """Return the workspace of an import: the one in the form, otherwise the current one.

    The form's choice becomes the current workspace. If the account may only view the current one, it is the
    first that it may edit. Raises RoleTooLow if there is none.
    """
    mine = {str(member.workspace_id): member.workspace for member in editable(caller(request))}
    if (named := request.POST.get("workspace", "")) in mine:
        request.session[CHOSEN] = named
    return mine.get(request.session.get(CHOSEN, "")) or workspace_require(user=caller(request))
