"""The objects of snapshots; the last few that were read are cached unpacked."""

from django.conf import settings

from planner.clusters.models import Snapshot
from planning.contents import Content
from planning.memory_cache import MemoryCache

KEPT_BYTES: int = settings.SNAPSHOT_CACHE_BYTES

_cache: MemoryCache[tuple[Content, int]] = MemoryCache(KEPT_BYTES, lambda kept: kept[1])


def content_of(snapshot: Snapshot) -> Content:
    """Return the objects of a snapshot (no query if cached, else 1)."""

    def unpacked() -> tuple[Content, int]:
        blob = snapshot.content
        document = blob.document()
        return Content(lambda: document), blob.size

    content, _ = _cache.get(snapshot.content_id, unpacked)
    return content


def content_if_needed(snapshot: Snapshot) -> Content:
    """Return the objects of a snapshot, unpacked only when something other than a queue is accessed."""
    if snapshot.queues is None:
        return content_of(snapshot)
    return Content(lambda: content_of(snapshot).document, snapshot.queues)
