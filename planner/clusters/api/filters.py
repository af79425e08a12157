"""Filters of the lists of clusters, snapshots and imports."""

import django_filters

from planner.clusters.models import Cluster, Import, Snapshot
from planner.web.selectors.orders import order


class ClusterFilter(django_filters.FilterSet):
    """Clusters."""

    name = django_filters.CharFilter(lookup_expr="icontains")
    ordering = order("name", "created")

    class Meta:
        model = Cluster
        fields = ["workspace"]


class SnapshotFilter(django_filters.FilterSet):
    """Snapshots."""

    name = django_filters.CharFilter(lookup_expr="icontains")
    ordering = order("created", "name")

    class Meta:
        model = Snapshot
        fields = ["cluster"]


class ImportFilter(django_filters.FilterSet):
    """Imports that workers read."""

    name = django_filters.CharFilter(lookup_expr="icontains")
    ordering = order("created", "finished", "name")

    class Meta:
        model = Import
        fields = ["state", "snapshot"]
