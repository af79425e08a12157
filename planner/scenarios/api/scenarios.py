"""API calls that create and edit scenarios."""

from dataclasses import asdict
from functools import partial
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import status
from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.access import WorkspaceView, made, saved_unless_dry
from planner.api.idempotency import once
from planner.api.parsers import JsonBody, JsonPatch
from planner.api.schema import DRY_RUN, ETAG, IDEMPOTENCY_KEY, IF_MATCH, answers, listed
from planner.api.serializers import LabelsSerializer, ScenarioSerializer
from planner.api.tables import TableList
from planner.clusters.selectors.snapshots import snapshots
from planner.scenarios.api.edits import Edited, edited, editing, reporting_staleness
from planner.scenarios.api.filters import ScenarioFilter
from planner.scenarios.api.preconditions import etag, seen_revision
from planner.scenarios.api.serializers.configuration import (
    ConfEdited,
    ConfOperation,
    ConfSerializer,
    ReleaseEdited,
    ReleaseSerializer,
)
from planner.scenarios.api.serializers.scenarios import ScenarioCreate
from planner.scenarios.models import Change, Scenario
from planner.scenarios.selectors.releases import release_imported, release_used
from planner.scenarios.selectors.scenarios import scenarios
from planner.scenarios.services.labels import label
from planner.scenarios.services.scenarios import (
    conf_patch,
    conf_update,
    release_update,
    scenario_create,
    scenario_remove,
)
from planning.review import conf_findings
from planning.rows import ConfFinding


@extend_schema_view(get=extend_schema(responses=listed(ScenarioSerializer)))
class ScenarioList(TableList):
    """The scenarios of the workspace, last changed first."""

    queryset = Scenario.objects.none()
    serializer_class = ScenarioSerializer
    filterset_class = ScenarioFilter

    def get_queryset(self) -> QuerySet[Scenario]:
        """Return the scenarios that the caller may see."""
        return scenarios(self.user)

    @extend_schema(
        request=ScenarioCreate,
        responses=answers({201: ScenarioSerializer}, 400, 403, 422),
        parameters=[DRY_RUN, IDEMPOTENCY_KEY, ETAG],
        filters=False,
    )
    @once
    def post(self, request: Request) -> Response:
        """Create a scenario on a snapshot."""
        serializer = ScenarioCreate(data=request.data)
        serializer.is_valid(raise_exception=True)
        snapshot = snapshots(self.user).filter(pk=serializer.validated_data["snapshot"]).first()
        if snapshot is None:
            raise ValidationError({"snapshot": [ErrorDetail("No such snapshot.", "does_not_exist")]})
        with saved_unless_dry(request):
            scenario = scenario_create(
                snapshot=snapshot, name=serializer.validated_data["name"], owner=self.user
            )
        body = ScenarioSerializer(scenario).data
        return made(request, body, status.HTTP_201_CREATED, ETag=etag(scenario.revision))


