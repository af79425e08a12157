"""The audit: events are stored with the change itself, immutable, and logged."""

import logging
from datetime import timedelta
from functools import partial
from typing import TypedDict, Unpack

from django.utils import timezone
from structlog.contextvars import bound_contextvars

from planner.accounts.models import Event, Invitation, User, Workspace

NOTED_AGAIN = timedelta(hours=1)
"""The interval in which repeated reads are one event."""

audit = logging.getLogger("planner.audit")


class EventFacts(TypedDict, total=False):
    """The values before and after."""

    before: str
    after: str


def event_note(
    *,
    workspace: Workspace | None,
    user: User | None,
    kind: Event.Kind,
    action: str,
    subject: str,
    actor: str = "",
    address: str = "",
    **described: Unpack[EventFacts],
) -> None:
    """Record what `actor` did, by default `user`; without both it is the installation itself."""
    name = actor or (user.get_username() if user else "")
    Event.objects.create(
        workspace=workspace,
        user=user,
        actor=name,
        kind=kind,
        action=action,
        subject=subject[:253],
        address=address[:45],
        before=described.get("before", "")[:253],
        after=described.get("after", "")[:253],
    )
    event_log(
        actor=name,
        kind=kind,
        action=action,
        subject=subject,
        address=address,
        workspace=workspace,
        **described,
    )


def login_note(*, user: User, action: str, address: str = "", subject: str = "") -> None:
    """Record an event about an account's log-in in the history of that account only."""
    event_note(
        workspace=None,
        user=user,
        kind=Event.Kind.LOGIN,
        action=action,
        subject=subject or user.get_username(),
        address=address,
    )


def invitation_note(*, invitation: Invitation, user: User | None, action: str) -> None:
    """Record what an account did with an invitation."""
    event_note(
        workspace=invitation.workspace,
        user=user,
        kind=Event.Kind.INVITATION,
        action=action,
        subject=invitation.username or f"invitation {str(invitation.pk)[:8]}",
        after=invitation.role,
    )


def event_log(
    *,
    actor: str,
    kind: Event.Kind,
    action: str,
    subject: str,
    address: str = "",
    workspace: Workspace | None = None,
    **described: Unpack[EventFacts],
) -> None:
    """Write an event to the log only, with the logger `planner.audit`."""
    facts = {
        "actor": actor,
        "kind": str(kind),
        "action": action,
        "subject": subject,
        "address": address,
        "workspace": str(workspace.pk) if workspace else "",
        **described,
    }
    with bound_contextvars(**{name: value for name, value in facts.items() if value}):
        audit.info("audit")


def export_note(*, user: User, workspace: Workspace | None, subject: str, address: str) -> None:
    """Record an export: always in the log, and as an event once an hour per subject."""
    before = Event.objects.filter(
        user=user, kind=Event.Kind.EXPORT, subject=subject, created__gt=timezone.now() - NOTED_AGAIN
    )
    note = event_log if before.exists() else partial(event_note, user=user)
    note(
        actor=user.get_username(),
        workspace=workspace,
        kind=Event.Kind.EXPORT,
        action="exported",
        subject=subject,
        address=address,
    )
