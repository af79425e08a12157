"""Turns of the owners of queued work: the owner with the least running work is next, with the oldest work.

Work that users wait for goes before background work.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from django.db import connection, transaction
from django.db.models import Count, Min, Q, QuerySet
from django.db.models.functions import Now

from planner.work.kinds import awaited_kinds, background_kinds, kinds
from planner.work.lifecycle import Claim, Kind, work_claim
from planner.work.models import Work

State = Work.State


def waiting(kind: type[Kind]) -> QuerySet[Kind]:
    """Return the queued work that may start now; after the loss of a worker it is delayed."""
    may_start = Q(not_before=None) | Q(not_before__lte=Now())
    return kind._default_manager.filter(may_start, state=State.QUEUED)


def has_queued_work() -> bool:
    """Return whether any work may start now (at most a query per kind)."""
    return any(waiting(kind).exists() for kind in kinds())


def has_awaited_work() -> bool:
    """Return whether work that users wait for may start now (at most a query per kind)."""
    return any(waiting(kind).exists() for kind in awaited_kinds())


@transaction.atomic
def work_claim_next(*, worker: str) -> Claim[Any] | None:
    """Claim the work whose turn it is, None if there is none (at most 3 queries per kind).

    If the database supports it, rows that another worker is about to claim are skipped, so that workers that
    become free at the same moment do not compete for one row.
    """
    for ranked in (awaited_kinds(), background_kinds()):
        for work in _oldest_of_owners(ranked):
            return work_claim(kind=type(work), id=work.pk, worker=worker)
    return None


def _oldest_of_owners(ranked: Sequence[type[Work]]) -> Iterator[Work]:
    """Yield the oldest waiting work of each owner, starting with the owner with the least running work."""
    first = _first_of_owners(ranked)
    busy = _busy() if first else Counter()
    for owner in sorted(first, key=lambda owner: (busy[owner], first[owner])):
        oldest: list[Work] = [work for kind in ranked for work in _of_owner(kind, owner)[:1]]
        if oldest:
            yield min(oldest, key=lambda work: (work.created, work.pk))


def _of_owner(kind: type[Kind], owner: int | None) -> QuerySet[Kind]:
    rows = waiting(kind).filter(owner=owner).order_by("created", "pk").only("created")
    can_skip = connection.features.has_select_for_update_skip_locked
    return rows.select_for_update(skip_locked=True) if can_skip else rows


def _first_of_owners(ranked: Sequence[type[Work]]) -> dict[int | None, datetime]:
    """Return the creation time of the oldest waiting work of each owner."""
    first: dict[int | None, datetime] = {}
    for kind in ranked:
        for owner, created in waiting(kind).order_by().values_list("owner").annotate(first=Min("created")):
            first[owner] = min(created, first.get(owner, created))
    return first


def _busy() -> Counter[int | None]:
    """Return the number of running pieces of work of each owner."""
    busy: Counter[int | None] = Counter()
    for kind in kinds():
        running = kind._default_manager.filter(state=State.RUNNING).order_by()
        busy.update(dict(running.values_list("owner").annotate(count=Count("pk"))))
    return busy
