"""Who may read a run without an account? Whoever has a link that nobody revoked."""

from uuid import UUID

from django.db import transaction

from planner.models import Event, PublicLink, Run, User
from planner.services.events import event_note
from planner.services.members import role_require


@transaction.atomic
def link_make(*, run: Run, user: User) -> PublicLink:
    """Let anybody who has the link read the run."""
    role_require(user=user, workspace=run.workspace)
    link = PublicLink.objects.create(run=run, made_by=user)
    _note(link, user, "made")
    return link


@transaction.atomic
def link_revoke(*, link: PublicLink, user: User) -> None:
    """Take a link back, at once."""
    role_require(user=user, workspace=link.run.workspace)
    _note(link, user, "removed")
    link.delete()


def run_of_link(*, link_id: UUID) -> Run | None:
    """Return the run that a link shows, None when there is no such link (1 query)."""
    present = PublicLink.objects.filter(run__scenario__removed=None)
    link = present.select_related("run__scenario").filter(pk=link_id).first()
    return link.run if link else None


def _note(link: PublicLink, user: User, action: str) -> None:
    event_note(
        workspace=link.run.workspace,
        user=user,
        kind=Event.Kind.LINK,
        action=action,
        subject=f"run {link.run_id}",
    )
