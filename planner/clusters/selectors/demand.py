"""What do the jobs of a cluster hold and request? Counted once for the same objects and engine, and kept."""

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

from django.core.cache import cache

from planning.demands import Demand, demand_from, demand_of, plain
from planning.version import ENGINE_VERSION

Json = Mapping[str, Any]


def demand_counted(key: str, document: Callable[[], Json]) -> Demand:
    """Return the demand of a document, which is kept: counting takes seconds for a large cluster."""
    if (kept := cache.get(key)) is not None:
        return demand_from(kept)
    demand = demand_of(document())
    cache.set(key, plain(demand))
    return demand


def demand_keep(content_id: str, demand: Json) -> None:
    """Keep the demand of a new snapshot, so that its first page need not count it."""
    cache.set(demand_key(content_id), demand)


def demand_key(content_id: str, changes: str = "") -> str:
    """Return the cache key of what is counted from these bytes by this engine."""
    digest = hashlib.sha256(f"{ENGINE_VERSION} {content_id} {changes}".encode()).hexdigest()
    return f"demand-{digest}"
