"""What is in a snapshot? The last few that somebody read stay unpacked."""

from planner.clusters.models import Snapshot
from planning.contents import Content
from planning.shelf import Shelf

KEPT_BYTES = 25_000_000
"""How much text the unpacked snapshots of one process may come from; unpacked it takes four times as much."""

_shelf: Shelf[Content] = Shelf(KEPT_BYTES, lambda content: content.size)


def content_of(snapshot: Snapshot) -> Content:
    """Return the objects of a snapshot (no query while it is kept, else 1)."""

    def unpacked() -> Content:
        blob = snapshot.content
        return Content(blob.document(), blob.size)

    return _shelf.get(snapshot.content_id, unpacked)
