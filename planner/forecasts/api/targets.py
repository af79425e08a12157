"""API calls about the wait targets of a scenario's queues."""

from typing import Any
from uuid import UUID

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.access import WorkspaceView, is_dry, saved_unless_dry
from planner.api.schema import DRY_RUN, answers
from planner.api.serializers import ErrorSerializer
from planner.api.tags import if_match, tag_text
from planner.forecasts.api.serializers import TargetsPatch, TargetsSerializer
from planner.forecasts.selectors.targets import targets_tag, wait_targets
from planner.forecasts.services.forecasts import targets_change, targets_set

_ETAG = OpenApiParameter(
    "ETag", OpenApiTypes.STR, OpenApiParameter.HEADER, response=[200], description="The tag of the targets."
)
_IF_MATCH = OpenApiParameter(
    "If-Match",
    OpenApiTypes.STR,
    OpenApiParameter.HEADER,
    required=True,
    description="The ETag of the targets that the edit is based on, with or without quotes.",
)
_STALE = OpenApiResponse(ErrorSerializer, "The wait targets have changed since.")


class ScenarioTargets(WorkspaceView):
    """The wait targets of a scenario's queues."""

    @extend_schema(responses=answers({200: TargetsSerializer}, 404), parameters=[_ETAG])
    def get(self, request: Request, scenario_id: UUID) -> Response:
        """Return the wait targets."""
        return _answer(wait_targets(self.scenario()))

    @extend_schema(
        request=TargetsSerializer,
        responses=answers({200: TargetsSerializer, 412: _STALE}, 400, 403, 404, 422, 428),
        parameters=[DRY_RUN, _IF_MATCH, _ETAG],
    )
    def put(self, request: Request, scenario_id: UUID) -> Response:
        """Replace the wait targets; existing forecasts keep their own."""
        scenario, expected = self.scenario(), tag_text(if_match(request))
        serializer = TargetsSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        with saved_unless_dry(request):
            targets_set(scenario=scenario, expected=expected, user=self.user, **serializer.validated_data)
            targets = wait_targets(scenario)
        return _answer(targets, expected if is_dry(request) else "")

    @extend_schema(
        request=TargetsPatch,
        responses=answers({200: TargetsSerializer}, 400, 403, 404, 422),
        parameters=[DRY_RUN, _ETAG],
    )
    def patch(self, request: Request, scenario_id: UUID) -> Response:
        """Set the wait targets of some queues, null removes one; those of other queues are unchanged."""
        scenario = self.scenario()
        serializer = TargetsPatch(data=request.data)
        serializer.is_valid(raise_exception=True)
        before = targets_tag(wait_targets(scenario))
        with saved_unless_dry(request):
            targets_change(scenario=scenario, user=self.user, **serializer.validated_data)
            targets = wait_targets(scenario)
        return _answer(targets, before if is_dry(request) else "")


def _answer(targets: dict[str, float], tag: str = "") -> Response:
    """Return wait targets with their tag, or with `tag`: that of the stored ones after a dry run."""
    body: Any = TargetsSerializer({"targets": targets}).data
    return Response(body, headers={"ETag": f'"{tag or targets_tag(targets)}"'})
