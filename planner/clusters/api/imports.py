"""API calls that follow and cancel an import by a worker."""

from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework.generics import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.access import WorkspaceView
from planner.api.schema import PREFER, answers, listed
from planner.api.serializers import ImportSerializer
from planner.api.tables import TableList
from planner.api.waiting import wait_until_over
from planner.clusters.api.filters import ImportFilter
from planner.clusters.models import Import
from planner.clusters.selectors.imports import imports
from planner.work.lifecycle import work_cancel


@extend_schema_view(get=extend_schema(responses=listed(ImportSerializer)))
class ImportList(TableList):
    """The imports of the workspace that workers read, newest first."""

    queryset = Import.objects.none()
    serializer_class = ImportSerializer
    filterset_class = ImportFilter

    def get_queryset(self) -> QuerySet[Import]:
        """Return the imports that the caller may see."""
        return imports(self.user)


class ImportDetail(WorkspaceView):
    """One import."""

    @extend_schema(responses=answers({200: ImportSerializer}, 404), parameters=[PREFER])
    def get(self, request: Request, import_id: UUID) -> Response:
        """Return an import: state, progress, every problem, and the snapshot when it is finished."""
        cluster_import = get_object_or_404(imports(self.user), pk=import_id)
        headers = wait_until_over(request, cluster_import)
        return Response(ImportSerializer(cluster_import).data, headers=headers)


class ImportCancel(WorkspaceView):
    """Stopping an import."""

    @extend_schema(request=None, responses=answers({200: ImportSerializer}, 403, 404))
    def post(self, request: Request, import_id: UUID) -> Response:
        """Cancel a queued import immediately, request a running one to stop, keep a finished one."""
        cluster_import = get_object_or_404(imports(self.user), pk=import_id)
        return Response(ImportSerializer(work_cancel(work=cluster_import, user=self.user)).data)
