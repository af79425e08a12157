"""How does a workspace come to be, and what is it called? Who leaves one: `members.member_remove`."""

from django.db import transaction

from planner.accounts.models import Event, Membership, Role, User, Workspace
from planner.accounts.selectors.workspaces import memberships
from planner.accounts.services.events import event_note
from planner.accounts.services.members import full_access_require, role_require
from planner.errors import Invalid
from planner.rules import row_validate
from planning.rows import Problem

MOST = 50
"""So many workspaces an account may be a member of when it makes another one."""


@transaction.atomic
def workspace_make(*, name: str, user: User) -> Membership:
    """Make a workspace with the account as its only member, an admin."""
    full_access_require(user=user)
    workspace = Workspace(name=name.strip())
    _name_require(workspace, user)
    if memberships(user).count() >= MOST:
        message = f"An account is a member of at most {MOST} workspaces. Leave one first."
        raise Invalid([Problem("workspace.too_many", "error", message)])
    workspace.save(force_insert=True)
    event_note(
        workspace=workspace, user=user, kind=Event.Kind.WORKSPACE, action="made", subject=workspace.name
    )
    return Membership.objects.create(workspace=workspace, user=user, role=Role.ADMIN)


@transaction.atomic
def workspace_rename(*, workspace: Workspace, name: str, user: User) -> Workspace:
    """Give a workspace another name."""
    role_require(user=user, workspace=workspace, needed=Role.ADMIN)
    before = workspace.name
    if name.strip() != before:
        workspace.name = name.strip()
        _name_require(workspace, user)
        workspace.save(update_fields=["name"])
        event_note(
            workspace=workspace,
            user=user,
            kind=Event.Kind.WORKSPACE,
            action="renamed",
            subject=workspace.name,
            before=before,
            after=workspace.name,
        )
    return workspace


def _name_require(workspace: Workspace, user: User) -> None:
    """Raise Invalid when a workspace has no name, or that of another one of the account.

    Workspaces of others may have the same name: that one is taken would tell what others have.
    """
    row_validate(workspace)
    name = workspace.name
    if memberships(user).filter(workspace__name=name).exists():
        message = f"You are a member of a workspace named {name} already."
        raise Invalid([Problem("workspace.name", "error", message, path="name", actual=name)])
