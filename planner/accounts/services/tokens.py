"""API tokens and their scopes."""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from knox.crypto import hash_token
from knox.models import AuthToken

from planner.accounts.models import Event, Role, TokenDetails, User
from planner.accounts.services.events import event_note
from planner.accounts.services.members import full_access_require
from planner.errors import Invalid
from planner.rules import row_create
from planning.rows import Problem

LONGEST_DAYS = 3650
DEFAULT_DAYS = 90
USED_AGAIN = timedelta(minutes=1)
"""The interval at which the last use of a token is stored."""


@transaction.atomic
def token_make(
    *,
    user: User,
    scope: Role,
    days: int | None = None,
    name: str = "",
    parent: AuthToken | None = None,
) -> tuple[TokenDetails, str]:
    """Create a token of an account; return it with its text, of which only a hash is stored.

    `parent` is the token that the caller itself used, if any: the new one ends with it at the latest.
    """
    full_access_require(user=user)
    token, text = AuthToken.objects.create(user=user)
    token.expiry = _expiry(days, parent)
    token.save(update_fields=["expiry"])
    details = row_create(
        TokenDetails(token=token, name=name, scope=scope, parent=parent.details if parent else None)
    )
    _note(user, "made", details)
    return details, str(text)


@transaction.atomic
def token_revoke(*, user: User, details: TokenDetails) -> None:
    """Revoke a token, and those created with it, immediately."""
    full_access_require(user=user)
    for child in details.children.select_related("token"):
        token_revoke(user=user, details=child)
    _note(user, "removed", details)
    details.token.delete()


def token_used(*, text: str) -> TokenDetails | None:
    """Record the use of a token; return its details with token and user.

    None: the token is wrong, has expired, has no scope, without which it may do nothing, or its account is
    disabled.
    """
    now = timezone.now()
    known = TokenDetails.objects.filter(token=hash_token(text), token__user__is_active=True)
    details = known.exclude(token__expiry__lt=now).select_related("token__user").first()
    if details is None:
        return None
    stale = Q(last_used=None) | Q(last_used__lt=now - USED_AGAIN)
    if details.last_used is None or details.last_used < now - USED_AGAIN:
        TokenDetails.objects.filter(stale, pk=details.pk).update(last_used=now)
    return details


def _expiry(days: int | None, parent: AuthToken | None) -> datetime:
    """Return when a new token expires. Raises Invalid if that is after its parent does."""
    wanted = timezone.now() + timedelta(days=days or DEFAULT_DAYS)
    if parent is None or parent.expiry is None or wanted <= parent.expiry:
        return wanted
    if days is None:
        expiry: datetime = parent.expiry
        return expiry
    message = f"A token cannot outlive the one that creates it, which expires on {parent.expiry:%Y-%m-%d}."
    fix = "Choose fewer days, or leave them out."
    raise Invalid([Problem("token.outlives", "error", message, path="days", actual=days, fix=fix)])


def _note(user: User, action: str, details: TokenDetails) -> None:
    """Record it in every workspace of the account, without the name, which is private."""
    for membership in user.memberships.select_related("workspace"):
        event_note(
            workspace=membership.workspace,
            user=user,
            kind=Event.Kind.TOKEN,
            action=action,
            subject=f"{details.token.token_key}…",
            after=details.scope if action == "made" else "",
            before=details.scope if action == "removed" else "",
        )
