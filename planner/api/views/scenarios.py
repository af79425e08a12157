"""How do scripts begin and edit a what-if?"""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import status
from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.generics import ListAPIView, get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.access import WorkspaceView, is_dry, made, saved_unless_dry
from planner.api.errors import StaleEdit
from planner.api.filters import QueueFilter, ScenarioFilter
from planner.api.idempotency import once
from planner.api.parsers import JsonBody, MergePatch
from planner.api.preconditions import etag, seen_revision
from planner.api.schema import DRY_RUN, ETAG, IDEMPOTENCY_KEY, IF_MATCH, answers, listed
from planner.api.serializers import (
    ConfSerializer,
    QueueSerializer,
    ScenarioCreate,
    ScenarioSerializer,
)
from planner.engine.conf import conf_problems
from planner.engine.queues import queue_spec
from planner.models import Queue, Scenario
from planner.selectors.history import as_before, changes_since
from planner.selectors.scenarios import scenarios, snapshots
from planner.services.errors import StaleRevision
from planner.services.queues import queue_update
from planner.services.scenarios import conf_update, scenario_create


@extend_schema_view(get=extend_schema(responses=listed(ScenarioSerializer)))
class ScenarioList(WorkspaceView, ListAPIView[Scenario]):
    """The scenarios of the workspace, last changed first."""

    queryset = Scenario.objects.none()
    serializer_class = ScenarioSerializer
    filterset_class = ScenarioFilter

    def get_queryset(self) -> QuerySet[Scenario]:
        """Return what the caller may see."""
        return scenarios(self.user)

    @extend_schema(
        request=ScenarioCreate,
        responses=answers({201: ScenarioSerializer}, 400, 403, 422),
        parameters=[DRY_RUN, IDEMPOTENCY_KEY, ETAG],
        filters=False,
    )
    @once
    def post(self, request: Request) -> Response:
        """Begin a what-if on a snapshot."""
        asked = ScenarioCreate(data=request.data)
        asked.is_valid(raise_exception=True)
        snapshot = snapshots(self.user).filter(pk=asked.validated_data["snapshot"]).first()
        if snapshot is None:
            raise ValidationError({"snapshot": [ErrorDetail("There is no such snapshot.", "does_not_exist")]})
        with saved_unless_dry(request):
            scenario = scenario_create(snapshot=snapshot, name=asked.validated_data["name"], owner=self.user)
        body = ScenarioSerializer(scenario).data
        return made(request, body, status.HTTP_201_CREATED, ETag=etag(scenario.revision))


class ScenarioDetail(WorkspaceView):
    """One scenario."""

    @extend_schema(responses=answers({200: ScenarioSerializer}, 404), parameters=[ETAG])
    def get(self, request: Request, scenario_id: UUID) -> Response:
        """Return a scenario with its revision."""
        return _at_revision(scenario := self.scenario(), ScenarioSerializer(scenario).data)


@extend_schema_view(get=extend_schema(responses=listed(QueueSerializer), parameters=[ETAG]))
class QueueList(WorkspaceView, ListAPIView[Queue]):
    """The queues of a scenario, in the order of the import."""

    queryset = Queue.objects.none()
    serializer_class = QueueSerializer
    filterset_class = QueueFilter

    def list(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Return a page of queues under the scenario's revision."""
        scenario = self.scenario()
        self.queryset = scenario.queues.all()
        return _at_revision(scenario, super().list(request).data)


class QueueDetail(WorkspaceView):
    """One queue of a scenario, in the spelling of its CRD."""

    parser_classes = [JsonBody, MergePatch]

    @extend_schema(responses=answers({200: QueueSerializer}, 404), parameters=[ETAG])
    def get(self, request: Request, scenario_id: UUID, name: str) -> Response:
        """Return a queue."""
        scenario = self.scenario()
        return _at_revision(scenario, queue_spec(get_object_or_404(scenario.queues, name=name)))

    @extend_schema(
        request=QueueSerializer,
        responses=answers({200: QueueSerializer}, 400, 403, 404, 412, 422, 428),
        parameters=[DRY_RUN, IF_MATCH, ETAG],
    )
    def patch(self, request: Request, scenario_id: UUID, name: str) -> Response:
        """Change fields of a queue by a JSON merge patch (RFC 7396): null removes, quantities are strings."""
        scenario = self.scenario()
        get_object_or_404(scenario.queues, name=name)
        revision = seen_revision(request)
        try:
            with saved_unless_dry(request):
                queue = queue_update(
                    scenario=scenario,
                    name=name,
                    patch=_object(request.data),
                    expected_revision=revision,
                    user=self.user,
                )
        except StaleRevision as stale:
            current = queue_spec(scenario.queues.get(name=name))
            seen = as_before(current, changes_since(scenario, revision), f"queues.{name}.")
            raise StaleEdit(stale, seen=seen, current=current) from stale
        return _edited(request, scenario, queue_spec(queue))


class ConfDetail(WorkspaceView):
    """The scheduler configuration of a scenario."""

    @extend_schema(responses=answers({200: ConfSerializer}, 404), parameters=[ETAG])
    def get(self, request: Request, scenario_id: UUID) -> Response:
        """Return the configuration as it was written; empty stands for Volcano's default."""
        scenario = self.scenario()
        return _at_revision(scenario, _conf_body(scenario.conf_text))

    @extend_schema(
        request=ConfSerializer,
        responses=answers({200: ConfSerializer}, 400, 403, 404, 412, 422, 428),
        parameters=[DRY_RUN, IF_MATCH, ETAG],
    )
    def put(self, request: Request, scenario_id: UUID) -> Response:
        """Replace the configuration."""
        scenario = self.scenario()
        revision = seen_revision(request)
        asked = ConfSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        text = asked.validated_data["text"]
        try:
            with saved_unless_dry(request):
                conf_update(scenario=scenario, text=text, expected_revision=revision, user=self.user)
        except StaleRevision as stale:
            current = {"text": scenario.conf_text}
            later = [change for change in changes_since(scenario, revision) if change.path == "conf"]
            seen = {"text": later[0].before} if later else current
            raise StaleEdit(stale, seen=seen, current=current) from stale
        return _edited(request, scenario, _conf_body(text))


def _conf_body(text: str) -> dict[str, Any]:
    """Return a configuration with what is worth knowing about its form; errors are not saved."""
    return {"text": text, "problems": [asdict(problem) for problem in conf_problems(text)]}


def _at_revision(scenario: Scenario, body: Any) -> Response:
    return Response(body, headers={"ETag": etag(scenario.revision)})


def _edited(request: Request, scenario: Scenario, body: Any) -> Response:
    """Return what an edit made; a dry run left the revision where the edit saw it."""
    revision = seen_revision(request) if is_dry(request) else scenario.revision
    return Response(body, headers={"ETag": etag(revision)})


def _object(body: Any) -> Mapping[str, Any]:
    if not isinstance(body, Mapping):
        raise ValidationError([ErrorDetail("Send a JSON object.", "not_an_object")])
    return body
