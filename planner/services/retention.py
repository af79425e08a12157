"""What is old enough to go? Runs and imports that ended long ago, and what nothing refers to any more."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone
from knox.models import AuthToken

from planner.models import Blob, IdempotencyKey, Import, ImportPreview, Run
from planner.services.logins import expired_guesses_remove
from planner.services.sessions import expired_sessions_remove

KEYS_KEPT = timedelta(days=1)
BLOBS_KEPT = timedelta(days=1)
"""Bytes that nothing refers to may be about to be used, so young ones stay."""
PREVIEWS_KEPT = timedelta(hours=1)
"""For how long what was previewed can be saved."""
AT_ONCE = 200


@dataclass(frozen=True)
class Removed:
    """How many rows went, by kind."""

    runs: int
    imports: int
    blobs: int
    keys: int
    tokens: int


def old_runs_remove(*, keep: timedelta) -> Removed:
    """Remove runs that ended longer ago than `keep` and what is left over; each scenario keeps its last.

    Of imports only the files and the row go: the snapshot stays.
    """
    now = timezone.now()
    runs = _removed_in_steps(_old_runs(ended_before=now - keep))
    imports = _removed_in_steps(Import.objects.filter(finished__lt=now - keep))
    Import.objects.filter(state__in=Import.OVER).exclude(files=None).update(files=None)
    expired_guesses_remove()
    expired_sessions_remove()
    previews_remove(ImportPreview.objects.filter(created__lte=now - PREVIEWS_KEPT))
    expired = AuthToken.objects.filter(expiry__lt=now)
    keys = IdempotencyKey.objects.filter(created__lt=now - KEYS_KEPT)
    return Removed(
        runs=runs,
        imports=imports,
        blobs=_removed_in_steps(blobs_without_owner().filter(created__lt=now - BLOBS_KEPT)),
        keys=keys.delete()[0],
        tokens=expired.delete()[0],
    )


def _old_runs(*, ended_before: datetime) -> QuerySet[Run]:
    later = Run.objects.filter(scenario=OuterRef("scenario"), created__gt=OuterRef("created"), explains=None)
    return Run.objects.filter(finished__lt=ended_before).filter(Exists(later))


def previews_remove(previews: QuerySet[ImportPreview]) -> None:
    """Remove previews of imports, and bytes of theirs that nobody has kept since."""
    for pk, content, created in list(previews.values_list("pk", "content", "created")):
        with transaction.atomic():
            held = Blob.objects.select_for_update().filter(pk=content, created__lte=created)
            blobs = list(held.values_list("pk", flat=True))
            ImportPreview.objects.filter(pk=pk).delete()
            blobs_without_owner().filter(pk__in=blobs).delete()


def blobs_without_owner() -> QuerySet[Blob]:
    """Return the bytes that nothing refers to."""
    blobs = Blob.objects.all()
    for relation in Blob._meta.related_objects:
        owners = relation.related_model._default_manager.filter(**{relation.field.name: OuterRef("pk")})
        blobs = blobs.exclude(Exists(owners))
    return blobs


def _removed_in_steps(rows: QuerySet[Any]) -> int:
    """Remove a few at a time, so that others can write in between; return how many went."""
    removed = 0
    while True:
        with transaction.atomic():
            some = list(rows.values_list("pk", flat=True)[:AT_ONCE])
            # Asked again in the same breath: a row may have been taken up since.
            rows.filter(pk__in=some).delete()
        removed += len(some)
        if len(some) < AT_ONCE:
            return removed
