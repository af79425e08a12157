"""The allocated and requested resources of a cluster's jobs, counted once per objects and engine, and cached.

All cache keys are made here; they contain the engine's version.
"""

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

from django.core.cache import cache

from planning.demands import Demand, demand_from, demand_of, plain
from planning.version import ENGINE_VERSION

Json = Mapping[str, Any]


def demand_counted(key: str, document: Callable[[], Json]) -> Demand:
    """Return the demand of a document from the cache; counting takes seconds for a large cluster."""
    if (kept := cache.get(key)) is not None:
        return demand_from(kept)
    demand = demand_of(document())
    cache.set(key, plain(demand))
    return demand


def demand_store(content_id: str, demand: Json | None) -> None:
    """Cache the demand of a new snapshot, so that its first page does not have to count it.

    None stands for objects that cannot be simulated: nothing is stored.
    """
    if demand is not None:
        cache.set(demand_key(content_id), demand)


def demand_key(content_id: str, changes: str = "") -> str:
    """Return the cache key of the demand of these bytes with these changes."""
    return _key("demand", content_id, changes)


def preview_key(content_id: str, snapshot_id: object) -> str:
    """Return the cache key of the preview of a snapshot's own queues."""
    return _key("preview", content_id, str(snapshot_id))


def _key(kind: str, *parts: str) -> str:
    digest = hashlib.sha256(" ".join((ENGINE_VERSION, *parts)).encode()).hexdigest()
    return f"{kind}-{digest}"
