"""What was read for a page and waits to be saved? Kept as rows, for an hour, a few for each workspace."""

from dataclasses import asdict
from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Length
from django.utils import timezone

from planner.accounts.models import User, Workspace
from planner.accounts.services.members import role_require
from planner.clusters.models import Blob, ImportPreview, Snapshot
from planner.clusters.selectors.usage import blobs_without_owner, room_require
from planner.clusters.services.imports import ClusterRead
from planner.clusters.services.snapshots import snapshot_keep
from planner.rules import row_keep
from planning.rows import Problem

PREVIEWS_KEPT = timedelta(hours=1)
"""For how long what was previewed can be saved."""
MOST = 20
"""Previews of one workspace; the oldest go first."""
MOST_BYTES = 50_000_000
"""What they may take together, packed."""


def preview_keep(
    *, read: ClusterRead, workspace: Workspace, name: str, provenance: str, user: User
) -> ImportPreview:
    """Keep what was read, so that its reader can save it."""
    role_require(user=user, workspace=workspace)
    room_require(workspace=workspace)
    assert read.content is not None, "what has errors cannot be saved"
    with transaction.atomic():
        preview = row_keep(
            ImportPreview(
                workspace=workspace,
                owner=user,
                name=name,
                provenance=provenance,
                content=read.content.keep(),
                scheduler_conf=read.scheduler_conf,
                counts=dict(read.counts),
                problems=[asdict(problem) for problem in read.problems],
            )
        )
    _make_room(workspace)
    return preview


def preview_of(*, user: User, preview_id: str) -> ImportPreview | None:
    """Return a preview of an account that it may still save."""
    try:
        return _young().filter(owner=user, pk=UUID(preview_id)).first()
    except ValueError:
        return None


@transaction.atomic
def preview_save(*, preview: ImportPreview, user: User) -> Snapshot:
    """Keep a preview as a snapshot."""
    role_require(user=user, workspace=preview.workspace)
    # The snapshot takes the room that its preview had.
    preview.delete()
    room_require(workspace=preview.workspace)
    return snapshot_keep(
        workspace=preview.workspace,
        name=preview.name,
        content=preview.content,
        scheduler_conf=preview.scheduler_conf,
        counts=preview.counts,
        problems=[Problem(**problem) for problem in preview.problems],
        provenance=preview.provenance,
        owner=user,
    )


def _make_room(workspace: Workspace) -> None:
    """Remove the oldest previews of a workspace that are too many, or too large together."""
    previews_remove(ImportPreview.objects.filter(created__lte=timezone.now() - PREVIEWS_KEPT))
    taken, too_many = 0, []
    newest_first = ImportPreview.objects.filter(workspace=workspace).order_by("-created", "pk")
    for place, (pk, size) in enumerate(newest_first.values_list("pk", Length("content__packed"))):
        taken += size
        if place >= MOST or (place and taken > MOST_BYTES):
            too_many.append(pk)
    previews_remove(ImportPreview.objects.filter(pk__in=too_many))


def _young() -> QuerySet[ImportPreview]:
    return ImportPreview.objects.filter(created__gt=timezone.now() - PREVIEWS_KEPT)


def previews_remove(previews: QuerySet[ImportPreview]) -> None:
    """Remove previews of imports, and bytes of theirs that nobody has kept since."""
    for pk, content, created in list(previews.values_list("pk", "content", "created")):
        with transaction.atomic():
            held = Blob.objects.select_for_update().filter(pk=content, created__lte=created)
            blobs = list(held.values_list("pk", flat=True))
            ImportPreview.objects.filter(pk=pk).delete()
            blobs_without_owner().filter(pk__in=blobs).delete()
