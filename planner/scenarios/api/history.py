"""API calls about a scenario's history, undo, differences and branches."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import status
from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.generics import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.access import OneWorkspace, WorkspaceView, made, saved_unless_dry
from planner.api.idempotency import once
from planner.api.schema import DRY_RUN, ETAG, IDEMPOTENCY_KEY, IF_MATCH, answers, listed
from planner.api.serializers import ScenarioSerializer
from planner.api.tables import TableList, TableView
from planner.scenarios.api.edits import edited, editing
from planner.scenarios.api.filters import ChangeFilter, WorkspaceChangeFilter
from planner.scenarios.api.preconditions import etag, seen_revision
from planner.scenarios.api.serializers.history import (
    BranchCreate,
    ChangeSerializer,
    DifferenceNamed,
    DifferencesSerializer,
    WorkspaceChangeSerializer,
    difference_body,
)
from planner.scenarios.api.serializers.scenarios import ScenarioEdited
from planner.scenarios.models import Change
from planner.scenarios.selectors.history import changes, workspace_changes
from planner.scenarios.selectors.scenarios import BASES, SNAPSHOT, START, differences_from
from planner.scenarios.services.branches import scenario_branch
from planner.scenarios.services.history import change_revert, difference_revert, redo, undo
from planning.states import Edit

BASE = OpenApiParameter(
    "base",
    enum=BASES,
    description="`snapshot`, or `start`: what the scenario started from (for a branch: its parent).",
)
_EDITED = answers({200: ScenarioEdited}, 400, 403, 404, 412, 422, 428)
_EDITING = [DRY_RUN, IF_MATCH, ETAG]


@extend_schema_view(get=extend_schema(responses=listed(ChangeSerializer)))
class ChangeList(TableList):
    """The changes of a scenario, newest first."""

    queryset = Change.objects.none()
    serializer_class = ChangeSerializer
    filterset_class = ChangeFilter

    def get_queryset(self) -> QuerySet[Change]:
        """Return the scenario's changes."""
        return changes(self.scenario())


class ChangeRevert(WorkspaceView):
    """One change of a scenario."""

    @extend_schema(request=None, responses=_EDITED, parameters=_EDITING)
    def post(self, request: Request, scenario_id: UUID, change_id: UUID) -> Response:
        """Revert one change, as a new revision."""
        scenario = self.scenario()
        change = get_object_or_404(scenario.changes, pk=change_id)
        revision = seen_revision(request)
        with editing(request, scenario) as edit:
            change_revert(scenario=scenario, change=change, expected_revision=revision, user=self.user)
        return edited(request, scenario, edit.body_with(ScenarioSerializer(scenario).data))


class Undo(WorkspaceView):
    """Undo of the last revision."""

    @extend_schema(request=None, responses=_EDITED, parameters=_EDITING)
    def post(self, request: Request, scenario_id: UUID) -> Response:
        """Undo the last revision, as a new revision."""
        scenario = self.scenario()
        with editing(request, scenario) as edit:
            undo(scenario=scenario, expected_revision=seen_revision(request), user=self.user)
        return edited(request, scenario, edit.body_with(ScenarioSerializer(scenario).data))


class Redo(WorkspaceView):
    """Redo of the last undone revision."""

    @extend_schema(request=None, responses=_EDITED, parameters=_EDITING)
    def post(self, request: Request, scenario_id: UUID) -> Response:
        """Redo the last undone revision, as a new revision."""
        scenario = self.scenario()
        with editing(request, scenario) as edit:
            redo(scenario=scenario, expected_revision=seen_revision(request), user=self.user)
        return edited(request, scenario, edit.body_with(ScenarioSerializer(scenario).data))


class Diff(TableView):
    """The differences of a scenario from its base: queues and configuration first, then objects."""

    rows_in = "differences"
    parameters = ("base",)

    @extend_schema(responses=answers({200: DifferencesSerializer}, 404, 422), parameters=[BASE, ETAG])
    def get(self, request: Request, scenario_id: UUID) -> Response:
        """Return the differences by queue and field."""
        scenario = self.scenario()
        base = _base(request)
        found = [difference_body(edit) for edit in differences_from(scenario, base)]
        body = {"base": base, "revision": scenario.revision, "differences": found}
        return Response(DifferencesSerializer(body).data, headers={"ETag": etag(scenario.revision)})


class DiffRevert(WorkspaceView):
    """One difference of a scenario from its base."""

    @extend_schema(request=DifferenceNamed, responses=_EDITED, parameters=[BASE, *_EDITING])
    def post(self, request: Request, scenario_id: UUID) -> Response:
        """Restore one object as it is in the base, a job or PodGroup with its pods, as a new revision."""
        scenario = self.scenario()
        base, revision = _base(request), seen_revision(request)
        serializer = DifferenceNamed(data=request.data)
        serializer.is_valid(raise_exception=True)
        with editing(request, scenario) as edit:
            one = _named(differences_from(scenario, base), serializer.validated_data)
            difference_revert(
                scenario=scenario, difference=one, base=base, expected_revision=revision, user=self.user
            )
        return edited(request, scenario, edit.body_with(ScenarioSerializer(scenario).data))


class Branch(WorkspaceView):
    """Branches of a scenario."""

    @extend_schema(
        request=BranchCreate,
        responses=answers({201: ScenarioSerializer}, 400, 403, 404, 422),
        parameters=[DRY_RUN, IDEMPOTENCY_KEY, ETAG],
    )
    @once
    def post(self, request: Request, scenario_id: UUID) -> Response:
        """Create a branch of this scenario at its current revision, or at `revision`."""
        scenario = self.scenario()
        serializer = BranchCreate(data=request.data)
        serializer.is_valid(raise_exception=True)
        revision = serializer.validated_data.get("revision")
        if revision is not None and revision > scenario.revision:
            raise ValidationError(
                {"revision": [ErrorDetail("The scenario has no such revision yet.", "max_value")]}
            )
        with saved_unless_dry(request):
            branch = scenario_branch(
                scenario=scenario, name=serializer.validated_data["name"], revision=revision, user=self.user
            )
        body = ScenarioSerializer(branch).data
        return made(request, body, status.HTTP_201_CREATED, ETag=etag(branch.revision))


def _base(request: Request) -> str:
    base = request.query_params.get("base", SNAPSHOT)
    if base not in BASES:
        raise ValidationError({"base": [ErrorDetail(f"One of {SNAPSHOT}, {START}.", "invalid_choice")]})
    return base


def _named(found: list[Edit], params: dict[str, Any]) -> Edit:
    for edit in found:
        if (edit.kind, edit.key, edit.field) == (params["kind"], params["key"], params["field"]):
            return edit
    raise ValidationError({"key": [ErrorDetail("No difference with this name.", "unchanged")]})


@extend_schema_view(get=extend_schema(responses=listed(WorkspaceChangeSerializer)))
class WorkspaceChanges(OneWorkspace, TableList):
    """The changes of all scenarios of a workspace, including removed ones."""

    queryset = Change.objects.none()
    serializer_class = WorkspaceChangeSerializer
    filterset_class = WorkspaceChangeFilter

    def get_queryset(self) -> QuerySet[Change]:
        """Return the changes of the workspace's scenarios."""
        return workspace_changes(self.workspace())
