"""Who did what that others may ask about later? Noted where it is done, never changed, and logged."""

import logging
from typing import TypedDict, Unpack

from structlog.contextvars import bound_contextvars

from planner.models import Event, User, Workspace

audit = logging.getLogger("planner.audit")


class Told(TypedDict, total=False):
    """From what to what."""

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
    **told: Unpack[Told],
) -> None:
    """Note what `user` did; without one it is `actor`, else the installation itself."""
    name = user.get_username() if user else actor
    Event.objects.create(
        workspace=workspace,
        user=user,
        actor=name,
        kind=kind,
        action=action,
        subject=subject[:253],
        address=address[:45],
        **told,
    )
    event_log(
        actor=name, kind=kind, action=action, subject=subject, address=address, workspace=workspace, **told
    )


def event_log(
    *,
    actor: str,
    kind: Event.Kind,
    action: str,
    subject: str,
    address: str = "",
    workspace: Workspace | None = None,
    **told: Unpack[Told],
) -> None:
    """Write an event to the log only, under the logger `planner.audit`."""
    facts = {
        "actor": actor,
        "kind": str(kind),
        "action": action,
        "subject": subject,
        "address": address,
        "workspace": str(workspace.pk) if workspace else "",
        **told,
    }
    with bound_contextvars(**{name: value for name, value in facts.items() if value}):
        audit.info("audit")
