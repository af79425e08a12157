"""How does a cluster come in? One way for page, API and command; what is large is read by a worker."""

from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from planner.engine.importing import Files, Imported, read_cluster
from planner.engine.parcel import OpenFiles, holds_more, parcel
from planner.engine.sealing import sealed
from planner.models import Blob, Import, Snapshot, User, Workspace
from planner.services.errors import Invalid
from planner.services.members import role_require
from planner.services.snapshots import snapshot_create


def cluster_read(files: Files) -> Imported:
    """Read a cluster and save nothing; a live export is as of this moment."""
    return read_cluster(files, now=moment(timezone.now()), keep=settings.KEEP_ANNOTATIONS)


def cluster_import(
    *, read: Imported, workspace: Workspace, name: str, provenance: str, owner: User | None = None
) -> Snapshot:
    """Keep what was read as a snapshot, or raise Invalid with everything that was found."""
    if read.has_errors:
        raise Invalid(read.problems)
    return snapshot_create(
        workspace=workspace,
        name=name,
        document=read.document,
        scheduler_conf=read.scheduler_conf,
        counts=read.counts,
        problems=read.problems,
        provenance=provenance,
        owner=owner,
    )


def is_large(files: OpenFiles) -> bool:
    """Do files hold so much text that a worker has to read them?"""
    return holds_more(files, settings.IMPORT_SYNCHRONOUS_BYTES)


def packed_files(files: OpenFiles) -> Blob:
    """Return the unsaved blob in which files wait for a worker, sealed; slow, so not inside a transaction."""
    return Blob.of_pieces(sealed(parcel(files)))


@transaction.atomic
def import_create(
    *,
    files: Blob,
    workspace: Workspace,
    name: str,
    provenance: str,
    is_dry: bool = False,
    user: User | None = None,
) -> Import:
    """Keep packed files for a worker that reads them; `is_dry`: it only tells what it finds.

    Interfaces call `planner.tasks.submit_import`, which also sends the kick.
    """
    role_require(user=user, workspace=workspace)
    return Import.objects.create(
        workspace=workspace,
        owner=user,
        name=name,
        provenance=provenance,
        is_dry=is_dry,
        files=files.keep(),
    )


def moment(when: datetime) -> str:
    """Return a moment as Kubernetes writes it."""
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")
