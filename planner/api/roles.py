"""The role that a writing call needs, checked before anything else of the call is read."""

from collections.abc import Mapping
from typing import Any

from planner.accounts.models import Role, User, Workspace
from planner.accounts.services.members import role_require, workspace_require
from planner.clusters.models import Cluster, Import, Snapshot
from planner.experiments.models import Experiment
from planner.forecasts.models import Forecast, WorkloadTrace
from planner.runs.models import Run
from planner.scenarios.models import Rebase, Scenario

KINDS: Mapping[str, Any] = {
    "run_id": Run,
    "forecast_id": Forecast,
    "experiment_id": Experiment,
    "scenario_id": Scenario,
    "rebase_id": Rebase,
    "trace_id": WorkloadTrace,
    "import_id": Import,
    "snapshot_id": Snapshot,
    "cluster_id": Cluster,
    "workspace_id": Workspace,
}
"""The objects in the address of a call, by its parameter."""


def writer_require(*, user: User, address: Mapping[str, Any], needed: Role) -> None:
    """Raise RoleTooLow if the caller's role does not allow a call that writes (at most 2 queries).

    That is its role in the workspace of the object in the address; without one, in any of its workspaces.
    An object that the caller cannot see is left to the call, which answers 404.
    """
    key = next((key for key in KINDS if key in address), None)
    if key is None:
        workspace_require(user=user)
        return
    mine = Workspace.objects.filter(memberships__user=user)
    rows = KINDS[key]._default_manager.filter(pk=address[key])
    inside = {"pk": address[key]} if key == "workspace_id" else {"pk__in": rows.values("workspace")}
    workspace = mine.filter(**inside).first()
    if workspace is not None:
        role_require(user=user, workspace=workspace, needed=needed)
