"""Export of a run as a bundle, and import of a bundle from another installation."""

from dataclasses import dataclass
from typing import IO

from django.conf import settings
from django.db import transaction

from planner.accounts.models import User, Workspace
from planner.clusters.models import Blob
from planner.clusters.selectors.usage import quota_require
from planner.clusters.services.imports import ClusterRead, kept_of, read_by_child
from planner.clusters.services.snapshots import cluster_import
from planner.errors import Invalid
from planner.runs.models import Run
from planner.runs.services.runs import run_queue
from planner.scenarios.services.scenarios import scenario_create
from planning.bundle import About, Bundle, NoBundle, unpacked_bytes


def bundle_export(*, run: Run) -> bytes:
    """Return a succeeded run as one file."""
    assert run.result is not None, "only a run with a result can be exported"
    about = About(
        name=run.scenario.name,
        scenario_revision=run.scenario_revision,
        options=run.options,
        engine_version=run.engine_version,
        input_sha256=run.input.sha256,
        result_sha256=run.result.sha256,
    )
    return Bundle(about, run.input.content(), run.result.content()).packed()


def is_large_bundle(file: IO[bytes]) -> bool:
    """Return whether a bundle is so large that a worker must read it; raise Invalid if it is not a bundle."""
    try:
        return unpacked_bytes(file) > int(settings.IMPORT_SYNCHRONOUS_BYTES)
    except NoBundle as error:
        raise Invalid(error.problems) from None


@dataclass(frozen=True)
class BundleRead:
    """The contents of a bundle, packed for storage."""

    cluster: ClusterRead
    about: About
    frozen: Blob
    """The input of its run."""


def bundle_read(file: IO[bytes]) -> BundleRead:
    """Read a bundle; slow, so call it outside transactions. Raises Busy or Invalid."""
    with read_by_child([("run.zip", file)], is_bundle=True) as read:
        found, about = kept_of(read), read.about
        if found.content is None or about is None:
            raise Invalid(found.problems)
        return BundleRead(found, about, Blob.of_pieces(read.input()))


@transaction.atomic
def bundle_store(*, read: BundleRead, workspace: Workspace, user: User | None) -> Run:
    """Store the cluster of a bundle as snapshot and scenario, and queue its run.

    The run has the bundle's input, but for annotations that imports discard and no session reads.
    """
    about = read.about
    snapshot = cluster_import(
        read=read.cluster,
        workspace=workspace,
        name=about.name,
        provenance=f"bundle of a run, engine {about.engine_version}"[:500],
        owner=user,
    )
    scenario = scenario_create(snapshot=snapshot, name=about.name, owner=user)
    quota_require(workspace=workspace)
    return run_queue(scenario=scenario, content=read.frozen, options=about.options, user=user)
