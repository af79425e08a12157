"""API calls that import and show workload traces."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import status
from rest_framework.generics import get_object_or_404
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from planner.accounts.models import Workspace
from planner.api.access import WorkspaceView, made, saved_unless_dry
from planner.api.idempotency import first_answer, once
from planner.api.parsers import JsonBody
from planner.api.schema import DRY_RUN, IDEMPOTENCY_KEY, WORKSPACE, answers, listed
from planner.api.tables import TableList
from planner.clusters.selectors.snapshots import snapshots
from planner.forecasts.api.filters import TraceFilter
from planner.forecasts.api.trace_serializers import TracePreviewSerializer, TraceSerializer, TraceUpload
from planner.forecasts.models import WorkloadTrace
from planner.forecasts.selectors.traces import traces
from planner.forecasts.services.traces import (
    TraceRead,
    trace_create,
    trace_delete,
    trace_of_file,
    trace_of_patterns,
    trace_of_snapshot,
    trace_of_text,
    trace_preview,
)


@extend_schema_view(get=extend_schema(responses=listed(TraceSerializer)))
class TraceList(TableList):
    """The workload traces of the workspace, newest first."""

    queryset = WorkloadTrace.objects.none()
    serializer_class = TraceSerializer
    filterset_class = TraceFilter
    parser_classes = [JsonBody, MultiPartParser]

    def get_queryset(self) -> QuerySet[WorkloadTrace]:
        """Return the traces that the caller may see."""
        return traces(self.user)

    @extend_schema(
        request={"application/json": TraceUpload, "multipart/form-data": TraceUpload},
        responses=answers({201: TraceSerializer}, 400, 403, 413, 422),
        parameters=[DRY_RUN, IDEMPOTENCY_KEY, WORKSPACE],
        filters=False,
    )
    def post(self, request: Request) -> Response:
        """Store a trace: a text, a file (plain or gzip), the jobs of a snapshot, or a generated one."""
        workspace = self.workspace_for_import()
        serializer = TraceUpload(data=request.data)
        serializer.is_valid(raise_exception=True)
        sent = serializer.validated_data
        return first_answer(request) or self._stored(
            request, {"workspace": workspace, "name": sent["name"], "read": self._read(sent, workspace)}
        )

    def _read(self, sent: Mapping[str, Any], workspace: Workspace) -> TraceRead:
        """Return the trace of a body."""
        if "generate" in sent:
            return trace_of_patterns(**sent["generate"])
        if "jobs_of" in sent:
            snapshot = get_object_or_404(snapshots(self.user), pk=sent["jobs_of"]["snapshot"])
            return trace_of_snapshot(workspace=workspace, snapshot=snapshot, since=sent["jobs_of"]["since"])
        format_name = sent.get("format", "")
        if (file := sent.get("file")) is None:
            return trace_of_text(text=sent["text"], format_name=format_name, provenance="API")
        return trace_of_file(file=file, format_name=format_name, provenance=f"API: {file.name}"[:500])

    @once
    def _stored(self, request: Request, facts: Mapping[str, Any]) -> Response:
        """Store a trace that was read."""
        with saved_unless_dry(request):
            trace = trace_create(user=self.user, **facts)
        return made(request, TraceSerializer(trace).data, status.HTTP_201_CREATED)


class TraceView(WorkspaceView):
    """A call about one trace."""

    def found(self) -> WorkloadTrace:
        """Return the requested trace, or answer 404."""
        return get_object_or_404(traces(self.user), pk=self.kwargs["trace_id"])


class TraceDetail(TraceView):
    """One workload trace."""

    @extend_schema(responses=answers({200: TraceSerializer}, 404))
    def get(self, request: Request, trace_id: UUID) -> Response:
        """Return a trace: counts, span, queues."""
        return Response(TraceSerializer(self.found()).data)

    @extend_schema(responses=answers({204: None}, 403, 404), parameters=[DRY_RUN])
    def delete(self, request: Request, trace_id: UUID) -> Response:
        """Delete a trace; its forecasts stay, as their input is frozen."""
        with saved_unless_dry(request):
            trace_delete(trace=self.found(), user=self.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


class TracePreviewDetail(TraceView):
    """The arrivals of a trace."""

    @extend_schema(responses=answers({200: TracePreviewSerializer}, 404))
    def get(self, request: Request, trace_id: UUID) -> Response:
        """Return arrivals over time, sizes and run times of each queue."""
        return Response(TracePreviewSerializer(trace_preview(self.found())).data)
