"""Who did what about members, tokens, invitations and links? Noted where it is done, never changed."""

from typing import TypedDict, Unpack

from planner.models import Event, User, Workspace


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
    **told: Unpack[Told],
) -> None:
    """Note what `user` did; None is the installation itself."""
    Event.objects.create(
        workspace=workspace,
        user=user,
        actor=user.get_username() if user else "",
        kind=kind,
        action=action,
        subject=subject[:253],
        **told,
    )
