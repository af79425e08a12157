"""Sessions and log-ins of an account."""

from datetime import datetime
from typing import Any

from django.contrib.sessions.backends.base import SessionBase
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from planner.accounts.models import Event, Session, User
from planner.accounts.models.session import ORIGIN
from planner.accounts.services.events import event_log, event_note, login_note
from planner.accounts.services.members import full_access_require

LONGEST_AGENT = 200


def sessions_of(user: User) -> QuerySet[Session]:
    """Return the sessions of an account that are open, newest first (1 query)."""
    return Session.objects.filter(user=user, expire_date__gt=timezone.now()).order_by("-began")


def session_begin(*, user: User, session: SessionBase, address: str, agent: str) -> None:
    """Record a log-in in the session and in the history of the account."""
    now: datetime = timezone.now()
    session[ORIGIN] = {"began": now.isoformat(), "address": address, "agent": agent[:LONGEST_AGENT]}
    login_note(user=user, action="logged in", address=address)


@transaction.atomic
def session_end(*, user: User, name: str) -> bool:
    """End one session of the account immediately; return whether it existed."""
    full_access_require(user=user)
    keys = [session.session_key for session in sessions_of(user) if session.name == name]
    Session.objects.filter(session_key__in=keys).delete()
    if keys:
        login_note(user=user, action="ended a session")
    return bool(keys)


@transaction.atomic
def other_sessions_end(*, user: User, but: str | None) -> int:
    """End all sessions of the account except one, given its key; return how many."""
    full_access_require(user=user)
    ended, _ = sessions_of(user).exclude(session_key=but or "").delete()
    login_note(user=user, action="ended sessions")
    return ended


def expired_sessions_remove() -> int:
    """Delete expired sessions; return how many rows."""
    removed, _ = Session.objects.filter(expire_date__lt=timezone.now()).delete()
    return removed


def login_failure_note(*, username: str, address: str) -> None:
    """Record a wrong password: in the history of the account if it exists, and in the log."""
    account = User.objects.filter(username=username).first()
    note: dict[str, Any] = {
        "kind": Event.Kind.LOGIN,
        "action": "failed",
        "subject": username[:150],
        "actor": "somebody",
        "address": address,
    }
    if account is None:
        event_log(**note)
    else:
        event_note(workspace=None, user=account, **note)


def logout_note(*, user: User, address: str) -> None:
    """Log that a user logged out."""
    name = user.get_username()
    event_log(actor=name, kind=Event.Kind.LOGIN, action="logged out", subject=name, address=address)


def password_note(*, user: User, address: str) -> None:
    """Record a change of the password."""
    login_note(user=user, action="changed password", address=address)


def login_events(user: User) -> QuerySet[Event]:
    """Return the log-ins to an account, including failures, newest first (1 query)."""
    return Event.objects.filter(user=user, kind=Event.Kind.LOGIN)
