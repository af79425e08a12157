"""Import of clusters, shared by page, API and command; workers read large files."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from planner.accounts.models import User, Workspace
from planner.accounts.services.members import role_require
from planner.clusters.models import Blob, Import
from planner.clusters.sealing import sealed
from planner.clusters.selectors.demand import demand_store
from planner.clusters.selectors.usage import quota_require
from planner.clusters.services.reading_process import Read, reading
from planner.work.awaited import IN_PROCESS_BYTES, Cost, awaited, go_on
from planner.work.lifecycle import work_enqueue
from planning.archive import archived
from planning.documents import encoded, items
from planning.importing import Files, Imported, OpenFiles, holds_more, read_cluster
from planning.rows import Problem


@dataclass(frozen=True)
class ClusterRead:
    """The objects that were read, packed for storage."""

    content: Blob | None
    """The objects as one unsaved document; None if there are errors."""
    scheduler_conf: str
    counts: Mapping[str, int]
    problems: Sequence[Problem]
    queues: Sequence[Mapping[str, Any]] | None
    """The Queue objects; None: they are only in the content."""
    unknown_kinds: Mapping[str, int] = field(default_factory=dict)

    @property
    def has_conf(self) -> bool:
        """Whether a scheduler configuration was read."""
        return bool(self.scheduler_conf)


def cluster_read(files: Files) -> Imported:
    """Read a cluster without saving it; a live export is taken as of now."""
    return read_cluster(files, now=moment(timezone.now()), keep=settings.KEEP_ANNOTATIONS)


def cluster_read_apart(files: OpenFiles) -> ClusterRead:
    """Read a cluster without saving it, in a child process unless it is small.

    A hostile text can take a hundred times its size in memory, which must not hit this process. Raises Busy.
    """
    if not holds_more(files, IN_PROCESS_BYTES):
        return packed(cluster_read([(label, file.read()) for label, file in files]))
    with read_by_child(files) as read:
        return kept_of(read)


@contextmanager
def read_by_child(files: OpenFiles, *, is_bundle: bool = False) -> Iterator[Read]:
    """Read files in a child process, one at a time; raise Busy or Invalid."""
    fix = "Split the file, or import it by `manage.py import_cluster`, which has no such limit"
    with (
        awaited(Cost("import.too_costly", "files", fix)) as limits,
        reading(
            archived(files),
            now=moment(timezone.now()),
            keep=settings.KEEP_ANNOTATIONS,
            is_bundle=is_bundle,
            limits=limits,
            beat=go_on,
        ) as read,
    ):
        yield read


def kept_of(read: Read) -> ClusterRead:
    """Return what a child read, packed."""
    content = None if read.has_errors else Blob.of_pieces(read.document())
    if content is not None:
        demand_store(content.sha256, read.demand)
    return ClusterRead(
        content=content,
        scheduler_conf=read.scheduler_conf,
        counts=read.counts,
        unknown_kinds=read.unknown_kinds,
        problems=read.problems,
        queues=read.queues,
    )


def packed(read: Imported) -> ClusterRead:
    """Return a cluster with packed objects; slow, so call it outside transactions."""
    return ClusterRead(
        content=None if read.has_errors else Blob.of(encoded(read.document)),
        scheduler_conf=read.scheduler_conf,
        counts=read.counts,
        unknown_kinds=read.unknown_kinds,
        problems=read.problems,
        queues=items(read.document.get("queues")),
    )


def is_large(files: OpenFiles, most: int | None = None) -> bool:
    """Return whether files hold so much text that a worker must read them; `most` is a lower limit."""
    limit = settings.IMPORT_SYNCHRONOUS_BYTES
    return holds_more(files, limit if most is None else min(most, limit))


def packed_files(files: OpenFiles) -> Blob:
    """Return the unsaved blob of encrypted files for a worker; slow, so call it outside transactions."""
    return Blob.of_pieces(sealed(archived(files)))


@transaction.atomic
def import_create(
    *,
    files: Blob,
    workspace: Workspace,
    name: str,
    provenance: str,
    is_dry: bool = False,
    is_bundle: bool = False,
    user: User | None = None,
) -> Import:
    """Queue packed files for a worker; with `is_dry` it only reports what it finds."""
    role_require(user=user, workspace=workspace)
    quota_require(workspace=workspace)
    return work_enqueue(
        Import(
            workspace=workspace,
            owner=user,
            name=name,
            provenance=provenance,
            is_dry=is_dry,
            is_bundle=is_bundle,
            files=files.keep(),
        )
    )


def moment(when: datetime) -> str:
    """Return a time as Kubernetes writes it."""
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")
