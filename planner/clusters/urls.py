"""The URLs of the pages of clusters."""

from django.urls import path

from planner.clusters.views import deletion, imports

pages = [
    path("import/", imports.import_cluster, name="import"),
    path("import/save/", imports.save, name="import-save"),
    path("imports/<uuid:import_id>/", imports.detail, name="import-detail"),
    path("imports/<uuid:import_id>/cancel/", imports.cancel, name="import-cancel"),
    path("imports/<uuid:import_id>/scenario/", imports.begin, name="import-begin"),
    path("runs/<uuid:run_id>/delete/", deletion.run, name="run-delete"),
    path("snapshots/<uuid:snapshot_id>/delete/", deletion.snapshot, name="snapshot-delete"),
    path("clusters/<uuid:cluster_id>/delete/", deletion.cluster, name="cluster-delete"),
    path("workspaces/<uuid:workspace_id>/delete/", deletion.workspace, name="workspace-delete"),
    path("workspaces/<uuid:workspace_id>/storage/", deletion.storage, name="storage"),
]
