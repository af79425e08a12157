"""In which workspace does the browser work?"""

from collections.abc import Iterable

from django.http import HttpRequest

from planner.accounts.models import Membership, Workspace
from planner.accounts.selectors.workspaces import editable
from planner.accounts.services.members import workspace_require
from planner.web.views.pages import caller

CHOSEN = "workspace"
"""The key of the session under which the chosen workspace is kept."""


def present_membership(request: HttpRequest, mine: Iterable[Membership]) -> Membership | None:
    """Return the membership of the workspace that the caller chose last, else the first."""
    by_id = {str(member.workspace_id): member for member in mine}
    return by_id.get(request.session.get(CHOSEN, "")) or next(iter(by_id.values()), None)


def workspace_for_import(request: HttpRequest) -> Workspace:
    """Return where an import goes: where the form says, else the present workspace.

    What the form says holds for what comes after it. Where the account may only look at the present one, it
    is the first that it may edit. Raises RoleTooLow when there is none.
    """
    mine = {str(member.workspace_id): member.workspace for member in editable(caller(request))}
    if (named := request.POST.get("workspace", "")) in mine:
        request.session[CHOSEN] = named
    return mine.get(request.session.get(CHOSEN, "")) or workspace_require(user=caller(request))
