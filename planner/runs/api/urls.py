"""The URLs of the API calls about runs."""

from django.urls import path

from planner.runs.api import comparisons, explain, groups, nodes, runs, sharing, verdicts

calls = [
    path("scenarios/<uuid:scenario_id>/runs/", runs.ScenarioRuns.as_view(), name="scenario-runs"),
    path("runs/", runs.RunList.as_view(), name="runs"),
    path("runs/<uuid:run_id>/", runs.RunDetail.as_view(), name="run"),
    path("runs/<uuid:run_id>/cancel/", runs.RunCancel.as_view(), name="run-cancel"),
    path("runs/<uuid:run_id>/input/", runs.RunInput.as_view(), name="run-input"),
    path("runs/<uuid:run_id>/result/", runs.RunResult.as_view(), name="run-result"),
    path("runs/<uuid:run_id>/verdict/", verdicts.RunVerdict.as_view(), name="run-verdict"),
    path("runs/<uuid:run_id>/queues/", runs.RunQueues.as_view(), name="run-queues"),
    path("runs/<uuid:run_id>/jobs/", runs.RunJobs.as_view(), name="run-jobs"),
    path("runs/<uuid:run_id>/jobs/groups/", groups.JobGroups.as_view(), name="run-job-groups"),
    path("runs/<uuid:run_id>/victims/groups/", groups.VictimGroups.as_view(), name="run-victim-groups"),
    path("runs/<uuid:run_id>/decisions/groups/", groups.DecisionGroups.as_view(), name="run-decision-groups"),
    path("runs/<uuid:run_id>/nodes/", nodes.RunNodes.as_view(), name="run-nodes"),
    path("runs/<uuid:run_id>/fit/", nodes.RunFit.as_view(), name="run-fit"),
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
    path("runs/<uuid:run_id>/links/", sharing.LinkList.as_view(), name="run-links"),
    path("runs/<uuid:run_id>/links/<uuid:link_id>/", sharing.LinkDetail.as_view(), name="run-link"),
    path("runs/<uuid:run_id>/bundle/", sharing.RunBundle.as_view(), name="run-bundle"),
    path("bundles/", sharing.Bundles.as_view(), name="bundles"),
    path("comparisons/", comparisons.Comparisons.as_view(), name="comparisons"),
]
