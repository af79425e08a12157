"""The URLs of the API calls about scenarios."""

from django.urls import path

from planner.scenarios.api import (
    checks,
    documents,
    history,
    nodes,
    queues,
    reach,
    rebase,
    scenarios,
    workloads,
)

calls = [
    path(
        "workspaces/<uuid:workspace_id>/changes/",
        history.WorkspaceChanges.as_view(),
        name="workspace-changes",
    ),
    path(
        "snapshots/<uuid:snapshot_id>/document/",
        documents.SnapshotDocument.as_view(),
        name="snapshot-document",
    ),
    path("scenarios/", scenarios.ScenarioList.as_view(), name="scenarios"),
    path("scenarios/<uuid:scenario_id>/", scenarios.ScenarioDetail.as_view(), name="scenario"),
    path("scenarios/<uuid:scenario_id>/queues/", queues.QueueList.as_view(), name="scenario-queues"),
    path(
        "scenarios/<uuid:scenario_id>/queues/<str:name>/",
        queues.QueueDetail.as_view(),
        name="scenario-queue",
    ),
    path("scenarios/<uuid:scenario_id>/preview/", queues.ScenarioPreview.as_view(), name="scenario-preview"),
    path("scenarios/<uuid:scenario_id>/reach/", reach.ScenarioReach.as_view(), name="scenario-reach"),
    path("scenarios/<uuid:scenario_id>/validate/", checks.Validate.as_view(), name="scenario-validate"),
    path(
        "scenarios/<uuid:scenario_id>/document/",
        documents.ScenarioDocument.as_view(),
        name="scenario-document",
    ),
    path("scenarios/<uuid:scenario_id>/export/", checks.ScenarioExport.as_view(), name="scenario-export"),
    path("conf/lint/", checks.ConfLint.as_view(), name="conf-lint"),
    path("scenarios/<uuid:scenario_id>/branch/", history.Branch.as_view(), name="scenario-branch"),
    path("scenarios/<uuid:scenario_id>/changes/", history.ChangeList.as_view(), name="scenario-changes"),
    path(
        "scenarios/<uuid:scenario_id>/changes/<uuid:change_id>/revert/",
        history.ChangeRevert.as_view(),
        name="change-revert",
    ),
    path("scenarios/<uuid:scenario_id>/rebase/", rebase.Rebase.as_view(), name="scenario-rebase"),
    path("rebases/<uuid:rebase_id>/", rebase.RebaseDetail.as_view(), name="rebase"),
    path("rebases/<uuid:rebase_id>/cancel/", rebase.RebaseCancel.as_view(), name="rebase-cancel"),
    path("scenarios/<uuid:scenario_id>/undo/", history.Undo.as_view(), name="scenario-undo"),
    path("scenarios/<uuid:scenario_id>/redo/", history.Redo.as_view(), name="scenario-redo"),
    path("scenarios/<uuid:scenario_id>/diff/", history.Diff.as_view(), name="scenario-diff"),
    path("scenarios/<uuid:scenario_id>/diff/revert/", history.DiffRevert.as_view(), name="diff-revert"),
    path("scenarios/<uuid:scenario_id>/nodes/", nodes.NodeList.as_view(), name="scenario-nodes"),
    path("scenarios/<uuid:scenario_id>/nodes/add/", nodes.NodesAdd.as_view(), name="nodes-add"),
    path("scenarios/<uuid:scenario_id>/nodes/<str:node>/", nodes.NodeDetail.as_view(), name="scenario-node"),
    path(
        "scenarios/<uuid:scenario_id>/workloads/", workloads.WorkloadList.as_view(), name="scenario-workloads"
    ),
    path(
        "scenarios/<uuid:scenario_id>/workloads/<str:kind>/<str:namespace>/<str:job>/",
        workloads.WorkloadDetail.as_view(),
        name="scenario-workload",
    ),
    path("scenarios/<uuid:scenario_id>/release/", scenarios.ReleaseDetail.as_view(), name="scenario-release"),
    path("scenarios/<uuid:scenario_id>/conf/", scenarios.ConfDetail.as_view(), name="scenario-conf"),
]
