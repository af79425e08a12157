"""How does a workspace come to be, and what is it called? Who leaves one: `members.member_remove`."""

from django.db import transaction

from planner.accounts.models import Event, Membership, Role, User, Workspace
from planner.accounts.selectors.workspaces import memberships
from planner.accounts.services.events import event_note
from planner.accounts.services.members import full_access_require, role_require
from planner.errors import Invalid
from planning.rows import Problem

LONGEST_NAME = 100
MOST = 50
"""So many workspaces an account may be a member of when it makes another one."""


@transaction.atomic
def workspace_make(*, name: str, user: User) -> Membership:
    """Make a workspace with the account as its only member, an admin."""
    full_access_require(user=user)
    name = _name(name, user)
    if memberships(user).count() >= MOST:
        message = f"An account is a member of at most {MOST} workspaces. Leave one first."
        raise Invalid([Problem("workspace.too_many", "error", message)])
    workspace = Workspace.objects.create(name=name)
    event_note(workspace=workspace, user=user, kind=Event.Kind.WORKSPACE, action="made", subject=name)
    return Membership.objects.create(workspace=workspace, user=user, role=Role.ADMIN)


@transaction.atomic
def workspace_rename(*, workspace: Workspace, name: str, user: User) -> Workspace:
    """Give a workspace another name."""
    role_require(user=user, workspace=workspace, needed=Role.ADMIN)
    before = workspace.name
    if name.strip() != before:
        workspace.name = _name(name, user)
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


def _name(name: str, user: User) -> str:
    """Return a name as it is kept. Raises Invalid when it is none, or one of the account's workspaces has it.

    Workspaces of others may have the same name: that one is taken would tell what others have.
    """
    name = name.strip()
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        message = f"A name has 1 to {LONGEST_NAME} characters, all of them printable."
        raise Invalid([Problem("workspace.name", "error", message, path="name", actual=name[:LONGEST_NAME])])
    if memberships(user).filter(workspace__name=name).exists():
        message = f"You are a member of a workspace named {name} already."
        raise Invalid([Problem("workspace.name", "error", message, path="name", actual=name)])
    return name
