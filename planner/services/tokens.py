"""With which tokens may a script call, and what may each do?"""

from datetime import timedelta

from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from knox.models import AuthToken

from planner.models import Event, Role, TokenDetails, User
from planner.services.errors import RoleTooLow
from planner.services.events import event_note

LONGEST_DAYS = 3650
USED_AGAIN = timedelta(minutes=1)
"""So often the last use of a token is written down at most."""


@transaction.atomic
def token_make(
    *, user: User, name: str = "", scope: Role = Role.ADMIN, days: int = 365, limit: Role = Role.ADMIN
) -> tuple[TokenDetails, str]:
    """Make a token of an account; return it with its text, which is kept as a hash only.

    `limit` is what the caller itself may do: a token makes none that may do more.
    """
    if not limit.covers(scope):
        raise RoleTooLow(needed=scope, role=limit)
    token, text = AuthToken.objects.create(user=user, expiry=timedelta(days=days))
    details = TokenDetails.objects.create(token=token, name=name, scope=scope)
    _note(user, "made", details)
    return details, str(text)


@transaction.atomic
def token_revoke(*, user: User, details: TokenDetails) -> None:
    """Take a token away, at once."""
    _note(user, "removed", details)
    details.token.delete()


def token_used(*, token: AuthToken) -> Role:
    """Note that a token is used; return what it may do. A token made by knox alone may do all."""
    now = timezone.now()
    details, _ = TokenDetails.objects.get_or_create(token=token)
    stale = Q(last_used=None) | Q(last_used__lt=now - USED_AGAIN)
    if details.last_used is None or details.last_used < now - USED_AGAIN:
        TokenDetails.objects.filter(stale, pk=details.pk).update(last_used=now)
    return Role(details.scope)


def _note(user: User, action: str, details: TokenDetails) -> None:
    """Note it in every workspace of the account: there the token could do something."""
    subject = f"{details.token.token_key}… {details.name}".strip()
    for membership in user.memberships.select_related("workspace"):
        event_note(
            workspace=membership.workspace,
            user=user,
            kind=Event.Kind.TOKEN,
            action=action,
            subject=subject,
            after=details.scope if action == "made" else "",
            before=details.scope if action == "removed" else "",
        )
