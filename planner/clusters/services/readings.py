"""Reading of a claimed import by a worker."""

from dataclasses import asdict
from typing import Any

from django.conf import settings
from django.db import transaction

from planner.accounts.models import Role
from planner.clusters.models import Blob, Import
from planner.clusters.sealing import opened
from planner.clusters.services.imports import ClusterRead, kept_of, moment
from planner.clusters.services.reading_process import Read, reading
from planner.clusters.services.snapshots import snapshot_store
from planner.runs.services.bundles import BundleRead, bundle_store
from planner.work.execution import Watch, retry_on_db_error
from planner.work.lifecycle import Claim, work_end

State = Import.State


def import_read(claim: Claim[Import], watch: Watch) -> None:
    """Read an import's files in a child process and store their objects.

    Raises ChildFailed and ChildStopped as `reading` does.
    """
    cluster_import = retry_on_db_error(lambda: Import.objects.select_related("files").get(pk=claim.id))
    assert cluster_import.files is not None, "files are kept until the import has ended"
    with reading(
        opened(cluster_import.files.pieces()),
        now=moment(cluster_import.created),
        keep=settings.KEEP_ANNOTATIONS,
        is_bundle=cluster_import.is_bundle,
        limits=watch.limits,
        beat=watch.beat,
    ) as read:
        if read.has_errors:
            retry_on_db_error(lambda: _refuse(claim, read))
            return
        with watch.beating("storing the objects"):
            found = None if cluster_import.is_dry else kept_of(read)
            frozen = Blob.of_pieces(read.input()) if found and cluster_import.is_bundle else None
        retry_on_db_error(lambda: _finish(claim, read, found, frozen))


def _refuse(claim: Claim[Import], read: Read) -> bool:
    """End an import with the errors of its files; return False if the claim was lost."""
    errors = sum(problem.is_error for problem in read.problems)
    error = f"{errors} problem{'' if errors == 1 else 's'} to fix; nothing was saved."
    return work_end(claim=claim, state=State.FAILED, error=error, **_facts(read))


@transaction.atomic
def _finish(claim: Claim[Import], read: Read, found: ClusterRead | None, frozen: Blob | None) -> bool:
    """Store the snapshot and end the import, in one transaction; return False if the claim was lost."""
    mine = claim.mine().select_for_update().first()
    if mine is None:
        return False
    made: dict[str, Any] = {}
    if found is not None and read.about is not None and frozen is not None:
        # The sender's current permissions count: a run is queued in the sender's name.
        user = None if mine.owner is None else mine.owner.acting(Role.EDITOR)
        bundle = BundleRead(found, read.about, frozen)
        run = bundle_store(read=bundle, workspace=mine.workspace, user=user)
        made = {"run": run, "snapshot": run.scenario.snapshot}
    elif found is not None and found.content is not None:
        made["snapshot"] = snapshot_store(
            read=found,
            workspace=mine.workspace,
            name=mine.name,
            provenance=mine.provenance,
            owner=mine.owner,
        )
    return work_end(claim=claim, state=State.SUCCEEDED, **made, **_facts(read))


def _facts(read: Read) -> dict[str, Any]:
    """Return the facts to store about the files, whether they can be saved or not."""
    return {
        "counts": dict(read.counts),
        "unknown_kinds": dict(read.unknown_kinds),
        "has_conf": bool(read.scheduler_conf),
        "problems": [asdict(problem) for problem in read.problems],
    }
