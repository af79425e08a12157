"""How do scripts carry a scenario over to a newer snapshot of its cluster?"""

from typing import Any
from uuid import UUID

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.access import WorkspaceView, made, saved_unless_dry
from planner.api.idempotency import once
from planner.api.schema import DRY_RUN, ETAG, IDEMPOTENCY_KEY, IF_MATCH, answers
from planner.api.serializers import ScenarioSerializer
from planner.clusters.models import Snapshot
from planner.scenarios.api.edits import reporting_staleness
from planner.scenarios.api.preconditions import etag, seen_revision
from planner.scenarios.api.serializers.rebase import RebaseCreate, RebaseSerializer, choices_of, rebase_body
from planner.scenarios.models import Scenario
from planner.scenarios.selectors.revisions import rebase_of
from planner.scenarios.selectors.scenarios import snapshots
from planner.scenarios.services.branches import scenario_rebase

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
        """Return what it would say there, and what has to be decided; nothing is saved."""
        scenario = self.scenario()
        serializer = RebaseQuery(data=request.query_params)
        serializer.is_valid(raise_exception=True)
        snapshot = self._snapshot(scenario, serializer.validated_data["snapshot"])
        body = rebase_body(snapshot, scenario.revision, rebase_of(scenario, snapshot, {}))
        return Response(RebaseSerializer(body).data, headers={"ETag": etag(scenario.revision)})

    @extend_schema(
        request=RebaseCreate,
        responses=answers({201: ScenarioSerializer}, 400, 403, 404, 412, 422, 428),
        parameters=[DRY_RUN, IDEMPOTENCY_KEY, IF_MATCH, ETAG],
    )
    @once
    def post(self, request: Request, scenario_id: UUID) -> Response:
        """Begin a branch there with all that this scenario changed, each conflict as it was decided."""
        scenario = self.scenario()
        revision = seen_revision(request)
        serializer = RebaseCreate(data=request.data)
        serializer.is_valid(raise_exception=True)
        sent = serializer.validated_data
        snapshot = self._snapshot(scenario, sent["snapshot"])
        with reporting_staleness(scenario), saved_unless_dry(request):
            carried = scenario_rebase(
                scenario=scenario,
                snapshot=snapshot,
                name=sent.get("name", scenario.name),
                choices=choices_of(sent["choices"]),
                expected_revision=revision,
                user=self.user,
            )
        body = ScenarioSerializer(carried).data
        return made(request, body, status.HTTP_201_CREATED, ETag=etag(carried.revision))

    def _snapshot(self, scenario: Scenario, snapshot_id: UUID) -> Snapshot:
        """Return a snapshot of the scenario's workspace, or refuse the call."""
        snapshot = snapshots(self.user).filter(pk=snapshot_id, workspace=scenario.workspace_id).first()
        if snapshot is None:
            raise ValidationError({"snapshot": [ErrorDetail("No such snapshot.", "does_not_exist")]})
        return snapshot
