"""API call that opens the sample cluster."""

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.access import WorkspaceView, made, saved_unless_dry
from planner.api.idempotency import once
from planner.api.schema import DRY_RUN, ETAG, IDEMPOTENCY_KEY, WORKSPACE, answers
from planner.api.serializers import ScenarioSerializer
from planner.clusters.services.samples import sample_load


class Sample(WorkspaceView):
    """The scenario of the sample cluster."""

    @extend_schema(
        request=None,
        responses=answers({201: ScenarioSerializer}, 403, 422),
        parameters=[DRY_RUN, IDEMPOTENCY_KEY, WORKSPACE, ETAG],
    )
    @once
    def post(self, request: Request) -> Response:
        """Return the workspace's scenario of the sample; the first call creates it."""
        workspace = self.workspace_for_import()
        with saved_unless_dry(request):
            scenario = sample_load(workspace=workspace, owner=self.user)
            body = ScenarioSerializer(scenario).data
        return made(request, body, status.HTTP_201_CREATED, ETag=f'"{scenario.revision}"')
