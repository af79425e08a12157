"""The audit of log-ins, connected when Django starts; it imports no form and no second factor."""

from typing import Any

from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.http import HttpRequest

from planner.accounts.models import User
from planner.accounts.services.sessions import login_failure_note, logout_note, session_begin


def address_of(request: HttpRequest | None) -> str:
    """Return the address of a client, as set by the middleware for trusted proxies."""
    return request.META.get("REMOTE_ADDR", "") if request is not None else ""


def listen() -> None:
    """Connect the audit of log-ins and failures of any kind; called once, when Django starts."""
    user_logged_in.connect(_on_login, dispatch_uid="planner.login")
    user_login_failed.connect(_on_failure, dispatch_uid="planner.login-failed")
    user_logged_out.connect(_on_logout, dispatch_uid="planner.logout")


def _on_login(sender: Any, request: HttpRequest, user: User, **kwargs: Any) -> None:
    agent = request.META.get("HTTP_USER_AGENT", "")
    session_begin(user=user, session=request.session, address=address_of(request), agent=agent)


def _on_failure(
    sender: Any, credentials: dict[str, Any], request: HttpRequest | None = None, **kwargs: Any
) -> None:
    login_failure_note(username=str(credentials.get("username", "")), address=address_of(request))


def _on_logout(sender: Any, request: HttpRequest, user: User | None, **kwargs: Any) -> None:
    if user is not None:
        logout_note(user=user, address=address_of(request))
