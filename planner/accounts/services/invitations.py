"""Invitations to workspaces, by link or by name of the account."""

import hashlib
import secrets
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from planner.accounts.models import Invitation, Role, User, Workspace
from planner.accounts.selectors.workspaces import role_held
from planner.accounts.services.events import invitation_note
from planner.accounts.services.members import (
    full_access_require,
    invitations_revoke,
    member_join,
    role_require,
    workspace_lock,
)
from planner.errors import Invalid
from planner.rules import row_create, row_lock
from planning.rows import Problem

OPEN_DAYS = 7


@transaction.atomic
def invitation_create(*, workspace: Workspace, role: Role, user: User) -> tuple[Invitation, str]:
    """Create an invitation link; return its secret, of which only a hash is stored."""
    return _make(workspace, role, user)


@transaction.atomic
def invitation_offer(*, workspace: Workspace, username: str, role: Role, user: User) -> Invitation:
    """Invite an account by name, which it accepts or declines on its own page.

    Unknown names get the same response, so that nobody learns which accounts exist. The invitation is for the
    account that has the name now, not for one that takes it later. Nobody gets its link.
    """
    role_require(user=user, workspace=workspace, needed=Role.ADMIN)
    workspace_lock(workspace)
    invitations_revoke(invitations=workspace.invitations.filter(username=username), user=user)
    account = User.objects.filter(username=username).first()
    return _make(workspace, role, user, username=username, invitee=account)[0]


@transaction.atomic
def invitation_revoke(*, invitation: Invitation, user: User) -> None:
    """Revoke an open invitation; raise Gone if it was accepted or revoked in the meantime."""
    role_require(user=user, workspace=invitation.workspace, needed=Role.ADMIN)
    workspace_lock(invitation.workspace)
    row_lock(invitation, accepted_by=None)
    invitation_note(invitation=invitation, user=user, action="removed")
    invitation.delete()


@transaction.atomic
def invitation_decline(*, invitation: Invitation, user: User) -> None:
    """Decline an invitation that names the account; raise Gone if it was revoked in the meantime."""
    full_access_require(user=user)
    workspace_lock(invitation.workspace)
    row_lock(invitation, accepted_by=None)
    invitation_note(invitation=invitation, user=user, action="declined")
    invitation.delete()


def invitation_of(*, secret: str) -> Invitation | None:
    """Return the open invitation of a link (2 queries)."""
    found = (
        Invitation.objects.select_related("workspace", "invited_by").filter(digest=_digest(secret)).first()
    )
    return found if found is not None and _holds(found) else None


def invitation_accept(*, secret: str, user: User) -> None:
    """Make an account a member by a link, which is then used up; a higher role is kept."""
    _accept(Invitation.objects.filter(digest=_digest(secret)), user)


def offer_accept(*, invitation: Invitation, user: User) -> None:
    """Make an account a member by an invitation that names it."""
    full_access_require(user=user)
    _accept(Invitation.objects.filter(pk=invitation.pk, invitee=user), user)


@transaction.atomic
def account_by_invitation(*, secret: str, username: str, password: str) -> User:
    """Create an account for the person with a link, under the password rules, and make it a member."""
    problems = []
    if not username or User.objects.filter(username__iexact=username).exists():
        message, fix = "This name is taken.", "Choose another name."
        problems.append(Problem("account.name", "error", message, path="username", fix=fix))
    account = User(username=username)
    keeps_rules = partial(account.full_clean, exclude=["password"], validate_unique=False)
    problems += _broken_rules("username", keeps_rules)
    problems += _broken_rules("password", partial(validate_password, password, account))
    if problems:
        raise Invalid(problems)
    account = User.objects.create_user(username, password=password)
    invitation_accept(secret=secret, user=account)
    return account


def _broken_rules(path: str, check: Callable[[], None]) -> list[Problem]:
    """Return the violated rules of an account, with their fields."""
    try:
        check()
    except ValidationError as error:
        return [Problem("account.rule", "error", message, path=path) for message in error.messages]
    return []


def _make(workspace: Workspace, role: Role, user: User, **named: Any) -> tuple[Invitation, str]:
    role_require(user=user, workspace=workspace, needed=Role.ADMIN)
    secret = secrets.token_urlsafe(24)
    invitation = row_create(
        Invitation(
            workspace=workspace,
            role=role,
            digest=_digest(secret),
            expires=timezone.now() + timedelta(days=OPEN_DAYS),
            invited_by=user,
            **named,
        )
    )
    invitation_note(invitation=invitation, user=user, action="made")
    return invitation, secret


@transaction.atomic
def _accept(found: QuerySet[Invitation], user: User) -> None:
    """Make an account a member by the invitation in `found`. Raises Invalid if it is no longer valid."""
    offered = found.select_related("workspace").first()
    if offered is not None:
        workspace_lock(offered.workspace)
    invitation = found.select_for_update().first()
    if invitation is None or not _holds(invitation):
        message = "This invitation was used or revoked, or it has expired."
        fix = "Ask an admin of the workspace for a new invitation."
        raise Invalid([Problem("invitation.spent", "error", message, path="invitation", fix=fix)])
    member_join(workspace=invitation.workspace, account=user, role=Role(invitation.role))
    invitation.accepted_by = user
    invitation.save(update_fields=["accepted_by"])
    invitation_note(invitation=invitation, user=user, action="accepted")


def _holds(invitation: Invitation) -> bool:
    """Return whether an invitation is open and its creator may still invite."""
    admin = invitation.invited_by
    return (
        invitation.accepted_by_id is None
        and invitation.expires > timezone.now()
        and admin is not None
        and admin.is_active
        and role_held(admin, invitation.workspace) == Role.ADMIN
    )


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
