"""API calls that check a scenario or a configuration, and export a scenario."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.access import WorkspaceView
from planner.api.schema import ETAG, answers
from planner.api.tables import TableView
from planner.scenarios.api.preconditions import etag
from planner.scenarios.api.serializers.checked import (
    ConfLintSerializer,
    ConfTextSerializer,
    ExportSerializer,
    ProblemsSerializer,
)
from planner.scenarios.selectors.export import scenario_export
from planner.scenarios.selectors.review import scenario_problems
from planning.releases import release_of_name
from planning.review import conf_findings, conf_questions


class Validate(TableView):
    """The findings about a scenario."""

    rows_in = "problems"

    @extend_schema(responses=answers({200: ProblemsSerializer}, 404), parameters=[ETAG])
    def get(self, request: Request, scenario_id: UUID) -> Response:
        """Return every problem: refused by Volcano, accepted but harmful, good to know."""
        scenario = self.scenario()
        body = ProblemsSerializer({"problems": scenario_problems(scenario)}).data
        return Response(body, headers={"ETag": etag(scenario.revision)})


class ConfLint(WorkspaceView):
    """The findings about a configuration that is not saved."""

    needed = None

    @extend_schema(request=ConfTextSerializer, responses=answers({200: ConfLintSerializer}, 400, 422))
    def post(self, request: Request) -> Response:
        """Return all findings about a configuration and its extension points; nothing is saved."""
        serializer = ConfTextSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        text = serializer.validated_data["text"]
        release = release_of_name(serializer.validated_data["release"])
        body = {"problems": conf_findings(text, release), "questions": conf_questions(text, release)}
        return Response(ConfLintSerializer(body).data)


class ScenarioExport(WorkspaceView):
    """The steps that turn a cluster into the scenario."""

    @extend_schema(responses=answers({200: ExportSerializer}, 404), parameters=[ETAG])
    def get(self, request: Request, scenario_id: UUID) -> Response:
        """Return manifests in an order that the webhook accepts, and a script for the other changes."""
        scenario = self.scenario()
        self.note_export(scenario.workspace, f"scenario {scenario.pk}: manifests")
        body = ExportSerializer(scenario_export(scenario)).data
        return Response(body, headers={"ETag": etag(scenario.revision)})
