"""How much does the cluster of a snapshot have?"""

from django.core.cache import cache

from planner.clusters.models import Snapshot
from planning.rows import Amounts
from planning.totals import allocatable_totals
from planning.version import ENGINE_VERSION


def cluster_totals(snapshot: Snapshot) -> Amounts:
    """Return what the nodes offer together. A snapshot never changes, so its answer is kept."""
    key = f"cluster-totals-{ENGINE_VERSION}-{snapshot.content_id}"
    totals: Amounts | None = cache.get(key)
    if totals is None:
        totals = allocatable_totals(snapshot.content.document())
        cache.set(key, totals)
    return totals
