"""API calls that start and follow runs and return their outcomes."""

from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema, extend_schema_view
from rest_framework import status
from rest_framework.exceptions import NotFound
from rest_framework.generics import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.access import WorkspaceView, is_dry, made, saved_unless_dry
from planner.api.deletion import deleted
from planner.api.idempotency import first_answer, once
from planner.api.schema import DRY_RUN, IDEMPOTENCY_KEY, PREFER, answers, listed
from planner.api.serializers import LabelsSerializer
from planner.api.tables import TableList
from planner.api.waiting import wait_until_over
from planner.clusters.models import Blob
from planner.runs.api.filters import RunFilter
from planner.runs.api.serializers import runs as serializers
from planner.runs.models import JobOutcome, QueueOutcome, Run, Trace, Victim
from planner.runs.selectors import filters
from planner.runs.selectors.runs import runs
from planner.runs.selectors.steps import Steps, decisions
from planner.runs.services.runs import RunPlan, run_plan, run_queue
from planner.scenarios.services.labels import label
from planner.work.lifecycle import work_cancel


@extend_schema_view(get=extend_schema(responses=listed(serializers.RunSerializer)))
class RunList(TableList):
    """The runs of the workspace, newest first."""

    queryset = Run.objects.none()
    serializer_class = serializers.RunSerializer
    filterset_class = RunFilter

    def get_queryset(self) -> QuerySet[Run]:
        """Return the runs that the caller may see."""
        return runs(self.user)


@extend_schema_view(get=extend_schema(operation_id="scenarios_runs_list"))
class ScenarioRuns(RunList):
    """The runs of one scenario, newest first."""

    def get_queryset(self) -> QuerySet[Run]:
        """Return the scenario's runs."""
        return super().get_queryset().filter(scenario=self.scenario())

    @extend_schema(
        request=serializers.RunOptions,
        responses=answers({202: serializers.RunSerializer}, 400, 403, 404, 422),
        parameters=[DRY_RUN, IDEMPOTENCY_KEY, PREFER],
        filters=False,
    )
    def post(self, request: Request, scenario_id: UUID) -> Response:
        """Freeze the scenario's current revision and queue a run of it."""
        response = first_answer(request) or self._queued(request, self._plan(request))
        if not is_dry(request):
            run = get_object_or_404(runs(self.user), pk=response.data["id"])
            for name, value in wait_until_over(request, run).items():
                response[name] = value
                response.data = serializers.RunSerializer(run).data
        return response

    def _plan(self, request: Request) -> RunPlan:
        """Return the run that a body describes."""
        scenario = self.scenario()
        options = serializers.RunOptions(data=request.data)
        options.is_valid(raise_exception=True)
        return run_plan(scenario=scenario, options=options.validated_data, user=self.user)

    @once
    def _queued(self, request: Request, plan: RunPlan) -> Response:
        """Queue a planned run."""
        with saved_unless_dry(request):
            run = run_queue(
                scenario=plan.scenario, content=plan.content, options=plan.options, user=self.user
            )
        return made(request, serializers.RunSerializer(run).data, status.HTTP_202_ACCEPTED)


class RunDetail(WorkspaceView):
    """One run."""

    @extend_schema(responses=answers({200: serializers.RunSerializer}, 404), parameters=[PREFER])
    def get(self, request: Request, run_id: UUID) -> Response:
        """Return a run: state, progress, notes, timings."""
        run = self.run()
        headers = wait_until_over(request, run)
        return Response(serializers.RunSerializer(run).data, headers=headers)

    @extend_schema(
        request=LabelsSerializer,
        responses=answers({200: serializers.RunSerializer}, 400, 403, 404, 422),
        parameters=[DRY_RUN],
    )
    def patch(self, request: Request, run_id: UUID) -> Response:
        """Set the name, note and tags of a run, or archive it."""
        run = self.run()
        serializer = LabelsSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        with saved_unless_dry(request):
            label(thing=run, user=self.user, **serializer.validated_data)
        return Response(serializers.RunSerializer(run).data)

    @extend_schema(responses=answers({200: OpenApiTypes.OBJECT, 204: None}, 403, 404), parameters=[DRY_RUN])
    def delete(self, request: Request, run_id: UUID) -> Response:
        """Delete a run with its searches and links; a dry run returns how many of each."""
        return deleted(request, self.run(), self.user)


