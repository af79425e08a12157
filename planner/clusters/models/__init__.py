"""The models of clusters."""

from planner.clusters.models.imports import Import, ImportPreview
from planner.clusters.models.snapshot import Blob, Cluster, Snapshot

__all__ = ["Blob", "Cluster", "Import", "ImportPreview", "Snapshot"]
