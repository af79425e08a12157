"""Recovery of work whose worker died."""

from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from planner.work.kinds import kinds
from planner.work.lifecycle import Kind, seconds_from_now
from planner.work.models import Tally, Work
from planner.work.tallies import tally

State = Work.State


def work_recover() -> None:
    """Requeue the work whose lease expired.

    Every worker calls this at intervals. Each step is a conditional update, so concurrent calls are safe.
    """
    for kind in kinds():
        _requeue(kind._default_manager.filter(lease_until__lt=Now()))


@transaction.atomic
def _requeue(lost: QuerySet[Kind]) -> None:
    """Queue running work again whose worker is lost; end it if it was cancelled or lost too often.

    The delay before the next attempt doubles with every loss.
    """
    running = lost.filter(state=State.RUNNING)
    now = timezone.now()
    leases = running.filter(cancel_requested=True).update(
        state=State.CANCELLED, finished=now, lease_until=None, doing=""
    )
    limit = settings.RUN_MAX_LOSSES
    leases += running.filter(losses__gte=limit - 1).update(
        state=State.FAILED,
        losses=F("losses") + 1,
        error=f"The worker was lost {limit} times while working on this {lost.model.kind_name()}, most likely"
        " because its machine ran out of memory or was restarted. Start it again, or see the workers' logs.",
        finished=now,
        lease_until=None,
        doing="",
    )
    again = 0
    for losses in range(limit - 1):
        again += running.filter(losses=losses).update(
            state=State.QUEUED,
            losses=losses + 1,
            not_before=seconds_from_now(settings.RUN_BACK_OFF_SECONDS * 2**losses),
            lease_until=None,
            worker="",
            progress=0.0,
            doing="",
        )
    tally(Tally.LOST_LEASES, leases + again)
    tally(Tally.RETRIES, again)


def worker_lost(worker: str) -> None:
    """Requeue immediately the work of a worker that is known to be dead."""
    for kind in kinds():
        _requeue(kind._default_manager.filter(worker=worker))
