"""How do scripts bring a cluster in?"""

from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import status
from rest_framework.generics import get_object_or_404
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.access import WorkspaceView, made, saved_unless_dry
from planner.api.errors import PayloadTooLarge
from planner.api.filters import SnapshotFilter
from planner.api.idempotency import once
from planner.api.parsers import JsonBody
from planner.api.schema import DRY_RUN, IDEMPOTENCY_KEY, answers, listed
from planner.api.serializers import SnapshotFiles, SnapshotSerializer, SnapshotUpload
from planner.api.tables import TableList
from planner.engine.importing import MAX_TEXT_BYTES
from planner.models import Snapshot
from planner.selectors.scenarios import snapshots
from planner.services.imports import Files, cluster_import, cluster_read
from planner.services.members import workspace_require


@extend_schema_view(get=extend_schema(responses=listed(SnapshotSerializer)))
class SnapshotList(TableList):
    """The snapshots of the workspace, newest first."""

    queryset = Snapshot.objects.none()
    serializer_class = SnapshotSerializer
    filterset_class = SnapshotFilter
    parser_classes = [JsonBody, MultiPartParser]

    def get_queryset(self) -> QuerySet[Snapshot]:
        """Return what the caller may see."""
        return snapshots(self.user)

    @extend_schema(
        request={"application/json": SnapshotUpload, "multipart/form-data": SnapshotFiles},
        responses=answers({201: SnapshotSerializer}, 400, 403, 413, 422),
        parameters=[DRY_RUN, IDEMPOTENCY_KEY],
        filters=False,
    )
    @once
    def post(self, request: Request) -> Response:
        """Import a cluster: one scenario, the text of any mix of documents, or files."""
        workspace = workspace_require(user=self.user)
        _refuse_too_large(request)
        name, files = _sent(request)
        read = cluster_read(files)
        provenance = "API: " + ", ".join(label for label, _ in files)
        with saved_unless_dry(request):
            snapshot = cluster_import(
                read=read,
                workspace=workspace,
                name=name,
                provenance=provenance[:500],
                owner=self.user,
            )
        return made(request, SnapshotSerializer(snapshot).data, status.HTTP_201_CREATED)


class SnapshotDetail(WorkspaceView):
    """One snapshot."""

    @extend_schema(responses=answers({200: SnapshotSerializer}, 404))
    def get(self, request: Request, snapshot_id: UUID) -> Response:
        """Return a snapshot: what it holds, and what import found."""
        snapshot = get_object_or_404(snapshots(self.user), pk=snapshot_id)
        return Response(SnapshotSerializer(snapshot).data)


def _refuse_too_large(request: Request) -> None:
    """Refuse before reading; the importer bounds what a smaller body may unpack to."""
    if int(request.META.get("CONTENT_LENGTH") or 0) > MAX_TEXT_BYTES:
        raise PayloadTooLarge(f"The limit is {MAX_TEXT_BYTES // 10**6} MB.")


def _sent(request: Request) -> tuple[str, Files]:
    """Return the name and the files of an upload.

    A scenario is handed on as the body that it came in, so that problems tell the body's own lines.
    """
    if request.content_type.startswith("multipart/"):
        sent = [file for field in request.FILES for file in request.FILES.getlist(field)]
        upload = SnapshotFiles(data={"name": request.POST.get("name", ""), "files": sent})
        upload.is_valid(raise_exception=True)
        files = [(file.name, file.read()) for file in upload.validated_data["files"]]
        return upload.validated_data["name"] or files[0][0], files
    body = request.body
    asked = SnapshotUpload(data=request.data)
    asked.is_valid(raise_exception=True)
    documents = asked.validated_data.get("documents")
    file = ("body", body) if documents is None else ("documents", documents.encode())
    return asked.validated_data["name"], [file]
