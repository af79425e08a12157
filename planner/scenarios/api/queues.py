"""API calls about the queue tree of a scenario, and its preview."""

from collections.abc import Mapping
from functools import partial
from typing import Any
from uuid import UUID

from django.http import Http404
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import status
from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.generics import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.access import WorkspaceView
from planner.api.filters import is_requested
from planner.api.idempotency import once
from planner.api.parsers import JsonBody, MergePatch
from planner.api.schema import DRY_RUN, ETAG, IDEMPOTENCY_KEY, IF_MATCH, answers, listed
from planner.api.serializers import Edit, ProblemSerializer
from planner.api.tables import TableList, TableView
from planner.scenarios.api.edits import edited, editing
from planner.scenarios.api.filters import QueueFilter
from planner.scenarios.api.preconditions import etag, seen_revision
from planner.scenarios.api.serializers.queues import (
    EditsPreviewed,
    PreviewSerializer,
    QueueEdited,
    QueuesEdited,
    QueueSerializer,
    QueuesPatch,
)
from planner.scenarios.models import Change, Queue, Scenario
from planner.scenarios.selectors.history import as_before
from planner.scenarios.selectors.preview import edited_preview, scenario_preview
from planner.scenarios.services.queues import queue_create, queue_remove, queue_update, queues_update
from planning.queues import queue_spec

SUBTREE = OpenApiParameter("subtree", bool, description="Also remove its descendants.")


@extend_schema_view(get=extend_schema(responses=listed(QueueSerializer), parameters=[ETAG]))
class QueueList(TableList):
    """The queues of a scenario, in the order of the import."""

    queryset = Queue.objects.none()
    serializer_class = QueueSerializer
    filterset_class = QueueFilter

    def list(self, request: Request, *args: Any, **kwargs: Any) -> Any:
        """Return a page of queues, with the scenario's revision as ETag."""
        scenario = self.scenario()
        self.queryset = scenario.queues.all()
        response = super().list(request)
        response.headers["ETag"] = etag(scenario.revision)
        return response

    @extend_schema(
        request=QueueSerializer,
        responses=answers({201: QueueEdited}, 400, 403, 404, 412, 422, 428),
        parameters=[DRY_RUN, IF_MATCH, IDEMPOTENCY_KEY, ETAG],
        filters=False,
    )
    @once
    def post(self, request: Request, scenario_id: UUID) -> Response:
        """Add a queue; only its name is required, other fields are left unset."""
        scenario = self.scenario()
        revision = seen_revision(request)
        with editing(request, scenario, partial(_versions, scenario, "")) as edit:
            queue = queue_create(
                scenario=scenario, spec=_object(request.data), expected_revision=revision, user=self.user
            )
        return edited(request, scenario, edit.body_with(queue_spec(queue)), status.HTTP_201_CREATED)

    @extend_schema(
        operation_id="scenarios_queues_edit",
        request=QueuesPatch,
        responses=answers({200: QueuesEdited}, 400, 403, 404, 412, 422, 428),
        parameters=[DRY_RUN, IF_MATCH, ETAG],
        filters=False,
    )
    def patch(self, request: Request, scenario_id: UUID) -> Response:
        """Change several queues in one revision; the body has a JSON merge patch for each."""
        scenario = self.scenario()
        revision = seen_revision(request)
        with editing(request, scenario) as edit:
            queues = queues_update(
                scenario=scenario,
                patches=_patches(request.data),
                expected_revision=revision,
                user=self.user,
            )
        return edited(request, scenario, edit.body_with({"queues": [queue_spec(queue) for queue in queues]}))


