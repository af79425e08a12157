"""Import of the sample, like any other cluster."""

from django.db import transaction

from planner.accounts.models import User, Workspace
from planner.clusters.models import Snapshot
from planner.clusters.sample import SAMPLE_NAME, sample_document
from planner.clusters.services.imports import cluster_read
from planner.clusters.services.snapshots import cluster_import
from planner.scenarios.models import Scenario
from planner.scenarios.services.scenarios import scenario_create
from planning.documents import encoded

_PROVENANCE = "sample"


@transaction.atomic
def sample_load(*, workspace: Workspace, owner: User | None = None) -> Scenario:
    """Return the workspace's scenario of the sample; the first call creates it."""
    snapshot = Snapshot.objects.filter(workspace=workspace, provenance=_PROVENANCE).last()
    if snapshot is None:
        snapshot = cluster_import(
            read=cluster_read([("sample.json", encoded(sample_document()))]),
            workspace=workspace,
            name=SAMPLE_NAME,
            provenance=_PROVENANCE,
            owner=owner,
        )
    scenario = snapshot.scenarios.filter(removed=None).order_by("created").first()
    return scenario or scenario_create(snapshot=snapshot, name=SAMPLE_NAME, owner=owner)
