"""The URLs of the API calls about clusters."""

from django.urls import path

from planner.clusters.api import clusters, imports, samples, snapshots

calls = [
    path("clusters/", clusters.ClusterList.as_view(), name="clusters"),
    path("clusters/<uuid:cluster_id>/", clusters.ClusterDetail.as_view(), name="cluster"),
    path("snapshots/", snapshots.SnapshotList.as_view(), name="snapshots"),
    path("snapshots/<uuid:snapshot_id>/", snapshots.SnapshotDetail.as_view(), name="snapshot"),
    path("sample/", samples.Sample.as_view(), name="sample"),
    path("imports/", imports.ImportList.as_view(), name="imports"),
    path("imports/<uuid:import_id>/", imports.ImportDetail.as_view(), name="import"),
    path("imports/<uuid:import_id>/cancel/", imports.ImportCancel.as_view(), name="import-cancel"),
]
