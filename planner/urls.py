"""Which address leads to which page or call?"""

from django.contrib.auth.views import LogoutView
from django.urls import include, path

from planner.accounts.views import (
    account,
    invitations,
    logging_in,
    login,
    members,
    security,
    sign_on,
    workspaces,
)
from planner.clusters.views import deletion, imports
from planner.runs.views import compare, explain, runs, sharing
from planner.scenarios.views import changes, conf, exports, nodes, queues, rebase, scenarios, workloads
from planner.upgrades.urls import urlpatterns as upgrades
from planner.web.views import glossary, home, status

pages = [
    path("", home.home, name="home"),
    path("sample/", home.sample, name="sample"),
    path("import/", imports.import_cluster, name="import"),
    path("import/save/", imports.save, name="import-save"),
    path("imports/<uuid:import_id>/", imports.detail, name="import-detail"),
    path("imports/<uuid:import_id>/cancel/", imports.cancel, name="import-cancel"),
    path("imports/<uuid:import_id>/scenario/", imports.begin, name="import-begin"),
    path("scenarios/<uuid:scenario_id>/", scenarios.detail, name="scenario-detail"),
    path("scenarios/<uuid:scenario_id>/branch/", changes.branch, name="branch"),
    path("scenarios/<uuid:scenario_id>/remove/", changes.remove, name="scenario-remove"),
    path("scenarios/<uuid:scenario_id>/changes/", changes.show, name="changes"),
    path(
        "scenarios/<uuid:scenario_id>/changes/put-back/",
        changes.revert_difference,
        name="difference-revert",
    ),
    path("scenarios/<uuid:scenario_id>/changes/<str:way>/", changes.walk, name="changes-walk"),
    path(
        "scenarios/<uuid:scenario_id>/changes/<uuid:change_id>/revert/",
        changes.revert_change,
        name="change-revert",
    ),
    path("scenarios/<uuid:scenario_id>/carry-over/", rebase.carry_over, name="carry-over"),
    path("scenarios/<uuid:scenario_id>/nodes/", nodes.show, name="nodes"),
    path("scenarios/<uuid:scenario_id>/nodes/add/", nodes.add, name="nodes-add"),
    path("scenarios/<uuid:scenario_id>/nodes/change/", nodes.change, name="nodes-change"),
    path("scenarios/<uuid:scenario_id>/workloads/", workloads.show, name="workloads"),
    path("scenarios/<uuid:scenario_id>/workloads/add/", workloads.add, name="workloads-add"),
    path(
        "scenarios/<uuid:scenario_id>/workloads/<str:kind>/<str:namespace>/<str:name>/",
        workloads.workload,
        name="workload",
    ),
    path("scenarios/<uuid:scenario_id>/revisions/<int:number>/", changes.revision, name="revision"),
    path("scenarios/<uuid:scenario_id>/conf/", conf.conf, name="conf"),
    path("scenarios/<uuid:scenario_id>/conf/edit/", conf.edit, name="conf-edit"),
    path("scenarios/<uuid:scenario_id>/release/", conf.release, name="release"),
    path("scenarios/<uuid:scenario_id>/export/", exports.show, name="export"),
    path("scenarios/<uuid:scenario_id>/export/<str:part>/", exports.download, name="export-download"),
    path("scenarios/<uuid:scenario_id>/review/", scenarios.review, name="review"),
    path("scenarios/<uuid:scenario_id>/undo/", queues.undo, name="undo"),
    path("scenarios/<uuid:scenario_id>/redo/", queues.redo, name="redo"),
    path("scenarios/<uuid:scenario_id>/queues/", queues.queues, name="queues"),
    path("scenarios/<uuid:scenario_id>/queues/<str:name>/", queues.queue, name="queue"),
    path("scenarios/<uuid:scenario_id>/queues/<str:name>/move/", queues.move, name="queue-move"),
    path(
        "scenarios/<uuid:scenario_id>/queues/<str:name>/duplicate/", queues.duplicate, name="queue-duplicate"
    ),
    path("scenarios/<uuid:scenario_id>/queues/<str:name>/remove/", queues.remove, name="queue-remove"),
    path("scenarios/<uuid:scenario_id>/runs/", runs.submit, name="run-submit"),
    path("runs/<uuid:run_id>/", runs.detail, name="run-detail"),
    path("runs/<uuid:run_id>/cancel/", runs.cancel, name="run-cancel"),
    path("runs/<uuid:run_id>/queues/<str:queue>/", runs.queue, name="run-queue"),
    path("runs/<uuid:run_id>/jobs/<str:namespace>/<str:name>/", runs.job, name="run-job"),
    path(
        "runs/<uuid:run_id>/jobs/<str:namespace>/<str:name>/unblock/", explain.unblock, name="run-job-unblock"
    ),
    path(
        "runs/<uuid:run_id>/jobs/<str:namespace>/<str:name>/unblock/<int:number>/",
        explain.unblock_try,
        name="run-job-try",
    ),
    path("runs/<uuid:run_id>/pods/<str:namespace>/<str:name>/", explain.pod, name="run-pod"),
    path("runs/<uuid:run_id>/nodes/<str:node>/", explain.node, name="run-node"),
    path("runs/<uuid:run_id>/victims/<int:order>/", explain.victim, name="run-victim"),
    *upgrades,
    path("runs/<uuid:run_id>/flow/", explain.lost, name="run-flow"),
    path("runs/<uuid:run_id>/steps/<int:seq>/", explain.step, name="run-step"),
    path("runs/<uuid:run_id>/share/", sharing.share, name="share"),
    path("runs/<uuid:run_id>/links/", sharing.link_add, name="link-add"),
    path("runs/<uuid:run_id>/links/<uuid:link_id>/", sharing.link_remove, name="link-remove"),
    path("shared/<str:secret>/", sharing.shared, name="shared"),
    path("status/", status.show, name="status"),
    path("glossary/", glossary.glossary, name="glossary"),
    path("compare/", compare.compare, name="compare"),
    path("account/", account.account, name="account"),
    path("account/security/", security.security, name="security"),
    path("account/password/", security.password, name="password"),
    path("account/sessions/", security.sessions, name="sessions"),
    path("account/second-factor/", security.second_factor, name="second-factor"),
    path("account/delete/", deletion.account, name="account-delete"),
    path("runs/<uuid:run_id>/delete/", deletion.run, name="run-delete"),
    path("snapshots/<uuid:snapshot_id>/delete/", deletion.snapshot, name="snapshot-delete"),
    path("clusters/<uuid:cluster_id>/delete/", deletion.cluster, name="cluster-delete"),
    path("workspaces/<uuid:workspace_id>/delete/", deletion.workspace, name="workspace-delete"),
    path("workspaces/<uuid:workspace_id>/storage/", deletion.storage, name="storage"),
    path("account/tokens/", account.token_create, name="token-create"),
    path("account/tokens/<str:token_key>/", account.token_drop, name="token-revoke"),
    path("account/invitations/<uuid:invitation_id>/", account.offer, name="offer"),
    path("workspaces/", workspaces.make, name="workspace-make"),
    path("workspaces/<uuid:workspace_id>/switch/", workspaces.switch, name="workspace-switch"),
    path("workspaces/<uuid:workspace_id>/rename/", workspaces.rename, name="workspace-rename"),
    path("workspaces/<uuid:workspace_id>/leave/", workspaces.leave, name="workspace-leave"),
    path("workspaces/<uuid:workspace_id>/members/", members.members, name="members"),
    path("workspaces/<uuid:workspace_id>/members/<str:username>/", members.member, name="member"),
    path("workspaces/<uuid:workspace_id>/invitations/", members.invite, name="invite"),
    path(
        "workspaces/<uuid:workspace_id>/invitations/<uuid:invitation_id>/", members.uninvite, name="uninvite"
    ),
    path("workspaces/<uuid:workspace_id>/history/", members.history, name="history"),
    path("invitations/<str:secret>/", invitations.invitation, name="invitation"),
]

urlpatterns = [
    path("", include((pages, "planner"))),
    path("login/", login.Login.as_view(), name="login"),
    path("login/code/", logging_in.code, name="login-code"),
    path("login/sign-on/", sign_on.begin, name="sign-on"),
    path("login/sign-on/back/", sign_on.back, name="sign-on-back"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("api/v1/", include("planner.api.urls")),
]
