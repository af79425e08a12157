"""Storage of imported clusters: as a preview for an hour, and as a snapshot."""

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
from planner.clusters.selectors.usage import quota_require, unreferenced_blobs
from planner.clusters.services.imports import ClusterRead, packed
from planner.errors import Invalid
from planner.rules import row_create, row_lock, row_validate
from planning.documents import encoded, items
from planning.importing import Imported
from planning.rows import Problem

PREVIEWS_KEPT = timedelta(hours=1)
"""For how long a preview can be saved."""
MOST_PREVIEWS = 20
"""The most previews of one workspace; the oldest are removed first."""
MOST_PREVIEW_BYTES = 50_000_000
"""The packed size limit of one workspace's previews together."""


def preview_store(
    *, read: ClusterRead, workspace: Workspace, name: str, provenance: str, user: User
) -> ImportPreview:
    """Store a preview, so that its user can save it."""
    role_require(user=user, workspace=workspace)
    quota_require(workspace=workspace)
    assert read.content is not None, "a cluster with errors cannot be saved"
    with transaction.atomic():
        preview = row_create(
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
    """Return a preview of an account that can still be saved."""
    try:
        return _young().filter(owner=user, pk=UUID(preview_id)).first()
    except ValueError:
        return None


@transaction.atomic
def preview_save(*, preview: ImportPreview, user: User) -> Snapshot:
    """Store a preview as a snapshot, once; raise Gone if it was saved or removed in the meantime."""
    role_require(user=user, workspace=preview.workspace)
    row_lock(preview)
    # The snapshot takes the space of its preview.
    preview.delete()
    quota_require(workspace=preview.workspace)
    read = ClusterRead(
        content=preview.content,
        scheduler_conf=preview.scheduler_conf,
        counts=preview.counts,
        problems=[Problem(**problem) for problem in preview.problems],
        queues=preview.queues,
    )
    return snapshot_store(
        read=read,
        workspace=preview.workspace,
        name=preview.name,
        provenance=preview.provenance,
        owner=user,
    )


def _make_room(workspace: Workspace) -> None:
    """Remove the oldest previews of a workspace that exceed the number or the size."""
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
    """Remove previews of imports, and their blobs that nothing else refers to."""
    for pk, content, created in list(previews.values_list("pk", "content", "created")):
        with transaction.atomic():
            held = Blob.objects.select_for_update().filter(pk=content, created__lte=created)
            blobs = list(held.values_list("pk", flat=True))
            ImportPreview.objects.filter(pk=pk).delete()
            unreferenced_blobs().filter(pk__in=blobs).delete()


def cluster_import(
    *,
    read: Imported | ClusterRead,
    workspace: Workspace,
    name: str,
    provenance: str,
    owner: User | None = None,
) -> Snapshot:
    """Store a cluster as a snapshot, or raise Invalid with every problem."""
    role_require(user=owner, workspace=workspace)
    found = packed(read) if isinstance(read, Imported) else read
    if found.content is None:
        raise Invalid(found.problems)
    quota_require(workspace=workspace)
    return snapshot_store(read=found, workspace=workspace, name=name, provenance=provenance, owner=owner)


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
    """Store a scenario document (golden format) as a snapshot.

    `scheduler_conf` is the configuration as text; a `scheduler_conf` inside the document is not stored, so
    pass its text. `problems` are warnings and remarks; callers reject errors before.
    """
    role_require(user=owner, workspace=workspace)
    quota_require(workspace=workspace)
    document = {key: value for key, value in document.items() if key != "scheduler_conf"}
    read = ClusterRead(
        content=Blob.of(encoded(document)),
        scheduler_conf=scheduler_conf,
        counts=counts or {},
        problems=problems,
        queues=items(document.get("queues")),
    )
    return snapshot_store(
        read=read, workspace=workspace, name=name, provenance=provenance, owner=owner, cluster=cluster
    )


@transaction.atomic
def snapshot_store(
    *,
    read: ClusterRead,
    workspace: Workspace,
    name: str,
    provenance: str,
    owner: User | None,
    cluster: str = "",
) -> Snapshot:
    """Store a packed cluster without errors as a snapshot.

    The owner's permission was checked when it was uploaded.
    """
    assert read.content is not None, "a cluster with errors cannot be saved"
    row_validate(Cluster(workspace=workspace, name=cluster or name))
    belongs_to, _ = Cluster.objects.get_or_create(workspace=workspace, name=cluster or name)
    return row_create(
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
