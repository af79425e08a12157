"""Transitions of work from queued to its end; a worker may write only under its own attempt number."""

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import DateTimeField, ExpressionWrapper, F, QuerySet
from django.db.models.expressions import Combinable
from django.db.models.functions import Now
from django.utils import timezone

from planner.accounts.models import User
from planner.accounts.services.members import role_require
from planner.rules import row_create, row_reread
from planner.work.broker import notify_workers
from planner.work.models import Tally, Work
from planner.work.tallies import tally

State = Work.State
Kind = TypeVar("Kind", bound=Work)

MAX_NOTIFICATIONS = 16
"""The most notifications for work that is queued together; other workers find it when they poll."""


@dataclass(frozen=True)
class Claim(Generic[Kind]):
    """A worker's right to write to a row, until the lease expires or another worker claims it."""

    kind: type[Kind]
    id: UUID
    attempt: int

    def mine(self) -> QuerySet[Kind]:
        """Return the row, or an empty queryset once the claim is lost."""
        return self.kind._default_manager.filter(pk=self.id, attempt=self.attempt, state=State.RUNNING)


class Heartbeat(enum.Enum):
    """The result of a heartbeat."""

    CONTINUE = "continue"
    CANCEL = "cancel"
    LOST = "lost"


def work_enqueue(work: Kind) -> Kind:
    """Store work, and notify a worker after commit."""
    row_create(work)
    transaction.on_commit(notify_workers)
    return work


def work_enqueue_all(*, kind: type[Kind], rows: Sequence[Kind]) -> None:
    """Store work that is queued together, and notify workers after commit."""
    kind._default_manager.bulk_create(rows)
    for _ in rows[:MAX_NOTIFICATIONS]:
        transaction.on_commit(notify_workers)


@transaction.atomic
def work_claim(*, kind: type[Kind], id: UUID, worker: str) -> Claim[Kind] | None:
    """Claim queued work with a lease; return None if it is not queued."""
    now = timezone.now()
    rows = kind._default_manager.filter(pk=id)
    claimed = rows.filter(state=State.QUEUED).update(
        state=State.RUNNING,
        attempt=F("attempt") + 1,
        worker=worker,
        started=now,
        heartbeat=now,
        lease_until=seconds_from_now(settings.RUN_LEASE_SECONDS),
        progress=0.0,
        doing="starting",
    )
    if not claimed:
        return None
    return Claim(kind, id, rows.values_list("attempt", flat=True).get())


def work_heartbeat(*, claim: Claim[Kind], progress: float, doing: str) -> Heartbeat:
    """Renew the lease and store the progress; return whether to continue."""
    renewed = claim.mine().update(
        heartbeat=timezone.now(),
        lease_until=seconds_from_now(settings.RUN_LEASE_SECONDS),
        progress=min(max(progress, 0.0), 1.0),
        doing=doing[:100],
    )
    if not renewed:
        return Heartbeat.LOST
    return Heartbeat.CANCEL if claim.mine().filter(cancel_requested=True).exists() else Heartbeat.CONTINUE


def work_end(*, claim: Claim[Kind], state: Work.State, **facts: Any) -> bool:
    """End the work and store its results; return False if the claim was lost."""
    done = {"progress": 1.0} if state == State.SUCCEEDED else {}
    return bool(
        claim.mine().update(state=state, finished=timezone.now(), lease_until=None, doing="", **done, **facts)
    )


def work_stop(*, claim: Claim[Kind]) -> bool:
    """End work that was requested to stop; return False if the claim was lost."""
    return work_end(claim=claim, state=State.CANCELLED)


def work_fail(*, claim: Claim[Kind], error: str) -> bool:
    """End the work with the reason for its failure; return False if the claim was lost."""
    return work_end(claim=claim, state=State.FAILED, error=error)


@transaction.atomic
def work_killed(*, claim: Claim[Kind], error: str) -> bool:
    """Queue work again whose child process was killed; the second time, fail it.

    Returns False if the claim was lost.
    """
    again = (
        claim.mine()
        .filter(kills=0, cancel_requested=False)
        .update(
            kills=F("kills") + 1,
            not_before=seconds_from_now(settings.RUN_BACK_OFF_SECONDS),
            **_BACK_IN_QUEUE,
        )
    )
    tally(Tally.RETRIES, again)
    if not again and claim.mine().filter(cancel_requested=True).exists():
        return work_stop(claim=claim)
    return bool(again) or work_end(
        claim=claim, state=State.FAILED, error=f"{error} This happened twice.", kills=F("kills") + 1
    )


def work_release(*, claim: Claim[Kind]) -> bool:
    """Put work back because its worker is stopping; return False if the claim was lost.

    This does not count towards the limit of lost workers.
    """
    return bool(claim.mine().update(**_BACK_IN_QUEUE))


_BACK_IN_QUEUE: Mapping[str, Any] = {
    "state": State.QUEUED,
    "lease_until": None,
    "worker": "",
    "progress": 0.0,
    "doing": "",
}


def work_cancel(*, work: Kind, user: User | None = None) -> Kind:
    """Cancel queued work immediately, request running work to stop; return the current row.

    Raises RoleTooLow and Gone.
    """
    role_require(user=user, workspace=work.workspace)
    rows = type(work)._default_manager.filter(pk=work.pk)
    waiting = rows.filter(state=State.QUEUED)
    if not waiting.update(state=State.CANCELLED, cancel_requested=True, finished=timezone.now()):
        rows.filter(state=State.RUNNING).update(cancel_requested=True)
    row_reread(work)
    return work


def seconds_from_now(seconds: float) -> Combinable:
    """Return the database's current time plus some seconds, for an update.

    All machines share the database's clock, so no lease depends on a worker's clock.
    """
    return ExpressionWrapper(Now() + timedelta(seconds=seconds), output_field=DateTimeField())
