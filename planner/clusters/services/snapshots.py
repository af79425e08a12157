"""How is what was read of a cluster kept? As a preview for an hour, and as a snapshot."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Length
from django.utils import timezone

from planner.accounts.models import User, Workspace
from planner.accounts.services.members import role_require
from planner.clusters.models import Blob, Cluster, ImportPreview, Snapshot
from planner.clusters.selectors.usage import blobs_without_owner, room_require
from planner.clusters.services.imports import ClusterRead, packed
from planner.errors import Invalid
from planner.rules import row_keep, rules_require
from planning.documents import encoded, items
from planning.importing import Imported
from planning.rows import Problem

PREVIEWS_KEPT = timedelta(hours=1)
"""For how long what was previewed can be saved."""
MOST_PREVIEWS = 20
"""Of one workspace; the oldest go first."""
MOST_PREVIEW_BYTES = 50_000_000
"""What the previews of one workspace may take together, packed."""


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
                queues=read.queues,
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
    read = ClusterRead(
        content=preview.content,
        scheduler_conf=preview.scheduler_conf,
        counts=preview.counts,
        problems=[Problem(**problem) for problem in preview.problems],
        queues=preview.queues,
    )
    return snapshot_keep(
        read=read,
        workspace=preview.workspace,
        name=preview.name,
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
        if place >= MOST_PREVIEWS or (place and taken > MOST_PREVIEW_BYTES):
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


def cluster_import(
    *,
    read: Imported | ClusterRead,
    workspace: Workspace,
    name: str,
    provenance: str,
    owner: User | None = None,
) -> Snapshot:
    """Keep what was read as a snapshot, or raise Invalid with everything that was found."""
    role_require(user=owner, workspace=workspace)
    found = packed(read) if isinstance(read, Imported) else read
    if found.content is None:
        raise Invalid(found.problems)
    room_require(workspace=workspace)
    return snapshot_keep(read=found, workspace=workspace, name=name, provenance=provenance, owner=owner)


def snapshot_create(
    *,
    workspace: Workspace,
    name: str,
    document: Mapping[str, Any],
    scheduler_conf: str = "",
    counts: Mapping[str, int] | None = None,
    problems: Sequence[Problem] = (),
    provenance: str = "",
    cluster: str = "",
    owner: User | None = None,
) -> Snapshot:
    """Keep a scenario document (golden format) as a snapshot.

    `scheduler_conf` is the configuration as text; a `scheduler_conf` inside the document is left out of the
    kept content, so hand over its text. `problems` are warnings and remarks; a caller refuses errors before.
    """
    role_require(user=owner, workspace=workspace)
    room_require(workspace=workspace)
    document = {key: value for key, value in document.items() if key != "scheduler_conf"}
    read = ClusterRead(
        content=Blob.of(encoded(document)),
        scheduler_conf=scheduler_conf,
        counts=counts or {},
        problems=problems,
        queues=items(document.get("queues")),
    )
    return snapshot_keep(
        read=read, workspace=workspace, name=name, provenance=provenance, owner=owner, cluster=cluster
    )


@transaction.atomic
def snapshot_keep(
    *,
    read: ClusterRead,
    workspace: Workspace,
    name: str,
    provenance: str,
    owner: User | None,
    cluster: str = "",
) -> Snapshot:
    """Keep what was read without an error, and is packed already, as a snapshot.

    Whether its owner may do that was asked when it was sent.
    """
    assert read.content is not None, "what has errors cannot be saved"
    rules_require(Cluster(workspace=workspace, name=cluster or name))
    belongs_to, _ = Cluster.objects.get_or_create(workspace=workspace, name=cluster or name)
    return row_keep(
        Snapshot(
            workspace=workspace,
            cluster=belongs_to,
            name=name,
            owner=owner,
            provenance=provenance,
            counts=dict(read.counts),
            problems=[asdict(problem) for problem in read.problems],
            scheduler_conf=read.scheduler_conf,
            queues=None if read.queues is None else list(read.queues),
            content=read.content.keep(),
        )
    )
