"""Which address under /api/v1/ leads to which call?"""

from django.urls import path, re_path
from drf_spectacular.views import SpectacularAPIView

from planner.accounts.api import accounts, workspaces
from planner.api import docs
from planner.api.missing import Nowhere
from planner.clusters.api import clusters, imports, snapshots
from planner.runs.api import comparisons, explain, runs, sharing
from planner.scenarios.api import checks, documents, history, nodes, queues, rebase, scenarios, workloads
from planner.upgrades import api as upgrades
from planner.work import api as status

app_name = "api"

urlpatterns = [
    path("schema/", SpectacularAPIView.as_view(), name="schema"),
    path("docs/", docs.Docs.as_view(), name="docs"),
    path("workspaces/", workspaces.WorkspaceList.as_view(), name="workspaces"),
    path("workspaces/<uuid:workspace_id>/", workspaces.WorkspaceDetail.as_view(), name="workspace"),
    path("workspaces/<uuid:workspace_id>/members/", workspaces.MemberList.as_view(), name="members"),
    path(
        "workspaces/<uuid:workspace_id>/members/<str:username>/",
        workspaces.MemberDetail.as_view(),
        name="member",
    ),
    path(
        "workspaces/<uuid:workspace_id>/invitations/", accounts.InvitationList.as_view(), name="invitations"
    ),
    path(
        "workspaces/<uuid:workspace_id>/invitations/<uuid:invitation_id>/",
        accounts.InvitationDetail.as_view(),
        name="invitation",
    ),
    path("invitations/", accounts.OfferList.as_view(), name="offers"),
    path("invitations/<uuid:invitation_id>/", accounts.OfferDetail.as_view(), name="offer"),
    path("invitations/<uuid:invitation_id>/accept/", accounts.OfferAccept.as_view(), name="offer-accept"),
    path("workspaces/<uuid:workspace_id>/history/", accounts.History.as_view(), name="history"),
    path(
        "workspaces/<uuid:workspace_id>/changes/",
        accounts.WorkspaceChanges.as_view(),
        name="workspace-changes",
    ),
    path("sessions/", accounts.SessionList.as_view(), name="sessions"),
    path("sessions/<str:session>/", accounts.SessionDetail.as_view(), name="session"),
    path("logins/", accounts.LoginList.as_view(), name="logins"),
    path("tokens/", accounts.TokenList.as_view(), name="tokens"),
    path("tokens/<str:token_key>/", accounts.TokenDetail.as_view(), name="token"),
    path("account/", accounts.Account.as_view(), name="account"),
    path("clusters/", clusters.ClusterList.as_view(), name="clusters"),
    path("clusters/<uuid:cluster_id>/", clusters.ClusterDetail.as_view(), name="cluster"),
    path("snapshots/", snapshots.SnapshotList.as_view(), name="snapshots"),
    path(
        "snapshots/<uuid:snapshot_id>/document/",
        documents.SnapshotDocument.as_view(),
        name="snapshot-document",
    ),
    path("snapshots/<uuid:snapshot_id>/", snapshots.SnapshotDetail.as_view(), name="snapshot"),
    path("imports/", imports.ImportList.as_view(), name="imports"),
    path("imports/<uuid:import_id>/", imports.ImportDetail.as_view(), name="import"),
    path("imports/<uuid:import_id>/cancel/", imports.ImportCancel.as_view(), name="import-cancel"),
    path("scenarios/", scenarios.ScenarioList.as_view(), name="scenarios"),
    path("scenarios/<uuid:scenario_id>/", scenarios.ScenarioDetail.as_view(), name="scenario"),
    path("scenarios/<uuid:scenario_id>/queues/", queues.QueueList.as_view(), name="scenario-queues"),
    path(
        "scenarios/<uuid:scenario_id>/queues/<str:name>/",
        queues.QueueDetail.as_view(),
        name="scenario-queue",
    ),
    path("scenarios/<uuid:scenario_id>/preview/", queues.ScenarioPreview.as_view(), name="scenario-preview"),
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
    path("scenarios/<uuid:scenario_id>/runs/", runs.ScenarioRuns.as_view(), name="scenario-runs"),
    path("runs/", runs.RunList.as_view(), name="runs"),
    path("runs/<uuid:run_id>/", runs.RunDetail.as_view(), name="run"),
    path("runs/<uuid:run_id>/cancel/", runs.RunCancel.as_view(), name="run-cancel"),
    path("runs/<uuid:run_id>/input/", runs.RunInput.as_view(), name="run-input"),
    path("runs/<uuid:run_id>/result/", runs.RunResult.as_view(), name="run-result"),
    path("runs/<uuid:run_id>/queues/", runs.RunQueues.as_view(), name="run-queues"),
    path("runs/<uuid:run_id>/jobs/", runs.RunJobs.as_view(), name="run-jobs"),
    path("runs/<uuid:run_id>/victims/", runs.RunVictims.as_view(), name="run-victims"),
    path("runs/<uuid:run_id>/decisions/", runs.RunDecisions.as_view(), name="run-decisions"),
    path(
        "runs/<uuid:run_id>/explain/queues/<str:name>/", explain.ExplainQueue.as_view(), name="explain-queue"
    ),
    path(
        "runs/<uuid:run_id>/explain/jobs/<str:namespace>/<str:job>/",
        explain.ExplainJob.as_view(),
        name="explain-job",
    ),
    path(
        "runs/<uuid:run_id>/explain/jobs/<str:namespace>/<str:job>/unblock/",
        explain.ExplainUnblock.as_view(),
        name="explain-unblock",
    ),
    path("runs/<uuid:run_id>/upgrade/", upgrades.RunUpgrade.as_view(), name="run-upgrade"),
    path(
        "runs/<uuid:run_id>/explain/victims/<int:order>/",
        explain.ExplainVictim.as_view(),
        name="explain-victim",
    ),
    path(
        "runs/<uuid:run_id>/explain/pods/<str:namespace>/<str:pod>/",
        explain.ExplainPod.as_view(),
        name="explain-pod",
    ),
    path("runs/<uuid:run_id>/explain/nodes/<str:node>/", explain.ExplainNode.as_view(), name="explain-node"),
    path("runs/<uuid:run_id>/explain/loops/", explain.ExplainLoops.as_view(), name="explain-loops"),
    path("runs/<uuid:run_id>/explain/flow/", explain.ExplainFlow.as_view(), name="explain-flow"),
    path("runs/<uuid:run_id>/explain/steps/<int:seq>/", explain.ExplainStep.as_view(), name="explain-step"),
    path("status/", status.StatusDetail.as_view(), name="status"),
    path("runs/<uuid:run_id>/links/", sharing.LinkList.as_view(), name="run-links"),
    path("runs/<uuid:run_id>/links/<uuid:link_id>/", sharing.LinkDetail.as_view(), name="run-link"),
    path("runs/<uuid:run_id>/bundle/", sharing.RunBundle.as_view(), name="run-bundle"),
    path("bundles/", sharing.Bundles.as_view(), name="bundles"),
    path("comparisons/", comparisons.Comparisons.as_view(), name="comparisons"),
    re_path("", Nowhere.as_view(), name="nowhere"),
]
