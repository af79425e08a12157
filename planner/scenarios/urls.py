"""The URLs of the pages of scenarios."""

from django.urls import path

from planner.scenarios.views import (
    changes,
    conf,
    exports,
    nodes,
    queue_batch,
    queues,
    reach,
    rebase,
    scenarios,
    workloads,
)

pages = [
    path("scenarios/<uuid:scenario_id>/", scenarios.detail, name="scenario-detail"),
    path("scenarios/<uuid:scenario_id>/labels/", scenarios.labels, name="scenario-labels"),
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
    path("rebases/<uuid:rebase_id>/", rebase.detail, name="rebase-detail"),
    path("rebases/<uuid:rebase_id>/cancel/", rebase.cancel, name="rebase-cancel"),
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
    path("scenarios/<uuid:scenario_id>/reach/", reach.reach, name="reach"),
    path("scenarios/<uuid:scenario_id>/preview/", queue_batch.preview, name="queues-preview"),
    path("scenarios/<uuid:scenario_id>/edit-queues/", queue_batch.apply, name="queues-edit"),
    path("scenarios/<uuid:scenario_id>/queues/", queues.queues, name="queues"),
    path("scenarios/<uuid:scenario_id>/queues/<str:name>/", queues.queue, name="queue"),
    path("scenarios/<uuid:scenario_id>/queues/<str:name>/move/", queues.move, name="queue-move"),
    path(
        "scenarios/<uuid:scenario_id>/queues/<str:name>/duplicate/", queues.duplicate, name="queue-duplicate"
    ),
    path("scenarios/<uuid:scenario_id>/queues/<str:name>/remove/", queues.remove, name="queue-remove"),
]