class QueueDetail(WorkspaceView):
    """One queue of a scenario, with the field names of its CRD."""

    parser_classes = [JsonBody, MergePatch]

    @extend_schema(responses=answers({200: QueueSerializer}, 404), parameters=[ETAG])
    def get(self, request: Request, scenario_id: UUID, name: str) -> Response:
        """Return a queue."""
        scenario = self.scenario()
        queue = get_object_or_404(scenario.queues, name=name)
        return Response(queue_spec(queue), headers={"ETag": etag(scenario.revision)})

    @extend_schema(
        request=QueueSerializer,
        responses=answers({200: QueueEdited}, 400, 403, 404, 412, 422, 428),
        parameters=[DRY_RUN, IF_MATCH, ETAG],
    )
    def patch(self, request: Request, scenario_id: UUID, name: str) -> Response:
        """Change fields of a queue by a JSON merge patch (RFC 7396): null removes, quantities are strings.

        Another `parent` moves it with its descendants; another `name` updates its children and its jobs.
        """
        scenario = self.scenario()
        _found_or_404(request, scenario, name)
        revision = seen_revision(request)
        with editing(request, scenario, partial(_versions, scenario, name)) as edit:
            queue = queue_update(
                scenario=scenario,
                name=name,
                patch=_object(request.data),
                expected_revision=revision,
                user=self.user,
            )
        return edited(request, scenario, edit.body_with(queue_spec(queue)))

    @extend_schema(
        responses=answers({200: Edit}, 400, 403, 404, 412, 422, 428),
        parameters=[SUBTREE, DRY_RUN, IF_MATCH, ETAG],
    )
    def delete(self, request: Request, scenario_id: UUID, name: str) -> Response:
        """Remove a queue, with `subtree` also its descendants; their jobs stay without a queue."""
        scenario = self.scenario()
        _found_or_404(request, scenario, name)
        revision = seen_revision(request)
        subtree = is_requested(request, "subtree") or False
        with editing(request, scenario, partial(_versions, scenario, name)) as edit:
            queue_remove(
                scenario=scenario, name=name, subtree=subtree, expected_revision=revision, user=self.user
            )
        return edited(request, scenario, edit.body_with(None))


class ScenarioPreview(TableView):
    """The figures of the queues, without a run."""

    rows_in = "queues"
    needed = None

    @extend_schema(responses=answers({200: PreviewSerializer}, 404), parameters=[ETAG])
    def get(self, request: Request, scenario_id: UUID) -> Response:
        """Return deserved, real capability and allocated of each queue when a session opens."""
        scenario = self.scenario()
        preview = PreviewSerializer(scenario_preview(scenario)).data
        return Response(preview, headers={"ETag": etag(scenario.revision)})

    @extend_schema(request=QueuesPatch, responses=answers({200: EditsPreviewed}, 400, 404), parameters=[ETAG])
    def post(self, request: Request, scenario_id: UUID) -> Response:
        """Return the same figures with edits of queues; nothing is saved."""
        scenario = self.scenario()
        batch, preview = edited_preview(scenario, _patches(request.data))
        rows = {row.name: row for row in batch.queues}
        body = {
            **PreviewSerializer(preview).data,
            "edited": [queue_spec(rows[after["name"]]) for _, after in batch.edited.values()],
            "problems": ProblemSerializer(batch.problems, many=True).data,
        }
        return Response(body, headers={"ETag": etag(scenario.revision)})


def _found_or_404(request: Request, scenario: Scenario, name: str) -> None:
    """Raise Http404 for a queue that does not exist, unless the edit is based on an earlier revision."""
    is_stale = "If-Match" in request.headers and seen_revision(request) != scenario.revision
    if not is_stale and not scenario.queues.filter(name=name).exists():
        raise Http404


def _versions(scenario: Scenario, name: str, later: list[Change]) -> tuple[Any, Any]:
    """Return the queue as the caller saw it, and as it is now; None and None if it was removed."""
    queue = scenario.queues.filter(name=name).first()
    if queue is None:
        return None, None
    current = queue_spec(queue)
    return as_before(current, later, f"queues.{name}."), current


def _patches(body: Any) -> dict[str, Mapping[str, Any]]:
    queues = _object(body).get("queues")
    if not isinstance(queues, Mapping) or set(body) != {"queues"}:
        problem = "Send an object with the one key queues: queue name to merge patch."
        raise ValidationError({"queues": [ErrorDetail(problem, "not_an_object")]})
    return {str(name): _object(patch) for name, patch in queues.items()}


def _object(body: Any) -> Mapping[str, Any]:
    if not isinstance(body, Mapping):
        raise ValidationError([ErrorDetail("Send a JSON object.", "not_an_object")])
    return body
