"""API calls that return snapshots and scenarios as documents, and write many objects at once."""

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.generics import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.access import WorkspaceView
from planner.api.bodies import Body
from planner.api.schema import DRY_RUN, ETAG, IF_MATCH, answers
from planner.api.serializers import ScenarioSerializer
from planner.clusters.selectors.snapshots import snapshots
from planner.scenarios.api.edits import edited, editing
from planner.scenarios.api.preconditions import etag, seen_revision
from planner.scenarios.api.serializers.manifests import ManifestSerializer
from planner.scenarios.api.serializers.scenarios import ScenarioEdited
from planner.scenarios.models import Scenario
from planner.scenarios.selectors.scenarios import document_of_scenario, document_of_snapshot
from planner.scenarios.services.documents import Wanted, document_update
from planning.states import CLUSTER_KINDS, KINDS, QUEUES

_BYTES = {(200, "application/json"): OpenApiResponse(OpenApiTypes.OBJECT, "A scenario document.")}
_LISTS = (QUEUES, *KINDS)
REVISION = OpenApiParameter(
    "revision", int, description="A revision of the scenario; default: the current one."
)


class KeysSerializer(serializers.Serializer[Any]):
    """Names of objects by list, those in namespaces as `namespace/name`."""

    def get_fields(self) -> dict[str, Any]:
        """Return a field for each list of a scenario document."""
        return {
            kind: serializers.ListField(child=_key(kind), required=False, max_length=10_000)
            for kind in _LISTS
        }


class ObjectsSerializer(serializers.Serializer[Any]):
    """Kubernetes objects by list, in their desired state."""

    def get_fields(self) -> dict[str, Any]:
        """Return a field for each list of a scenario document."""
        return {
            kind: serializers.ListField(child=NamedObject(), required=False, max_length=10_000)
            for kind in _LISTS
        }


class NamedObject(ManifestSerializer):
    """A Kubernetes object with a name; all of its fields are stored."""

    def to_internal_value(self, data: Any) -> Any:
        """Return the whole object."""
        super().to_internal_value(data)
        metadata = data["metadata"]
        if not isinstance(metadata.get("name"), str) or not metadata["name"]:
            raise serializers.ValidationError({"metadata": "The object needs a name."}, code="required")
        if not isinstance(metadata.get("namespace", ""), str):
            raise serializers.ValidationError({"metadata": "The namespace is a text."}, code="invalid")
        return data


class DocumentSerializer(Body):
    """The desired state: objects as JSON or text, objects to remove, the configuration."""

    objects = ObjectsSerializer(required=False)
    removed = KeysSerializer(required=False)
    conf = serializers.CharField(required=False, allow_blank=True, trim_whitespace=False)
    documents = serializers.CharField(
        required=False,
        trim_whitespace=False,
        help_text="Objects as text, YAML or JSON: Queues, nodes, jobs, the scheduler's ConfigMap.",
    )

    def validate(self, attrs: Any) -> Any:
        """Reject unknown keys: a misspelt key would silently change nothing."""
        for at, known in (("", self.fields), ("objects", _LISTS), ("removed", _LISTS)):
            sent = self.initial_data.get(at, {}) if at else self.initial_data
            if extra := sorted(sent.keys() - set(known)):
                raise serializers.ValidationError(
                    {at or extra[0]: f"Unknown: {', '.join(extra)}."}, "unknown_field"
                )
        return attrs


class SnapshotDocument(WorkspaceView):
    """The document of a snapshot."""

    sparse = False

    @extend_schema(responses=answers(_BYTES, 404))
    def get(self, request: Request, snapshot_id: UUID) -> HttpResponse:
        """Return a snapshot as a scenario document."""
        snapshot = get_object_or_404(snapshots(self.user), pk=snapshot_id)
        self.note_export(snapshot.workspace, f"snapshot {snapshot.pk}: document")
        return HttpResponse(document_of_snapshot(snapshot), content_type="application/json")


class ScenarioDocument(WorkspaceView):
    """The document of a scenario."""

    sparse = False

    parameters = ("revision",)

    @extend_schema(responses=answers(_BYTES, 404, 422), parameters=[REVISION, ETAG])
    def get(self, request: Request, scenario_id: UUID) -> HttpResponse:
        """Return a scenario as a run would freeze it, at the current or an older revision."""
        scenario = self.scenario()
        revision = _revision(request, scenario)
        self.note_export(scenario.workspace, f"scenario {scenario.pk}: document")
        document = document_of_scenario(scenario, revision)
        headers = {"ETag": etag(revision or scenario.revision)}
        return HttpResponse(document, content_type="application/json", headers=headers)

    @extend_schema(
        request=DocumentSerializer,
        responses=answers({200: ScenarioEdited}, 400, 403, 404, 412, 422, 428),
        parameters=[DRY_RUN, IF_MATCH, ETAG],
    )
    def patch(self, request: Request, scenario_id: UUID) -> Response:
        """Write queues, other objects and the configuration in one revision; none if nothing changes."""
        scenario, revision = self.scenario(), seen_revision(request)
        serializer = DocumentSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        sent = serializer.validated_data
        wanted = Wanted(
            sent.get("objects", {}), sent.get("removed", {}), sent.get("conf"), sent.get("documents", "")
        )
        with editing(request, scenario) as edit:
            document_update(scenario=scenario, wanted=wanted, expected_revision=revision, user=self.user)
        return edited(request, scenario, edit.body_with(ScenarioSerializer(scenario).data))


def _revision(request: Request, scenario: Scenario) -> int | None:
    """Return the requested revision, None for the current one."""
    text = request.query_params.get("revision")
    if text is None:
        return None
    try:
        return int(serializers.IntegerField(min_value=1, max_value=scenario.revision).run_validation(text))
    except serializers.ValidationError as error:
        raise serializers.ValidationError({"revision": error.detail}) from None


def _key(kind: str) -> serializers.Field[Any, Any, Any, Any]:
    if kind in (QUEUES, *CLUSTER_KINDS):
        return serializers.CharField(max_length=253)
    return serializers.RegexField(r"^[^/]+/[^/]+$", max_length=510)
