"""API calls that rebase a scenario onto another snapshot of its cluster."""

from typing import Any
from uuid import UUID

from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.generics import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.access import WorkspaceView, is_dry, made, saved_unless_dry
from planner.api.idempotency import first_answer, once
from planner.api.schema import DRY_RUN, ETAG, IDEMPOTENCY_KEY, IF_MATCH, PREFER, answers
from planner.api.serializers import ScenarioSerializer
from planner.api.waiting import wait_until_over
from planner.clusters.models import Snapshot
from planner.clusters.selectors.snapshots import snapshots
from planner.scenarios.api.edits import reporting_staleness
from planner.scenarios.api.preconditions import etag, seen_revision
from planner.scenarios.api.serializers.rebase import (
    RebaseCreate,
    RebaseSerializer,
    RebaseWorkSerializer,
    choices_of,
    rebase_body,
)
from planner.scenarios.models import Scenario
from planner.scenarios.selectors.rebases import rebase_of, rebase_takes_long, rebases
from planner.scenarios.services.branches import rebase_prepare, rebase_store
from planner.scenarios.services.rebases import rebase_create
from planner.work.lifecycle import work_cancel

SNAPSHOT = OpenApiParameter(
    "snapshot", OpenApiTypes.UUID, required=True, description="The snapshot to rebase onto."
)


class RebaseQuery(serializers.Serializer[Any]):
    """The query of a preview."""

    snapshot = serializers.UUIDField()


class Rebase(WorkspaceView):
    """A scenario on a newer snapshot of its cluster."""

    parameters = ("snapshot",)

    @extend_schema(responses=answers({200: RebaseSerializer}, 404, 422), parameters=[SNAPSHOT, ETAG])
    def get(self, request: Request, scenario_id: UUID) -> Response:
        """Return the rebased scenario, and the conflicts to decide; nothing is saved."""
        scenario = self.scenario()
        serializer = RebaseQuery(data=request.query_params)
        serializer.is_valid(raise_exception=True)
        snapshot = self._snapshot(scenario, serializer.validated_data["snapshot"])
        body = rebase_body(snapshot, scenario.revision, rebase_of(scenario, snapshot, {}))
        return Response(RebaseSerializer(body).data, headers={"ETag": etag(scenario.revision)})

    @extend_schema(
        request=RebaseCreate,
        responses=answers({201: ScenarioSerializer, 202: RebaseWorkSerializer}, 400, 403, 404, 412, 422, 428),
        parameters=[DRY_RUN, IDEMPOTENCY_KEY, IF_MATCH, ETAG],
    )
    def post(self, request: Request, scenario_id: UUID) -> Response:
        """Create a branch there with all changes of this scenario and the decided conflicts.

        If two large snapshots have to be compared, a worker does it: then the response is the rebase, for the
        client to follow. A dry run is answered at once.
        """
        scenario = self.scenario()
        if first := first_answer(request):
            return first
        revision = seen_revision(request)
        serializer = RebaseCreate(data=request.data)
        serializer.is_valid(raise_exception=True)
        sent = serializer.validated_data
        snapshot = self._snapshot(scenario, sent["snapshot"])
        name, choices = sent.get("name", scenario.name), choices_of(sent["choices"])
        rebase: dict[str, Any] = {
            "scenario": scenario,
            "snapshot": snapshot,
            "expected_revision": revision,
        }
        with reporting_staleness(scenario):
            if not is_dry(request) and rebase_takes_long(scenario, snapshot):
                return self._queued(request, name=name, choices=choices, **rebase)
            carried = rebase_prepare(choices=choices, user=self.user, **rebase)
            return self._stored(request, name=name, carried=carried, **rebase)

    @once
    def _queued(self, request: Request, /, **rebase: Any) -> Response:
        """Queue a rebase for a worker."""
        queued = rebase_create(user=self.user, **rebase)
        body = RebaseWorkSerializer(queued).data
        location = reverse("api:rebase", args=[queued.pk])
        return Response(body, status.HTTP_202_ACCEPTED, headers={"Location": location})

    @once
    def _stored(self, request: Request, /, **rebase: Any) -> Response:
        """Store a prepared rebase."""
        with saved_unless_dry(request):
            branch = rebase_store(user=self.user, **rebase)
        body = ScenarioSerializer(branch).data
        return made(request, body, status.HTTP_201_CREATED, ETag=etag(branch.revision))

    def _snapshot(self, scenario: Scenario, snapshot_id: UUID) -> Snapshot:
        """Return a snapshot of the scenario's workspace, or raise ValidationError."""
        snapshot = snapshots(self.user).filter(pk=snapshot_id, workspace=scenario.workspace_id).first()
        if snapshot is None:
            raise ValidationError({"snapshot": [ErrorDetail("No such snapshot.", "does_not_exist")]})
        return snapshot


class RebaseDetail(WorkspaceView):
    """A rebase by a worker."""

    @extend_schema(responses=answers({200: RebaseWorkSerializer}, 404), parameters=[PREFER])
    def get(self, request: Request, rebase_id: UUID) -> Response:
        """Return a rebase: state, progress, the branch once it is finished, or every problem."""
        rebase = get_object_or_404(rebases(self.user), pk=rebase_id)
        headers = wait_until_over(request, rebase)
        return Response(RebaseWorkSerializer(rebase).data, headers=headers)


class RebaseCancel(WorkspaceView):
    """Stopping a rebase."""

    @extend_schema(request=None, responses=answers({200: RebaseWorkSerializer}, 403, 404))
    def post(self, request: Request, rebase_id: UUID) -> Response:
        """Cancel a queued rebase immediately, request a running one to stop, keep a finished one."""
        rebase = get_object_or_404(rebases(self.user), pk=rebase_id)
        return Response(RebaseWorkSerializer(work_cancel(work=rebase, user=self.user)).data)
