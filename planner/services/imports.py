"""How does a cluster come in? One way for page, API and command."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from django.contrib.auth.models import User
from django.utils import timezone

from planner.engine.importing import Imported, read_cluster
from planner.models import Snapshot, Workspace
from planner.rows import Problem
from planner.services.errors import Invalid
from planner.services.snapshots import snapshot_create

Files = Sequence[tuple[str, bytes]]
"""Names and contents, as they were sent."""


def cluster_read(files: Files) -> Imported:
    """Read a cluster and save nothing; a live export is as of this moment."""
    read = read_cluster(files, now=timezone.now().strftime("%Y-%m-%dT%H:%M:%SZ"))
    return replace(read, problems=[*read.problems, *_left_out(read.unknown_kinds)])


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


def _left_out(kinds: Mapping[str, int]) -> Iterator[Problem]:
    """Name what an import leaves out, so that nothing vanishes in silence."""
    for kind, count in kinds.items():
        message = f"{kind}: {count} left out, the scheduler does not read them."
        yield Problem("kind.left_out", "remark", message, actual=count)
