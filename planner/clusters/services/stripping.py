"""Removal of possible secrets from objects that an older version stored."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from django.conf import settings
from django.db import connection, models, transaction

from planner.clusters.models import Blob, Snapshot
from planner.clusters.selectors.usage import unreferenced_blobs
from planner.runs.models import Run
from planner.scenarios.models import Change, ObjectChange, Queue, ScenarioCopy
from planning.objects import bare_objects
from planning.stripped import bare_change, bare_copy, bare_input, bare_queue

AT_ONCE = 200


def stored_strip() -> dict[str, int]:
    """Rewrite every stored object without possible secrets; return how many rows changed, by model.

    It can run repeatedly, beside web and workers. The result of a run keeps its bytes for the new input.
    """
    done: Counter[str] = Counter()
    for model, field, bare in (
        (Snapshot, "content", bare_input),
        (Run, "input", bare_input),
        (ScenarioCopy, "content", bare_copy),
    ):
        done[model.__name__] += _blobs_strip(model, field, bare)
    done["ObjectChange"] += _rows_strip(ObjectChange, ("manifest",), _object_bare)
    done["Change"] += _rows_strip(Change, ("before", "after"), _change_bare)
    done["Queue"] += _rows_strip(Queue, ("annotations", "extra"), _queue_bare)
    _pages_forget()
    return dict(done)


def _pages_forget() -> None:
    """Make the database erase deleted rows from its files; PostgreSQL does so in time by vacuuming."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("VACUUM")
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _blobs_strip(model: type[models.Model], field: str, bare: Callable[..., bytes]) -> int:
    """Point rows to the stripped bytes; each blob is unpacked once."""
    rows = model._default_manager.order_by()
    also: dict[str, Any] = {"queues": None} if model is Snapshot else {}
    changed = 0
    for digest in list(rows.values_list(f"{field}_id", flat=True).distinct()):
        blob = Blob.objects.get(pk=digest)
        content = blob.content()
        without = bare(content, settings.KEEP_ANNOTATIONS)
        if without is content:
            continue
        kept = Blob.of(without)
        with transaction.atomic():
            changed += rows.filter(**{field: digest}).update(**{field: kept.keep(), **also})
            unreferenced_blobs().filter(pk=digest).delete()
    return changed


def _rows_strip(model: type[Any], fields: tuple[str, ...], bare: Callable[[Any], bool]) -> int:
    changed = 0
    for rows in _few_at_once(model):
        with transaction.atomic():
            lost = [
                row for row in model._default_manager.select_for_update().filter(pk__in=rows) if bare(row)
            ]
            model._default_manager.bulk_update(lost, fields)
        changed += len(lost)
    return changed


def _few_at_once(model: type[Any]) -> Iterator[list[Any]]:
    keys = list(model._default_manager.order_by().values_list("pk", flat=True))
    for start in range(0, len(keys), AT_ONCE):
        yield keys[start : start + AT_ONCE]


def _object_bare(row: ObjectChange) -> bool:
    """Strip an object of a scenario; return whether it changed."""
    before = row.manifest
    [row.manifest] = bare_objects({(row.kind, row.key): before}, settings.KEEP_ANNOTATIONS).values()
    return row.manifest is not before


def _change_bare(row: Change) -> bool:
    """Strip both sides of a change; return whether it changed."""
    before, after = row.before, row.after
    row.before = bare_change(row.kind, row.field, before, settings.KEEP_ANNOTATIONS)
    row.after = bare_change(row.kind, row.field, after, settings.KEEP_ANNOTATIONS)
    return row.before is not before or row.after is not after


def _queue_bare(row: Queue) -> bool:
    """Strip a queue's row; return whether it changed."""
    bare = bare_queue(row, settings.KEEP_ANNOTATIONS)
    if bare is None:
        return False
    row.annotations, row.extra = bare.annotations, bare.extra
    return True
