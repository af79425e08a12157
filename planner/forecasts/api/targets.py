"""API calls about the wait targets of a scenario's queues."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.access import WorkspaceView, saved_unless_dry
from planner.api.bodies import Body
from planner.api.schema import DRY_RUN, answers
from planner.forecasts.api.serializers import TargetsPatch, TargetsSerializer
from planner.forecasts.services.forecasts import targets_change, targets_set


class ScenarioTargets(WorkspaceView):
    """The wait targets of a scenario's queues."""

    def _body(self) -> dict[str, Any]:
        targets = {target.queue: target.seconds for target in self.scenario().wait_targets.all()}
        return TargetsSerializer({"targets": targets}).data

    def _saved(self, request: Request, body: type[Body], save: Callable[..., None]) -> Response:
        """Save the targets of a body, and return all."""
        scenario = self.scenario()
        serializer = body(data=request.data)
        serializer.is_valid(raise_exception=True)
        with saved_unless_dry(request):
            save(scenario=scenario, user=self.user, **serializer.validated_data)
            targets = self._body()
        return Response(targets)

    @extend_schema(responses=answers({200: TargetsSerializer}, 404))
    def get(self, request: Request, scenario_id: UUID) -> Response:
        """Return the wait targets."""
        return Response(self._body())

    @extend_schema(
        request=TargetsSerializer,
        responses=answers({200: TargetsSerializer}, 400, 403, 404, 422),
        parameters=[DRY_RUN],
    )
    def put(self, request: Request, scenario_id: UUID) -> Response:
        """Replace the wait targets; existing forecasts keep their own."""
        return self._saved(request, TargetsSerializer, targets_set)

    @extend_schema(
        request=TargetsPatch,
        responses=answers({200: TargetsSerializer}, 400, 403, 404, 422),
        parameters=[DRY_RUN],
    )
    def patch(self, request: Request, scenario_id: UUID) -> Response:
        """Set the wait targets of some queues, null removes one; those of other queues are unchanged."""
        return self._saved(request, TargetsPatch, targets_change)
