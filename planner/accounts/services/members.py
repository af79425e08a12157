"""Roles: permission checks, and changes of members."""

from typing import Unpack
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from planner.accounts.models import Event, Invitation, Membership, Role, User, Workspace
from planner.accounts.selectors.workspaces import editable, memberships, role_held
from planner.accounts.services.events import EventFacts, event_note, invitation_note
from planner.errors import Invalid, RoleTooLow
from planner.rules import row_lock
from planning.rows import Problem


def role_require(*, user: User | None, workspace: Workspace, needed: Role = Role.EDITOR) -> None:
    """Raise RoleTooLow unless the account's role covers `needed`; None is the installation itself."""
    if user is None:
        return
    limit, role = user.limit, role_held(user, workspace)
    if role is None or not role.covers(needed):
        raise RoleTooLow(needed=needed, role=role)
    if not limit.covers(needed):
        raise RoleTooLow(needed=needed, scope=limit)


def full_access_require(*, user: User) -> None:
    """Raise RoleTooLow if the caller is a token below admin, which may not change its account."""
    if user.limit != Role.ADMIN:
        raise RoleTooLow(needed=Role.ADMIN, scope=user.limit)


def workspace_require(*, user: User, chosen: UUID | str | None = None) -> Workspace:
    """Return the workspace of an import: the chosen one, otherwise the first that the account may edit.

    Raises RoleTooLow if it may only view, and Invalid if it is not a member of the chosen one.
    """
    if chosen is not None:
        workspace = Workspace.objects.filter(memberships__user=user, pk=chosen).first()
        if workspace is None:
            message = "You are not a member of such a workspace."
            fix = "Choose one of your workspaces, or ask its admin for an invitation."
            raise Invalid(
                [
                    Problem(
                        "workspace.unknown", "error", message, path="workspace", actual=str(chosen), fix=fix
                    )
                ]
            )
        role_require(user=user, workspace=workspace)
        return workspace
    first = editable(user).first()
    if first is None:
        roles = set(memberships(user).values_list("role", flat=True))
        if roles - {Role.VIEWER}:
            raise RoleTooLow(needed=Role.EDITOR, scope=user.limit)
        raise RoleTooLow(needed=Role.EDITOR, role=Role.VIEWER if roles else None)
    return first.workspace


def status_require(*, user: User) -> None:
    """Raise RoleTooLow unless the account is a member of some workspace: the status counts all workspaces."""
    if not user.is_superuser and not user.memberships.exists():
        raise RoleTooLow(needed=Role.VIEWER, role=None)


@transaction.atomic
def member_set(*, workspace: Workspace, username: str, role: Role) -> Membership:
    """Make an account a member or change its role, without an invitation; for the installation itself."""
    account = User.objects.filter(username=username).first()
    if account is None:
        message, fix = f"There is no account {username!r}.", "Invite the person by a link."
        raise Invalid([_refusal("member.unknown", message, fix, username)])
    member, is_new = Membership.objects.get_or_create(
        workspace=workspace, user=account, defaults={"role": role}
    )
    if is_new:
        _note(workspace, None, "made", username, after=role)
        return member
    return member_change(membership=member, role=role)


@transaction.atomic
def member_change(*, membership: Membership, role: Role, user: User | None = None) -> Membership:
    """Change the role of a member; one admin must remain. The invitations of a former admin are revoked."""
    workspace, username = membership.workspace, membership.user.get_username()
    role_require(user=user, workspace=workspace, needed=Role.ADMIN)
    workspace_lock(workspace)
    if role != Role.ADMIN:
        _keep_an_admin(workspace, username)
    before = row_lock(membership).role
    if role != Role.ADMIN:
        invitations_revoke(invitations=_made_by(membership), user=user)
    if before != role:
        membership.role = role
        membership.save(update_fields=["role"])
        _note(workspace, user, "changed", username, before=before, after=role)
    return membership


@transaction.atomic
def member_join(*, workspace: Workspace, account: User, role: Role) -> None:
    """Make an invited account a member; a higher role is kept."""
    before = role_held(account, workspace)
    if before is None or not before.covers(role):
        Membership.objects.update_or_create(workspace=workspace, user=account, defaults={"role": role})
        _note(workspace, account, "made", account.get_username(), before=before or "", after=role)


@transaction.atomic
def member_remove(*, membership: Membership, user: User | None = None) -> None:
    """Remove a member and its invitations. Anybody may leave, but one admin must remain."""
    workspace, username = membership.workspace, membership.user.get_username()
    if user is not None and user.pk == membership.user_id:
        full_access_require(user=user)
    else:
        role_require(user=user, workspace=workspace, needed=Role.ADMIN)
    workspace_lock(workspace)
    _keep_an_admin(workspace, username)
    row_lock(membership)
    invitations_revoke(invitations=_made_by(membership), user=user)
    _note(workspace, user, "removed", username, before=membership.role)
    membership.delete()


def workspace_lock(workspace: Workspace) -> Workspace:
    """Return the current row of a workspace, locked against other changes of its members and its deletion.

    A deletion locks the workspace before its members and invitations, and so must every change of them.
    Rows that refer to the workspace can still be added. Raises Gone if the workspace was deleted.
    """
    return row_lock(workspace, shares_key=True)


def _keep_an_admin(workspace: Workspace, username: str) -> None:
    """Raise Invalid if `username` is the only admin of a locked workspace."""
    admins = list(workspace.memberships.filter(role=Role.ADMIN).values_list("user__username", flat=True))
    if admins == [username]:
        message, fix = "A workspace needs at least one admin.", "Make another member admin first."
        raise Invalid([_refusal("member.last_admin", message, fix, username)])


def invitations_revoke(*, invitations: QuerySet[Invitation], user: User | None) -> None:
    """Revoke those of these invitations that are not accepted."""
    opened = invitations.filter(accepted_by=None).select_related("workspace")
    for invitation in opened.select_for_update(of=("self",)):
        invitation_note(invitation=invitation, user=user, action="removed")
        invitation.delete()


def _made_by(membership: Membership) -> QuerySet[Invitation]:
    return membership.workspace.invitations.filter(invited_by=membership.user)


def _note(
    workspace: Workspace, user: User | None, action: str, username: str, **described: Unpack[EventFacts]
) -> None:
    event_note(
        workspace=workspace, user=user, kind=Event.Kind.MEMBER, action=action, subject=username, **described
    )


def _refusal(rule: str, message: str, fix: str, username: str) -> Problem:
    return Problem(rule, "error", message, path="username", actual=username, fix=fix)