class RunCancel(WorkspaceView):
    """Stopping a run."""

    @extend_schema(request=None, responses=answers({200: serializers.RunSerializer}, 403, 404))
    def post(self, request: Request, run_id: UUID) -> Response:
        """Cancel a queued run immediately, request a running one to stop, leave a finished one unchanged."""
        return Response(serializers.RunSerializer(work_cancel(work=self.run(), user=self.user)).data)


_BYTES = {(200, "application/json"): OpenApiResponse(OpenApiTypes.OBJECT, "The stored bytes.")}


class RunInput(WorkspaceView):
    """The frozen input of a run."""

    sparse = False

    @extend_schema(responses=answers(_BYTES, 404))
    def get(self, request: Request, run_id: UUID) -> HttpResponseBase:
        """Return the frozen input as a scenario document."""
        run = self.run()
        self.note_export(run.workspace, f"run {run.pk}: input")
        return _kept(request, run.input)


class RunResult(WorkspaceView):
    """The result of a run."""

    sparse = False

    @extend_schema(responses=answers(_BYTES, 404))
    def get(self, request: Request, run_id: UUID) -> HttpResponseBase:
        """Return the core's result, byte for byte what `python -m scheduler_core simulate` prints."""
        run = self.run()
        if run.result is None:
            raise NotFound(f"The run is {run.state} and has no result.", "no_result")
        self.note_export(run.workspace, f"run {run.pk}: result")
        return _kept(request, run.result)


@extend_schema_view(get=extend_schema(responses=listed(serializers.QueueOutcomeSerializer)))
class RunQueues(TableList):
    """The result of a run for each queue, in tree order."""

    queryset = QueueOutcome.objects.none()
    serializer_class = serializers.QueueOutcomeSerializer
    filterset_class = filters.QueueOutcomeFilter

    def get_queryset(self) -> QuerySet[QueueOutcome]:
        """Return the run's queues."""
        return self.run().queue_outcomes


@extend_schema_view(get=extend_schema(responses=listed(serializers.JobOutcomeSerializer)))
class RunJobs(TableList):
    """The result of a run for each job."""

    queryset = JobOutcome.objects.none()
    serializer_class = serializers.JobOutcomeSerializer
    filterset_class = filters.JobOutcomeFilter

    def get_queryset(self) -> QuerySet[JobOutcome]:
        """Return the run's jobs."""
        return self.run().job_outcomes


@extend_schema_view(get=extend_schema(responses=listed(serializers.VictimSerializer)))
class RunVictims(TableList):
    """The pods that a run selected for eviction, in that order."""

    queryset = Victim.objects.none()
    serializer_class = serializers.VictimSerializer
    filterset_class = filters.VictimFilter

    def get_queryset(self) -> QuerySet[Victim]:
        """Return the run's victims."""
        return self.run().victims


@extend_schema_view(get=extend_schema(responses=listed(serializers.DecisionSerializer)))
class RunDecisions(TableList):
    """Every step of a run, in order."""

    queryset = Trace.objects.none()  # which holds them; the schema asks for some rows
    serializer_class = serializers.DecisionSerializer
    filterset_class = filters.DecisionFilter

    def get_queryset(self) -> Steps:  # type: ignore[override]  # they are no rows
        """Return the run's decisions."""
        return decisions(self.run())


def _kept(request: Request, blob: Blob) -> HttpResponseBase:
    """Return immutable bytes, or 304 if the client already has them."""
    tag = f'"{blob.sha256}"'
    if unchanged := get_conditional_response(request, etag=tag):
        return unchanged
    return HttpResponse(blob.content(), content_type="application/json", headers={"ETag": tag})
