"""Counting of events in the transaction in which they happen, so that no count is lost."""

from django.db.models import F

from planner.work.models import Tally


def tally(name: str, more: int) -> None:
    """Increase a counter."""
    if more and not Tally.objects.filter(name=name).update(count=F("count") + more):
        _, is_new = Tally.objects.get_or_create(name=name, defaults={"count": more})
        if not is_new:
            Tally.objects.filter(name=name).update(count=F("count") + more)
