"""API calls that import a cluster, and show and delete snapshots."""

from collections.abc import Mapping
from io import BytesIO
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import status
from rest_framework.generics import get_object_or_404
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.access import WorkspaceView, is_dry, made, saved_unless_dry
from planner.api.deletion import deleted
from planner.api.idempotency import first_answer, once
from planner.api.parsers import JsonCluster
from planner.api.schema import DRY_RUN, IDEMPOTENCY_KEY, PREFER, WORKSPACE, answers, listed
from planner.api.serializers import ImportSerializer
from planner.api.tables import TableList
from planner.api.waiting import wait_until_over
from planner.clusters.api.filters import SnapshotFilter
from planner.clusters.api.serializers import SnapshotFiles, SnapshotSerializer, SnapshotUpload
from planner.clusters.models import Blob, Snapshot
from planner.clusters.selectors.imports import imports
from planner.clusters.selectors.snapshots import snapshots
from planner.clusters.services.imports import (
    ClusterRead,
    cluster_read_apart,
    import_create,
    is_large,
    packed_files,
)
from planner.clusters.services.snapshots import cluster_import
from planning.importing import OpenFiles


@extend_schema_view(get=extend_schema(responses=listed(SnapshotSerializer)))
class SnapshotList(TableList):
    """The snapshots of the workspace, newest first."""

    queryset = Snapshot.objects.none()
    serializer_class = SnapshotSerializer
    filterset_class = SnapshotFilter
    parser_classes = [JsonCluster, MultiPartParser]

    def get_queryset(self) -> QuerySet[Snapshot]:
        """Return the snapshots that the caller may see."""
        return snapshots(self.user)

    @extend_schema(
        request={"application/json": SnapshotUpload, "multipart/form-data": SnapshotFiles},
        responses=answers({201: SnapshotSerializer, 202: ImportSerializer}, 400, 403, 413, 422),
        parameters=[DRY_RUN, IDEMPOTENCY_KEY, PREFER, WORKSPACE],
        filters=False,
    )
    def post(self, request: Request) -> Response:
        """Import a cluster: one scenario, the text of any mix of documents, or files.

        A worker reads more than 20 MB of text: then the response is the import, for the client to follow.
        """
        workspace = self.workspace_for_import()
        name, files = _sent(request)
        facts: dict[str, Any] = {
            "workspace": workspace,
            "name": name,
            "provenance": ("API: " + ", ".join(label for label, _ in files))[:500],
        }
        if not is_large(files):
            return first_answer(request) or self._imported(request, cluster_read_apart(files), facts)
        response = self._handed_on(request, packed_files(files), facts)
        cluster_import = get_object_or_404(imports(self.user), pk=response.data["id"])
        response["Location"] = reverse("api:import", args=[cluster_import.pk])
        for header, value in wait_until_over(request, cluster_import).items():
            response[header] = value
            response.data = ImportSerializer(cluster_import).data
        return response

    @once
    def _imported(self, request: Request, read: ClusterRead, facts: Mapping[str, Any]) -> Response:
        """Store what was read."""
        with saved_unless_dry(request):
            snapshot = cluster_import(read=read, owner=self.user, **facts)
        return made(request, SnapshotSerializer(snapshot).data, status.HTTP_201_CREATED)

    @once
    def _handed_on(self, request: Request, files: Blob, facts: Mapping[str, Any]) -> Response:
        """Queue files for a worker, also for a dry run."""
        cluster_import = import_create(files=files, is_dry=is_dry(request), user=self.user, **facts)
        return Response(ImportSerializer(cluster_import).data, status.HTTP_202_ACCEPTED)


class SnapshotDetail(WorkspaceView):
    """One snapshot."""

    @extend_schema(responses=answers({200: SnapshotSerializer}, 404))
    def get(self, request: Request, snapshot_id: UUID) -> Response:
        """Return a snapshot: its counts, and the problems of the import."""
        snapshot = get_object_or_404(snapshots(self.user), pk=snapshot_id)
        return Response(SnapshotSerializer(snapshot).data)

    @extend_schema(responses=answers({200: OpenApiTypes.OBJECT, 204: None}, 403, 404), parameters=[DRY_RUN])
    def delete(self, request: Request, snapshot_id: UUID) -> Response:
        """Delete a snapshot with its scenarios and runs; a dry run returns how many of each."""
        return deleted(request, get_object_or_404(snapshots(self.user), pk=snapshot_id), self.user)


def _sent(request: Request) -> tuple[str, OpenFiles]:
    """Return the name and the open files of an upload.

    A scenario is passed on as the raw body, so that problems have the body's line numbers.
    """
    if request.content_type.startswith("multipart/"):
        sent = [file for field in request.FILES for file in request.FILES.getlist(field)]
        upload = SnapshotFiles(data={"name": request.POST.get("name", ""), "files": sent})
        upload.is_valid(raise_exception=True)
        files = [(file.name, file) for file in upload.validated_data["files"]]
        return upload.validated_data["name"] or files[0][0], files
    body = request.body
    serializer = SnapshotUpload(data=request.data)
    serializer.is_valid(raise_exception=True)
    documents = serializer.validated_data.get("documents")
    label, text = ("body", body) if documents is None else ("documents", documents.encode())
    return serializer.validated_data["name"], [(label, BytesIO(text))]
