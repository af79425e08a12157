"""Public links, by which anybody can read a run until the link expires or is revoked."""

import hashlib
import secrets
from datetime import timedelta
from functools import partial

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from planner.accounts.models import Event, User
from planner.accounts.services.events import NOTED_AGAIN, event_log, event_note
from planner.accounts.services.members import role_require
from planner.rules import row_create, row_lock
from planner.runs.models import PublicLink, Run
from planner.scenarios.selectors.scenarios import locked_scenario

LONGEST_DAYS = 365
DEFAULT_DAYS = 30


@transaction.atomic
def link_create(*, run: Run, user: User, label: str = "", days: int = DEFAULT_DAYS) -> tuple[PublicLink, str]:
    """Create a public link to the run; return it with its secret, of which only a hash is stored."""
    role_require(user=user, workspace=run.workspace)
    locked_scenario(run.scenario)
    secret = secrets.token_urlsafe(24)
    link = row_create(
        PublicLink(
            run=run,
            made_by=user,
            label=label,
            digest=_digest(secret),
            expires=timezone.now() + timedelta(days=days),
        )
    )
    _note(link, user, "made")
    return link, secret


@transaction.atomic
def link_revoke(*, link: PublicLink, user: User) -> None:
    """Revoke a link immediately."""
    role_require(user=user, workspace=link.run.workspace)
    row_lock(link.run.scenario)
    row_lock(link)
    _note(link, user, "removed")
    link.delete()


@transaction.atomic
def run_by_link(*, secret: str, address: str) -> Run | None:
    """Return the run of a valid link and record that it was read; None if the link is not valid."""
    now = timezone.now()
    valid = PublicLink.objects.filter(Q(expires=None) | Q(expires__gt=now), run__scenario__removed=None)
    link = (
        valid.select_related("run__scenario", "run__workspace", "run__outcome")
        .filter(digest=_digest(secret))
        .first()
    )
    if link is None:
        return None
    PublicLink.objects.filter(pk=link.pk).update(reads=F("reads") + 1, last_read=now)
    is_new = link.last_read is None or link.last_read < now - NOTED_AGAIN
    note = partial(event_note, user=None) if is_new else event_log
    note(
        workspace=link.run.workspace,
        kind=Event.Kind.LINK,
        action="read",
        subject=_subject(link),
        actor="anybody with the link",
        address=address,
    )
    return link.run


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _subject(link: PublicLink) -> str:
    return f"run {link.run_id} {link.label}".strip()


def _note(link: PublicLink, user: User, action: str) -> None:
    event_note(
        workspace=link.run.workspace,
        user=user,
        kind=Event.Kind.LINK,
        action=action,
        subject=_subject(link),
    )
