"""How do scripts read all that a snapshot or a scenario says, and write many parts of a scenario at once?"""

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.generics import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.access import WorkspaceView, saved_unless_dry
from planner.api.schema import DRY_RUN, ETAG, IF_MATCH, answers
from planner.api.serializers import ScenarioSerializer
from planner.scenarios.api.edits import edited, told_when_stale
from planner.scenarios.api.preconditions import etag, seen_revision
from planner.scenarios.api.serializers.manifests import ManifestSerializer
from planner.scenarios.selectors.revisions import document_of_scenario, document_of_snapshot
from planner.scenarios.selectors.scenarios import snapshots
from planner.scenarios.services.documents import Wanted, document_update
from planning.states import CLUSTER_KINDS, KINDS, QUEUES

_BYTES = {(200, "application/json"): OpenApiResponse(OpenApiTypes.OBJECT, "A scenario document.")}
_LISTS = (QUEUES, *KINDS)


class KeysSerializer(serializers.Serializer[Any]):
    """Names of objects by list, those in namespaces as `namespace/name`."""

    def get_fields(self) -> dict[str, Any]:
        """Return a field for each list of a scenario document."""
        return {
            kind: serializers.ListField(child=_key(kind), required=False, max_length=10_000)
            for kind in _LISTS
        }


class ObjectsSerializer(serializers.Serializer[Any]):
    """Kubernetes objects by list, as they shall be."""

    def get_fields(self) -> dict[str, Any]:
        """Return a field for each list of a scenario document."""
        return {
            kind: serializers.ListField(child=NamedObject(), required=False, max_length=10_000)
            for kind in _LISTS
        }


class NamedObject(ManifestSerializer):
    """A Kubernetes object with a name; all of it is kept."""

    def to_internal_value(self, data: Any) -> Any:
        """Return the whole object, whatever parts it has."""
        super().to_internal_value(data)
        metadata = data["metadata"]
        if not isinstance(metadata.get("name"), str) or not metadata["name"]:
            raise serializers.ValidationError({"metadata": "The object needs a name."}, code="required")
        if not isinstance(metadata.get("namespace", ""), str):
            raise serializers.ValidationError({"metadata": "The namespace is a text."}, code="invalid")
        return data


class DocumentSerializer(serializers.Serializer[Any]):
    """What a scenario shall say: objects as they shall be, those to be removed, the configuration."""

    objects = ObjectsSerializer(required=False)
    removed = KeysSerializer(required=False)
    conf = serializers.CharField(required=False, allow_blank=True, trim_whitespace=False)

    def validate(self, attrs: Any) -> Any:
        """Refuse what is no part of it: a misspelt key would change nothing in silence."""
        for at, known in (("", self.fields), ("objects", _LISTS), ("removed", _LISTS)):
            sent = self.initial_data.get(at, {}) if at else self.initial_data
            if extra := sorted(sent.keys() - set(known)):
                raise serializers.ValidationError(
                    {at or extra[0]: f"Unknown: {', '.join(extra)}."}, "unknown_field"
                )
        return attrs


class SnapshotDocument(WorkspaceView):
    """All that a snapshot holds."""

    sparse = False

    @extend_schema(responses=answers(_BYTES, 404))
    def get(self, request: Request, snapshot_id: UUID) -> HttpResponse:
        """Return a snapshot as a scenario document."""
        snapshot = get_object_or_404(snapshots(self.user), pk=snapshot_id)
        self.note_export(snapshot.workspace, f"snapshot {snapshot.pk}: document")
        return HttpResponse(document_of_snapshot(snapshot), content_type="application/json")


class ScenarioDocument(WorkspaceView):
    """All that a scenario says."""

    sparse = False

    @extend_schema(responses=answers(_BYTES, 404), parameters=[ETAG])
    def get(self, request: Request, scenario_id: UUID) -> HttpResponse:
        """Return a scenario as a document, as a run freezes it."""
        scenario = self.scenario()
        self.note_export(scenario.workspace, f"scenario {scenario.pk}: document")
        headers = {"ETag": etag(scenario.revision)}
        return HttpResponse(document_of_scenario(scenario), content_type="application/json", headers=headers)

    @extend_schema(
        request=DocumentSerializer,
        responses=answers({200: ScenarioSerializer}, 400, 403, 404, 412, 422, 428),
        parameters=[DRY_RUN, IF_MATCH, ETAG],
    )
    def patch(self, request: Request, scenario_id: UUID) -> Response:
        """Write queues, other objects and the configuration in one revision; none when all is so already."""
        scenario, revision = self.scenario(), seen_revision(request)
        asked = DocumentSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        said = asked.validated_data
        wanted = Wanted(said.get("objects", {}), said.get("removed", {}), said.get("conf"))
        with told_when_stale(scenario), saved_unless_dry(request):
            document_update(scenario=scenario, wanted=wanted, expected_revision=revision, user=self.user)
        return edited(request, scenario, ScenarioSerializer(scenario).data)


def _key(kind: str) -> serializers.Field[Any, Any, Any, Any]:
    if kind in (QUEUES, *CLUSTER_KINDS):
        return serializers.CharField(max_length=253)
    return serializers.RegexField(r"^[^/]+/[^/]+$", max_length=510)
