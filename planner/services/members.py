"""May this account do that, and who decides so?"""

from typing import Unpack

from django.db import transaction

from planner.models import Event, Membership, Role, User, Workspace
from planner.rows import Problem
from planner.selectors.workspaces import role_of, workspace_for_new
from planner.services.errors import Invalid, RoleTooLow
from planner.services.events import Told, event_note


def role_require(*, user: User | None, workspace: Workspace, needed: Role = Role.EDITOR) -> None:
    """Raise RoleTooLow unless the account's role covers `needed`; None is the installation itself."""
    if user is None:
        return
    role = role_of(user, workspace)
    if role is None or not role.covers(needed):
        raise RoleTooLow(needed=needed, role=role)


def workspace_require(*, user: User) -> Workspace:
    """Return where what the account brings in belongs, or raise RoleTooLow when it may only look."""
    workspace = workspace_for_new(user)
    if workspace is None:
        raise RoleTooLow(needed=Role.EDITOR, role=None)
    return workspace


@transaction.atomic
def member_set(*, workspace: Workspace, username: str, role: Role, user: User | None = None) -> Membership:
    """Give an account a role in a workspace; the last admin stays one."""
    role_require(user=user, workspace=workspace, needed=Role.ADMIN)
    account = User.objects.filter(username=username).first()
    if account is None:
        raise Invalid([_refusal("member.unknown", f"There is no account {username!r}.", username)])
    if role != Role.ADMIN:
        _keep_an_admin(workspace, username)
    before = workspace.memberships.filter(user=account).values_list("role", flat=True).first() or ""
    member, _ = Membership.objects.update_or_create(
        workspace=workspace, user=account, defaults={"role": role}
    )
    if before != role:
        _note(workspace, user, "changed" if before else "made", username, before=before, after=role)
    return member


@transaction.atomic
def member_join(*, workspace: Workspace, account: User, role: Role) -> None:
    """Make an invited account a member; a role that covers the offered one stays."""
    before = role_of(account, workspace)
    if before is None or not before.covers(role):
        Membership.objects.update_or_create(workspace=workspace, user=account, defaults={"role": role})
        _note(workspace, account, "made", account.get_username(), before=before or "", after=role)


@transaction.atomic
def member_remove(*, membership: Membership, user: User | None = None) -> None:
    """Take an account out of a workspace; the last admin stays."""
    workspace, username = membership.workspace, membership.user.get_username()
    role_require(user=user, workspace=workspace, needed=Role.ADMIN)
    _keep_an_admin(workspace, username)
    _note(workspace, user, "removed", username, before=membership.role)
    membership.delete()


def _keep_an_admin(workspace: Workspace, username: str) -> None:
    """Raise Invalid when nobody but `username` could still decide about members."""
    Workspace.objects.select_for_update().get(pk=workspace.pk)
    admins = list(workspace.memberships.filter(role=Role.ADMIN).values_list("user__username", flat=True))
    if admins == [username]:
        raise Invalid([_refusal("member.last_admin", "A workspace keeps at least one admin.", username)])


def _note(workspace: Workspace, user: User | None, action: str, username: str, **told: Unpack[Told]) -> None:
    event_note(
        workspace=workspace, user=user, kind=Event.Kind.MEMBER, action=action, subject=username, **told
    )


def _refusal(rule: str, message: str, username: str) -> Problem:
    return Problem(rule, "error", message, path="username", actual=username)
