"""API calls about the workloads of a scenario."""

from collections.abc import Callable
from operator import attrgetter
from typing import Any
from uuid import UUID

from django.http import Http404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.access import WorkspaceView
from planner.api.filters import in_requested_order, is_requested, ordering_parameter, refuse_other_words
from planner.api.idempotency import once
from planner.api.pagination import Pages
from planner.api.parsers import JsonBody, MergePatch
from planner.api.schema import DRY_RUN, ETAG, IDEMPOTENCY_KEY, IF_MATCH, answers, paged
from planner.api.serializers import Edit
from planner.api.tables import TableView
from planner.scenarios.api.edits import edited, editing
from planner.scenarios.api.nodes import PAGE, PAGE_SIZE
from planner.scenarios.api.preconditions import etag, seen_revision
from planner.scenarios.api.serializers.manifests import sent_object
from planner.scenarios.api.serializers.workloads import (
    ObjectsTouched,
    WorkloadAddSerializer,
    WorkloadEdited,
    WorkloadPatch,
    WorkloadSerializer,
)
from planner.scenarios.models import Scenario
from planner.scenarios.selectors.scenarios import objects_in, state_of
from planner.scenarios.selectors.workloads import workload_rows
from planner.scenarios.services.workloads import (
    job_add,
    workload_copy,
    workload_remove,
    workload_update,
    workloads_add,
)
from planning.states import ObjectKey
from planning.workload_fields import KINDS
from planning.workloads import WorkloadRow, Workloads

EXACT = ("kind", "namespace", "queue", "origin")
WORDS = {"kind": KINDS, "origin": ("imported", "changed", "added")}
"""The parameters with a fixed set of values."""
FILTERS = [
    OpenApiParameter("name", description="Part of the name."),
    OpenApiParameter("kind", enum=WORDS["kind"]),
    OpenApiParameter("namespace"),
    OpenApiParameter("queue"),
    OpenApiParameter("origin", enum=WORDS["origin"]),
    OpenApiParameter("pending", bool, description="Whether one of its pods waits."),
]

ORDERS: dict[str, Callable[[WorkloadRow], Any]] = {
    name: attrgetter(name)
    for name in ("name", "kind", "namespace", "queue", "origin", "replicas", "running", "pending")
}
"""The fields to order by."""


class WorkloadList(TableView):
    """The workloads of a scenario: vcjobs, PodGroups, single pods."""

    parameters = (*EXACT, "name", "pending", "ordering", "page", "page_size")

    @extend_schema(
        operation_id="scenarios_workloads_list",
        responses=answers({200: paged(WorkloadSerializer)}, 404, 422),
        parameters=[*FILTERS, ordering_parameter(ORDERS), PAGE, PAGE_SIZE, ETAG],
    )
    def get(self, request: Request, scenario_id: UUID) -> Response:
        """Return a page of workloads, as a run would see them."""
        scenario = self.scenario()
        refuse_other_words(request, WORDS)
        rows = workload_rows(scenario, objects_in(scenario, state_of(scenario)))
        pages = Pages()
        found = [row for row in rows if _is_wanted(row, request)]
        page = pages.paginate_queryset(in_requested_order(found, request, ORDERS), request, self)
        body = pages.get_paginated_response(WorkloadSerializer(page or (), many=True).data).data
        return Response(body, headers={"ETag": etag(scenario.revision)})

    @extend_schema(
        request=WorkloadAddSerializer,
        responses=answers({201: ObjectsTouched}, 400, 403, 404, 412, 422, 428),
        parameters=[DRY_RUN, IF_MATCH, IDEMPOTENCY_KEY, ETAG],
    )
    @once
    def post(self, request: Request, scenario_id: UUID) -> Response:
        """Add a job by its fields, workloads by their text, or copies of one."""
        scenario, revision = self.scenario(), seen_revision(request)
        serializer = WorkloadAddSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        sent = serializer.validated_data
        seen: dict[str, Any] = {"scenario": scenario, "expected_revision": revision, "user": self.user}
        with editing(request, scenario) as edit:
            if "job" in sent:
                touched = job_add(fields=sent["job"], **seen)
            elif "documents" in sent:
                touched = workloads_add(text=sent["documents"], **seen)
            else:
                one = sent["copy"]
                key = f"{one['namespace']}/{one['name']}"
                touched = workload_copy(kind=one["kind"], key=key, count=one["count"], **seen)
        return edited(request, scenario, edit.body_with(_body(touched)), status.HTTP_201_CREATED)


class WorkloadDetail(WorkspaceView):
    """One workload."""

    parser_classes = [JsonBody, MergePatch]

    @extend_schema(responses=answers({200: WorkloadSerializer}, 404), parameters=[ETAG])
    def get(self, request: Request, scenario_id: UUID, kind: str, namespace: str, job: str) -> Response:
        """Return a workload."""
        scenario = self.scenario()
        row = _found(scenario, kind, f"{namespace}/{job}")
        return Response(WorkloadSerializer(row).data, headers={"ETag": etag(scenario.revision)})

    @extend_schema(
        request=WorkloadPatch,
        responses=answers({200: WorkloadEdited}, 400, 403, 404, 412, 422, 428),
        parameters=[DRY_RUN, IF_MATCH, ETAG],
    )
    def patch(self, request: Request, scenario_id: UUID, kind: str, namespace: str, job: str) -> Response:
        """Change queue, priority class, minMember, replicas or the requests of a pod."""
        scenario, revision = self.scenario(), seen_revision(request)
        key = f"{namespace}/{job}"
        _found(scenario, kind, key)
        with editing(request, scenario) as edit:
            workload_update(
                scenario=scenario,
                kind=kind,
                key=key,
                fields=sent_object(request.data),
                expected_revision=revision,
                user=self.user,
            )
            body = WorkloadSerializer(_found(scenario, kind, key)).data
        return edited(request, scenario, edit.body_with(body))

    @extend_schema(
        responses=answers({200: Edit}, 400, 403, 404, 412, 422, 428), parameters=[DRY_RUN, IF_MATCH, ETAG]
    )
    def delete(self, request: Request, scenario_id: UUID, kind: str, namespace: str, job: str) -> Response:
        """Remove a workload with its PodGroup and its pods."""
        scenario, revision = self.scenario(), seen_revision(request)
        key = f"{namespace}/{job}"
        _found(scenario, kind, key)
        with editing(request, scenario) as edit:
            workload_remove(scenario=scenario, kind=kind, key=key, expected_revision=revision, user=self.user)
        return edited(request, scenario, edit.body_with(None))


def _found(scenario: Scenario, kind: str, key: str) -> WorkloadRow:
    row = Workloads(objects_in(scenario, state_of(scenario))).row(kind, key)
    if row is None:
        raise Http404
    return row


def _is_wanted(row: WorkloadRow, request: Request) -> bool:
    params = request.query_params
    waits = is_requested(request, "pending")
    return (
        all(getattr(row, name) == params[name] for name in EXACT if name in params)
        and params.get("name", "").lower() in row.name.lower()
        and waits in (None, row.pending > 0)
    )


def _body(touched: list[ObjectKey]) -> dict[str, list[dict[str, str]]]:
    return {"objects": [{"kind": kind, "key": key} for kind, key in touched]}
