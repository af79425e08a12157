"""How does somebody become a member by a link?"""

import hashlib
import secrets
from datetime import timedelta

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from planner.models import Event, Invitation, Role, User, Workspace
from planner.rows import Problem
from planner.services.errors import Invalid
from planner.services.events import event_note
from planner.services.members import member_join, role_require

OPEN_DAYS = 7


@transaction.atomic
def invitation_make(*, workspace: Workspace, role: Role, user: User) -> tuple[Invitation, str]:
    """Invite whoever opens the link; return its secret, which is kept as a hash only."""
    role_require(user=user, workspace=workspace, needed=Role.ADMIN)
    secret = secrets.token_urlsafe(24)
    invitation = Invitation.objects.create(
        workspace=workspace,
        role=role,
        digest=_digest(secret),
        expires=timezone.now() + timedelta(days=OPEN_DAYS),
        invited_by=user,
    )
    _note(invitation, user, "made")
    return invitation, secret


@transaction.atomic
def invitation_revoke(*, invitation: Invitation, user: User) -> None:
    """Take an open invitation back."""
    role_require(user=user, workspace=invitation.workspace, needed=Role.ADMIN)
    _note(invitation, user, "removed")
    invitation.delete()


def invitation_of(*, secret: str) -> Invitation | None:
    """Return the open invitation of a link (1 query)."""
    found = Invitation.objects.select_related("workspace", "invited_by").filter(
        digest=_digest(secret), accepted_by=None, expires__gt=timezone.now()
    )
    return found.first()


@transaction.atomic
def invitation_accept(*, secret: str, user: User) -> None:
    """Make an account a member by a link, which is spent then; a higher role that it has already stays."""
    invitation = Invitation.objects.select_for_update().filter(digest=_digest(secret)).first()
    if invitation is None or invitation.accepted_by or invitation.expires <= timezone.now():
        raise Invalid([Problem("invitation.spent", "error", "This invitation has been used or is too old.")])
    member_join(workspace=invitation.workspace, account=user, role=Role(invitation.role))
    invitation.accepted_by = user
    invitation.save(update_fields=["accepted_by"])
    _note(invitation, user, "accepted")


@transaction.atomic
def account_by_invitation(*, secret: str, username: str, password: str) -> User:
    """Make an account for whom a link invites, under the password rules, and make it a member."""
    problems = []
    if not username or User.objects.filter(username__iexact=username).exists():
        problems.append(Problem("account.name", "error", "This name is taken.", path="username"))
    try:
        User(username=username).full_clean(exclude=["password"], validate_unique=False)
        validate_password(password, User(username=username))
    except ValidationError as error:
        problems += [Problem("account.rule", "error", message, path="password") for message in error.messages]
    if problems:
        raise Invalid(problems)
    account = User.objects.create_user(username, password=password)
    invitation_accept(secret=secret, user=account)
    return account


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _note(invitation: Invitation, user: User, action: str) -> None:
    event_note(
        workspace=invitation.workspace,
        user=user,
        kind=Event.Kind.INVITATION,
        action=action,
        subject=f"invitation {str(invitation.pk)[:8]}",
        after=invitation.role,
    )
