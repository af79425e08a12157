"""How do scripts bring a cluster in?"""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import status
from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.generics import ListAPIView, get_object_or_404
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.access import WorkspaceView, is_dry, saved_unless_dry
from planner.api.errors import PayloadTooLarge
from planner.api.filters import SnapshotFilter
from planner.api.parsers import JsonBody
from planner.api.schema import DRY_RUN, answers, listed
from planner.api.serializers import SnapshotFiles, SnapshotSerializer, SnapshotUpload
from planner.models import Snapshot
from planner.selectors.scenarios import snapshots


@extend_schema_view(get=extend_schema(responses=listed(SnapshotSerializer)))
class SnapshotList(WorkspaceView, ListAPIView[Snapshot]):
    """The snapshots of the workspace, newest first."""

    queryset = Snapshot.objects.none()
    serializer_class = SnapshotSerializer
    filterset_class = SnapshotFilter
    parser_classes = [JsonBody, MultiPartParser]

    def get_queryset(self) -> QuerySet[Snapshot]:
        """Return what the caller may see."""
        return snapshots(self.workspace)


class SnapshotDetail(WorkspaceView):
    """One snapshot."""

    @extend_schema(responses=answers({200: SnapshotSerializer}, 404))
    def get(self, request: Request, snapshot_id: UUID) -> Response:
        """Return a snapshot: what it holds, and what import found."""
        snapshot = get_object_or_404(snapshots(self.workspace), pk=snapshot_id)
        return Response(SnapshotSerializer(snapshot).data)
