"""The workspace that a command names, by name, or by id where several have that name."""

from uuid import UUID

from django.core.management.base import CommandError
from django.db.models import Q

from planner.accounts.models import Workspace
from planner.accounts.selectors.workspaces import default_workspace


def workspace_named(text: str | None) -> Workspace | None:
    """Return the workspace that a command names; without a name the first of the installation."""
    if text is None:
        return default_workspace()
    try:
        named = Q(pk=UUID(text))
    except ValueError:
        named = Q(name=text)
    found = list(Workspace.objects.filter(named).order_by("created"))
    if len(found) > 1:
        ids = ", ".join(str(workspace.pk) for workspace in found)
        raise CommandError(f"Several workspaces are named {text!r}; give the id of one: {ids}.")
    return found[0] if found else None
