"""API calls about the nodes of a scenario."""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from django.http import Http404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.access import WorkspaceView
from planner.api.filters import in_requested_order, is_requested, ordering_parameter
from planner.api.idempotency import once
from planner.api.pagination import Pages
from planner.api.parsers import JsonBody, MergePatch
from planner.api.schema import DRY_RUN, ETAG, IDEMPOTENCY_KEY, IF_MATCH, answers, paged
from planner.api.serializers import Edit
from planner.api.tables import TableView
from planner.scenarios.api.edits import edited, editing
from planner.scenarios.api.preconditions import etag, seen_revision
from planner.scenarios.api.serializers.manifests import (
    ManifestEdited,
    ManifestSerializer,
    NamesSerializer,
    NodesAddSerializer,
    sent_manifest,
)
from planner.scenarios.models import Scenario
from planner.scenarios.selectors.scenarios import objects_in, state_of
from planner.scenarios.services.nodes import NODES, node_create, nodes_add, nodes_remove, nodes_update
from planning.nodes import node_like, node_of

NAME = OpenApiParameter("name", description="Part of the name.")
UNSCHEDULABLE = OpenApiParameter("unschedulable", bool, description="Whether it is cordoned.")
PAGE = OpenApiParameter("page", int)
PAGE_SIZE = OpenApiParameter("page_size", int, description="Default 100, at most 1000.")


def _is_cordoned(node: Mapping[str, Any]) -> bool:
    return bool((node.get("spec") or {}).get("unschedulable"))


ORDERS: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    "name": lambda node: node["metadata"]["name"],
    "unschedulable": _is_cordoned,
    "created": lambda node: str(node["metadata"].get("creationTimestamp") or ""),
}
"""The fields to order by."""


class NodeList(TableView):
    """The nodes of a scenario, in the order of the import, added ones last."""

    parameters = ("name", "unschedulable", "ordering", "page", "page_size")

    @extend_schema(
        operation_id="scenarios_nodes_list",
        responses=answers({200: paged(ManifestSerializer)}, 404, 422),
        parameters=[NAME, UNSCHEDULABLE, ordering_parameter(ORDERS), PAGE, PAGE_SIZE, ETAG],
    )
    def get(self, request: Request, scenario_id: UUID) -> Response:
        """Return a page of nodes as Kubernetes writes them."""
        scenario = self.scenario()
        part = request.query_params.get("name", "").lower()
        cordoned = is_requested(request, "unschedulable")
        nodes = [
            node
            for name, node in objects_in(scenario, state_of(scenario)).of_kind(NODES).items()
            if part in name.lower() and cordoned in (None, _is_cordoned(node))
        ]
        pages = Pages()
        page = pages.paginate_queryset(in_requested_order(nodes, request, ORDERS), request, self)
        body = pages.get_paginated_response(list(page or ())).data
        return Response(body, headers={"ETag": etag(scenario.revision)})

    @extend_schema(
        request=ManifestSerializer,
        responses=answers({201: ManifestEdited}, 400, 403, 404, 412, 422, 428),
        parameters=[DRY_RUN, IF_MATCH, IDEMPOTENCY_KEY, ETAG],
    )
    @once
    def post(self, request: Request, scenario_id: UUID) -> Response:
        """Add one node, given as a Kubernetes object."""
        scenario, revision = self.scenario(), seen_revision(request)
        manifest = sent_manifest(request.data)
        with editing(request, scenario) as edit:
            node_create(scenario=scenario, manifest=manifest, expected_revision=revision, user=self.user)
        return edited(request, scenario, edit.body_with(manifest), status.HTTP_201_CREATED)


class NodesAdd(WorkspaceView):
    """A pool of nodes."""

    @extend_schema(
        request=NodesAddSerializer,
        responses=answers({201: NamesSerializer}, 400, 403, 404, 412, 422, 428),
        parameters=[DRY_RUN, IF_MATCH, IDEMPOTENCY_KEY, ETAG],
    )
    @once
    def post(self, request: Request, scenario_id: UUID) -> Response:
        """Add nodes of one shape: copies of a node, or of a given capacity."""
        scenario, revision = self.scenario(), seen_revision(request)
        serializer = NodesAddSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        sent = serializer.validated_data
        shape = sent.get("like") and _node(scenario, sent["like"])
        if "like" in sent and shape is None:
            raise ValidationError({"like": [ErrorDetail("No such node.", "does_not_exist")]})
        with editing(request, scenario) as edit:
            names = nodes_add(
                scenario=scenario,
                prefix=sent["prefix"],
                count=sent["count"],
                made=lambda name: (
                    node_like(shape, name)
                    if shape
                    else node_of(name, sent["capacity"], sent.get("labels") or {})
                ),
                expected_revision=revision,
                user=self.user,
            )
        return edited(request, scenario, edit.body_with({"names": names}), status.HTTP_201_CREATED)


class NodeDetail(WorkspaceView):
    """One node of a scenario."""

    parser_classes = [JsonBody, MergePatch]

    @extend_schema(responses=answers({200: ManifestSerializer}, 404), parameters=[ETAG])
    def get(self, request: Request, scenario_id: UUID, node: str) -> Response:
        """Return a node as Kubernetes writes it."""
        scenario = self.scenario()
        return Response(self._found(scenario, node), headers={"ETag": etag(scenario.revision)})

    @extend_schema(
        request=ManifestSerializer,
        responses=answers({200: ManifestEdited}, 400, 403, 404, 412, 422, 428),
        parameters=[DRY_RUN, IF_MATCH, ETAG],
    )
    def patch(self, request: Request, scenario_id: UUID, node: str) -> Response:
        """Change a node by a JSON merge patch (RFC 7396): cordon, taint, label, resize."""
        scenario, revision = self.scenario(), seen_revision(request)
        self._found(scenario, node)
        patch = sent_manifest(request.data)
        with editing(request, scenario) as edit:
            nodes_update(
                scenario=scenario,
                names=[node],
                patch=lambda _: patch,
                expected_revision=revision,
                user=self.user,
            )
            body = self._found(scenario, node)
        return edited(request, scenario, edit.body_with(body))

    @extend_schema(
        responses=answers({200: Edit}, 400, 403, 404, 412, 422, 428), parameters=[DRY_RUN, IF_MATCH, ETAG]
    )
    def delete(self, request: Request, scenario_id: UUID, node: str) -> Response:
        """Remove a node; its pods stay, but use no resources of any node."""
        scenario, revision = self.scenario(), seen_revision(request)
        self._found(scenario, node)
        with editing(request, scenario) as edit:
            nodes_remove(scenario=scenario, names=[node], expected_revision=revision, user=self.user)
        return edited(request, scenario, edit.body_with(None))

    def _found(self, scenario: Scenario, name: str) -> dict[str, object]:
        found = _node(scenario, name)
        if found is None:
            raise Http404
        return found


def _node(scenario: Scenario, name: str) -> dict[str, object] | None:
    found = objects_in(scenario, state_of(scenario)).get(NODES, name)
    return None if found is None else dict(found)
