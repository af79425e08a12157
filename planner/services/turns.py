"""Whose run is next? Owners take turns: the one with the fewest running runs, and of those the oldest run."""

from uuid import UUID

from django.db.models import Count, Min, Q, QuerySet
from django.db.models.functions import Now

from planner.models import Run

State = Run.State


def waiting_runs() -> QuerySet[Run]:
    """Return the queued runs that may start now; after a lost worker a run waits for a while."""
    return Run.objects.filter(Q(not_before=None) | Q(not_before__lte=Now()), state=State.QUEUED)


def next_run() -> UUID | None:
    """Return the run that a free worker should take, if any waits (3 queries)."""
    waiting = waiting_runs().order_by()
    first = dict(waiting.values_list("owner").annotate(first=Min("created")))
    if not first:
        return None
    running = Run.objects.filter(state=State.RUNNING).order_by()
    busy = dict(running.values_list("owner").annotate(count=Count("pk")))
    owner = min(first, key=lambda owner: (busy.get(owner, 0), first[owner]))
    return waiting.filter(owner=owner).order_by("created", "pk").values_list("pk", flat=True).first()
