"""Clusters and snapshots; lists are querysets, to filter and to page."""

from django.db.models import QuerySet

from planner.accounts.models import User
from planner.accounts.selectors.workspaces import visible
from planner.clusters.models import Cluster, Snapshot


def clusters(user: User) -> QuerySet[Cluster]:
    """Return the clusters that an account may see, by name (1 query)."""
    return visible(Cluster.objects.all(), user)


def snapshots(user: User) -> QuerySet[Snapshot]:
    """Return the snapshots that an account may see, newest first, without their content."""
    kept = Snapshot.objects.select_related("workspace", "cluster", "owner").defer("queues")
    return visible(kept, user)
