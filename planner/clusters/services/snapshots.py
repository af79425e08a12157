"""How is an imported cluster kept?"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from django.db import transaction

from planner.accounts.models import User, Workspace
from planner.accounts.services.members import role_require
from planner.clusters.models import Blob, Cluster, Snapshot
from planner.clusters.selectors.usage import room_require
from planner.rules import row_keep, rules_require
from planning.documents import encoded, items
from planning.rows import Problem


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
    content = Blob.of(encoded({key: value for key, value in document.items() if key != "scheduler_conf"}))
    with transaction.atomic():
        return snapshot_keep(
            workspace=workspace,
            name=name,
            content=content,
            scheduler_conf=scheduler_conf,
            counts=counts or {},
            problems=problems,
            queues=items(document.get("queues")),
            provenance=provenance,
            cluster=cluster,
            owner=owner,
        )


@transaction.atomic
def snapshot_keep(
    *,
    workspace: Workspace,
    name: str,
    content: Blob,
    scheduler_conf: str,
    counts: Mapping[str, int],
    problems: Sequence[Problem],
    provenance: str,
    owner: User | None,
    cluster: str = "",
    queues: Sequence[Mapping[str, Any]] | None = None,
) -> Snapshot:
    """Keep a document that is packed already, without `scheduler_conf`, as a snapshot.

    `queues` are those of the document, so that a scenario begins without unpacking it.

    Whether its owner may do that was asked when it was sent.
    """
    rules_require(Cluster(workspace=workspace, name=cluster or name))
    belongs_to, _ = Cluster.objects.get_or_create(workspace=workspace, name=cluster or name)
    return row_keep(
        Snapshot(
            workspace=workspace,
            cluster=belongs_to,
            name=name,
            owner=owner,
            provenance=provenance,
            counts=dict(counts),
            problems=[asdict(problem) for problem in problems],
            scheduler_conf=scheduler_conf,
            queues=None if queues is None else list(queues),
            content=content.keep(),
        )
    )
