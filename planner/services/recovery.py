"""Which runs were left behind by a worker that died or a message that was lost?"""

from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from planner.models import Run
from planner.services.clock import seconds_from_now
from planner.services.turns import waiting_runs

State = Run.State

KICKS_AT_ONCE = 8
"""The oldest few are enough: a worker that ends a run goes on with the forgotten ones by itself."""


def runs_recover() -> list[UUID]:
    """Take back the runs whose lease ran out; return the queued runs that need another kick.

    Every worker calls this now and then. Each step is a conditional update, so two at once do no harm.
    """
    runs_take_back(Run.objects.filter(lease_until__lt=Now()))
    return [run_id for run_id in _forgotten()[:KICKS_AT_ONCE] if _claim_kick(run_id)]


@transaction.atomic
def runs_take_back(lost: QuerySet[Run]) -> None:
    """Queue running runs again whose worker is gone; end those that were cancelled or lost too often.

    The wait before the next attempt doubles with every loss.
    """
    running = lost.filter(state=State.RUNNING)
    now = timezone.now()
    running.filter(cancel_requested=True).update(
        state=State.CANCELLED, finished=now, lease_until=None, doing=""
    )
    limit = settings.RUN_MAX_LOSSES
    running.filter(losses__gte=limit - 1).update(
        state=State.FAILED,
        losses=F("losses") + 1,
        error=f"The worker was lost {limit} times while it computed this run.",
        finished=now,
        lease_until=None,
        doing="",
    )
    for losses in range(limit - 1):
        running.filter(losses=losses).update(
            state=State.QUEUED,
            losses=losses + 1,
            not_before=seconds_from_now(settings.RUN_BACK_OFF_SECONDS * 2**losses),
            lease_until=None,
            kicked_at=None,
            worker="",
            progress=0.0,
            doing="",
        )


def worker_lost(worker: str) -> None:
    """Take back at once the runs of a worker that is known to be dead."""
    runs_take_back(Run.objects.filter(worker=worker))


def is_any_forgotten() -> bool:
    """Is there a queued run that nobody was told about lately?"""
    return _forgotten().exists()


def _forgotten() -> QuerySet[Run, UUID]:
    long_ago = timezone.now() - timedelta(seconds=settings.RUN_REKICK_SECONDS)
    return (
        waiting_runs()
        .filter(Q(kicked_at=None) | Q(kicked_at__lt=long_ago))
        .order_by("created")
        .values_list("pk", flat=True)
    )


def _claim_kick(run_id: UUID) -> bool:
    """Is it up to this caller to kick the run?"""
    run = Run.objects.filter(pk=run_id, state=State.QUEUED).only("created", "kicked_at").first()
    now = timezone.now()
    if run is None or not _is_due(run, now):
        return False
    same_kick = Run.objects.filter(pk=run_id, state=State.QUEUED, kicked_at=run.kicked_at)
    return bool(same_kick.update(kicked_at=now))


def _is_due(run: Run, now: datetime) -> bool:
    """Has the run waited long enough? The wait doubles with every kick, since workers may just be busy."""
    if run.kicked_at is None:
        return True
    longest = timedelta(seconds=30 * settings.RUN_REKICK_SECONDS)
    return now - run.kicked_at >= min(run.kicked_at - run.created, longest)
