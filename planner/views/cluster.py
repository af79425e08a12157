"""How much does the cluster of a snapshot have?"""

from django.core.cache import cache

from planner.engine import ENGINE_VERSION
from planner.engine.totals import allocatable_totals
from planner.models import Snapshot
from planner.rows import Amounts


def cluster_totals(snapshot: Snapshot) -> Amounts:
    """Return what the nodes offer together. A snapshot never changes, so its answer is kept."""
    key = f"cluster-totals-{ENGINE_VERSION}-{snapshot.content_id}"
    totals: Amounts | None = cache.get(key)
    if totals is None:
        totals = allocatable_totals(snapshot.content.document())
        cache.set(key, totals)
    return totals
