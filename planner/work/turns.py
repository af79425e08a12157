"""Whose work is next? Owners take turns: the one with the least in work, and of those the oldest work.

What somebody waits for goes before what is done in the background.
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
    """Return the queued work that may start now; after a lost worker it waits for a while."""
    may_start = Q(not_before=None) | Q(not_before__lte=Now())
    return kind._default_manager.filter(may_start, state=State.QUEUED)


def has_queued() -> bool:
    """Is there work for a free worker (a query for each kind, at most)?"""
    return any(waiting(kind).exists() for kind in kinds())


def does_anybody_wait() -> bool:
    """Is there work that goes before the background's (a query for each kind, at most)?"""
    return any(waiting(kind).exists() for kind in awaited_kinds())


@transaction.atomic
def turn_claim(*, worker: str) -> Claim[Any] | None:
    """Take the work whose turn it is, None when nothing waits (3 queries for each kind, at most, to find it).

    Where the database can, rows that another worker is about to take are passed over, so that workers that
    become free at the same moment do not all reach for the same one.
    """
    for ranked in (awaited_kinds(), background_kinds()):
        for work in _oldest_of_owners(ranked):
            return work_claim(kind=type(work), id=work.pk, worker=worker)
    return None


def _oldest_of_owners(ranked: Sequence[type[Work]]) -> Iterator[Work]:
    """Yield the oldest waiting work of each owner, first of the owner with the least in work."""
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
    """Return since when the oldest waiting work of each owner waits."""
    first: dict[int | None, datetime] = {}
    for kind in ranked:
        for owner, created in waiting(kind).order_by().values_list("owner").annotate(first=Min("created")):
            first[owner] = min(created, first.get(owner, created))
    return first


def _busy() -> Counter[int | None]:
    """Return how much of each owner is in work."""
    busy: Counter[int | None] = Counter()
    for kind in kinds():
        running = kind._default_manager.filter(state=State.RUNNING).order_by()
        busy.update(dict(running.values_list("owner").annotate(count=Count("pk"))))
    return busy
