"""The URLs of the pages of runs."""

from django.urls import path

from planner.runs.views import compare, explain, nodes, runs, sharing, tables

pages = [
    path("scenarios/<uuid:scenario_id>/runs/", runs.submit, name="run-submit"),
    path("runs/<uuid:run_id>/", runs.detail, name="run-detail"),
    path("runs/<uuid:run_id>/labels/", runs.labels, name="run-labels"),
    path("runs/<uuid:run_id>/cancel/", runs.cancel, name="run-cancel"),
    path("runs/<uuid:run_id>/queues/<str:queue>/", runs.queue, name="run-queue"),
    path("runs/<uuid:run_id>/jobs/", tables.jobs, name="run-jobs"),
    path("runs/<uuid:run_id>/victims/", tables.victims_of_run, name="run-victims"),
    path("runs/<uuid:run_id>/decisions/", tables.decisions_of_run, name="run-decisions"),
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
    path("runs/<uuid:run_id>/nodes/", nodes.show, name="run-nodes"),
    path("runs/<uuid:run_id>/fit/", nodes.fit, name="run-fit"),
    path("runs/<uuid:run_id>/nodes/<str:node>/", explain.node, name="run-node"),
    path("runs/<uuid:run_id>/victims/<int:order>/", explain.victim, name="run-victim"),
    path("runs/<uuid:run_id>/flow/", explain.lost, name="run-flow"),
    path("runs/<uuid:run_id>/steps/<int:seq>/", explain.step, name="run-step"),
    path("runs/<uuid:run_id>/share/", sharing.share, name="share"),
    path("runs/<uuid:run_id>/links/", sharing.link_add, name="link-add"),
    path("runs/<uuid:run_id>/links/<uuid:link_id>/", sharing.link_remove, name="link-remove"),
    path("shared/<str:secret>/", sharing.shared, name="shared"),
    path("compare/", compare.compare, name="compare"),
    path("scenarios/<uuid:scenario_id>/compare/", compare.with_parent, name="compare-parent"),
]