class ScenarioDetail(WorkspaceView):
    """One scenario."""

    @extend_schema(responses=answers({200: ScenarioSerializer}, 404), parameters=[ETAG])
    def get(self, request: Request, scenario_id: UUID) -> Response:
        """Return a scenario with its revision."""
        return _at_revision(scenario := self.scenario(), ScenarioSerializer(scenario).data)

    @extend_schema(
        request=LabelsSerializer,
        responses=answers({200: ScenarioSerializer}, 400, 403, 404, 422),
        parameters=[DRY_RUN],
    )
    def patch(self, request: Request, scenario_id: UUID) -> Response:
        """Set the name, note and tags of a scenario, or archive it; this creates no revision."""
        scenario = self.scenario()
        serializer = LabelsSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        with saved_unless_dry(request):
            label(thing=scenario, user=self.user, **serializer.validated_data)
        return _at_revision(scenario, ScenarioSerializer(scenario).data)

    @extend_schema(responses=answers({204: None}, 400, 403, 404, 412, 428), parameters=[DRY_RUN, IF_MATCH])
    def delete(self, request: Request, scenario_id: UUID) -> Response:
        """Remove a scenario with its runs; its changes stay in the workspace's history."""
        scenario, revision = self.scenario(), seen_revision(request)
        with reporting_staleness(scenario), saved_unless_dry(request):
            scenario_remove(scenario=scenario, expected_revision=revision, user=self.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


class ConfDetail(WorkspaceView):
    """The scheduler configuration of a scenario."""

    parser_classes = [JsonBody, JsonPatch]

    @extend_schema(responses=answers({200: ConfSerializer}, 404), parameters=[ETAG])
    def get(self, request: Request, scenario_id: UUID) -> Response:
        """Return the configuration as text; empty means Volcano's default."""
        scenario = self.scenario()
        return _at_revision(scenario, _conf_body(scenario, scenario.conf_text))

    @extend_schema(
        request=ConfSerializer,
        responses=answers({200: ConfEdited}, 400, 403, 404, 412, 422, 428),
        parameters=[DRY_RUN, IF_MATCH, ETAG],
    )
    def put(self, request: Request, scenario_id: UUID) -> Response:
        """Replace the configuration."""
        scenario = self.scenario()
        revision = seen_revision(request)
        serializer = ConfSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        text = serializer.validated_data["text"]
        with editing(request, scenario, partial(_conf_versions, scenario)) as edit:
            conf_update(scenario=scenario, text=text, expected_revision=revision, user=self.user)
        return edited(request, scenario, _conf_edited(scenario, text, edit))

    @extend_schema(
        request={
            "application/json": ConfOperation(many=True),
            "application/json-patch+json": ConfOperation(many=True),
        },
        responses=answers({200: ConfEdited}, 400, 403, 404, 412, 422, 428),
        parameters=[DRY_RUN, IF_MATCH, ETAG],
    )
    def patch(self, request: Request, scenario_id: UUID) -> Response:
        """Edit the configuration by a JSON patch; untouched lines of the text stay as they are."""
        scenario = self.scenario()
        revision = seen_revision(request)
        with editing(request, scenario, partial(_conf_versions, scenario)) as edit:
            conf_patch(scenario=scenario, operations=request.data, expected_revision=revision, user=self.user)
        return edited(request, scenario, _conf_edited(scenario, scenario.conf_text, edit))


class ReleaseDetail(WorkspaceView):
    """The release of Volcano whose rules apply to a scenario."""

    @extend_schema(responses=answers({200: ReleaseSerializer}, 404), parameters=[ETAG])
    def get(self, request: Request, scenario_id: UUID) -> Response:
        """Return the selected release, the imported one, and the one whose rules apply."""
        scenario = self.scenario()
        return _at_revision(scenario, _release_body(scenario))

    @extend_schema(
        request=ReleaseSerializer,
        responses=answers({200: ReleaseEdited}, 400, 403, 404, 412, 422, 428),
        parameters=[DRY_RUN, IF_MATCH, ETAG],
    )
    def put(self, request: Request, scenario_id: UUID) -> Response:
        """Select the release; an empty one means the imported one."""
        scenario, revision = self.scenario(), seen_revision(request)
        serializer = ReleaseSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        name = serializer.validated_data["release"]
        with editing(request, scenario, partial(_release_versions, scenario)) as edit:
            release_update(scenario=scenario, name=name, expected_revision=revision, user=self.user)
        return edited(request, scenario, edit.body_with(_release_body(scenario)))


def _release_versions(scenario: Scenario, later: list[Change]) -> tuple[Any, Any]:
    """Return the release that the caller saw, and the current one."""
    names = [change.before for change in later if change.path == "release"]
    current = {"release": scenario.release}
    return ({"release": names[0]} if names else current), current


def _release_body(scenario: Scenario) -> dict[str, Any]:
    return {
        "release": scenario.release,
        "imported": release_imported(scenario.snapshot),
        "rules_of": release_used(scenario).name,
    }


def _conf_versions(scenario: Scenario, later: list[Change]) -> tuple[Any, Any]:
    """Return the configuration that the caller saw, and the current one."""
    texts = [change.before for change in later if change.path == "conf"]
    current = {"text": scenario.conf_text}
    return ({"text": texts[0]} if texts else current), current


def _conf_body(scenario: Scenario, text: str) -> dict[str, Any]:
    """Return a configuration with its findings and facts."""
    return {
        "text": text,
        "problems": [asdict(problem) for problem in conf_findings(text, release_used(scenario))],
    }


def _conf_edited(scenario: Scenario, text: str, edit: Edited) -> dict[str, Any]:
    """Return a configuration after an edit: its findings, then problems that the edit caused elsewhere."""
    body = _conf_body(scenario, text)
    known = {(finding["rule"], finding["message"]) for finding in body["problems"]}
    others = [
        asdict(ConfFinding(**asdict(problem)))
        for problem in edit.problems
        if (problem.rule, problem.message) not in known
    ]
    return {**edit.body_with(body), "problems": [*body["problems"], *others]}


def _at_revision(scenario: Scenario, body: Any) -> Response:
    return Response(body, headers={"ETag": etag(scenario.revision)})
