"""Creation and renaming of workspaces; leaving one is `members.member_remove`."""

from django.db import transaction

from planner.accounts.models import Event, Membership, Role, User, Workspace
from planner.accounts.selectors.workspaces import memberships
from planner.accounts.services.events import event_note
from planner.accounts.services.members import full_access_require, role_require, workspace_lock
from planner.errors import Invalid
from planner.rules import row_validate
from planning.rows import Problem

MOST = 50
"""The most workspaces of an account that creates another one."""


@transaction.atomic
def workspace_create(*, name: str, user: User) -> Membership:
    """Create a workspace with the account as its only member, an admin."""
    full_access_require(user=user)
    workspace = Workspace(name=name.strip())
    _name_require(workspace, user)
    if memberships(user).count() >= MOST:
        message, fix = f"An account is a member of at most {MOST} workspaces.", "Leave one first."
        raise Invalid([Problem("workspace.too_many", "error", message, path="name", limit=MOST, fix=fix)])
    workspace.save(force_insert=True)
    event_note(
        workspace=workspace, user=user, kind=Event.Kind.WORKSPACE, action="made", subject=workspace.name
    )
    return Membership.objects.create(workspace=workspace, user=user, role=Role.ADMIN)


@transaction.atomic
def workspace_rename(*, workspace: Workspace, name: str, user: User) -> Workspace:
    """Rename a workspace."""
    role_require(user=user, workspace=workspace, needed=Role.ADMIN)
    before = workspace_lock(workspace).name
    workspace.name = name.strip()
    if workspace.name != before:
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
    """Raise Invalid if the name is empty or that of another workspace of the account.

    Workspaces of others may have the same name: rejecting it would reveal their names.
    """
    row_validate(workspace)
    name = workspace.name
    if memberships(user).filter(workspace__name=name).exists():
        message = f"You are already a member of a workspace named {name}."
        fix = "Choose another name."
        raise Invalid([Problem("workspace.name", "error", message, path="name", actual=name, fix=fix)])
