"""API calls that list, show and delete clusters."""

from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework.generics import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.access import WorkspaceView
from planner.api.deletion import deleted
from planner.api.schema import DRY_RUN, answers, listed
from planner.api.tables import TableList
from planner.clusters.api.filters import ClusterFilter
from planner.clusters.api.serializers import ClusterSerializer
from planner.clusters.models import Cluster
from planner.clusters.selectors.snapshots import clusters


@extend_schema_view(get=extend_schema(responses=listed(ClusterSerializer)))
class ClusterList(TableList):
    """The clusters of the caller's workspaces, by name."""

    queryset = Cluster.objects.none()
    serializer_class = ClusterSerializer
    filterset_class = ClusterFilter

    def get_queryset(self) -> QuerySet[Cluster]:
        """Return the clusters that the caller may see."""
        return clusters(self.user)


class ClusterDetail(WorkspaceView):
    """One cluster."""

    @extend_schema(responses=answers({200: ClusterSerializer}, 404))
    def get(self, request: Request, cluster_id: UUID) -> Response:
        """Return a cluster; its snapshots are `snapshots/?cluster=`."""
        return Response(ClusterSerializer(self._cluster(cluster_id)).data)

    @extend_schema(responses=answers({200: OpenApiTypes.OBJECT, 204: None}, 403, 404), parameters=[DRY_RUN])
    def delete(self, request: Request, cluster_id: UUID) -> Response:
        """Delete a cluster with its snapshots, scenarios and runs; a dry run returns how many of each."""
        return deleted(request, self._cluster(cluster_id), self.user)

    def _cluster(self, cluster_id: UUID) -> Cluster:
        return get_object_or_404(clusters(self.user), pk=cluster_id)
