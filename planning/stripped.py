"""Stored objects without possible secrets; objects without any are returned unchanged."""

import json
from collections.abc import Collection
from typing import Any

import manifests
from planning.documents import encoded
from planning.queues import Queue, QueueFields, queue_manifest, queue_row
from planning.states import KINDS, QUEUES

Kept = Collection[str]
"""Annotations that are kept besides Volcano's own."""


def bare_input(content: bytes, keep: Kept) -> bytes:
    """Return the bytes of a scenario document."""
    document = json.loads(content)
    bare = manifests.stripped(document, keep)
    return content if bare is document else encoded(bare)


def bare_copy(content: bytes, keep: Kept) -> bytes:
    """Return the bytes of a full copy of a scenario, see `State.as_copy`."""
    copied = json.loads(content)
    bare = {
        **copied,
        "queues": [_kept_queue(kept, keep) for kept in copied["queues"]],
        "objects": [
            {**entry, "manifest": _object(entry["kind"], entry["manifest"], keep)}
            for entry in copied["objects"]
        ],
    }
    return content if bare == copied else encoded(bare)


def bare_change(kind: str, field: str, value: Any, keep: Kept) -> Any:
    """Return one side of a change; a field that a user set is kept."""
    if field or value is None:
        return value
    if kind == QUEUES:
        return _kept_queue(value, keep)
    return _object(kind, value, keep) if kind in KINDS else value


def bare_queue(row: QueueFields, keep: Kept) -> Queue | None:
    """Return the bare queue, None if it has no possible secrets."""
    manifest = queue_manifest(row)
    bare = manifests.stripped_object(QUEUES, manifest, keep)
    return None if bare is manifest else queue_row(bare)


def _kept_queue(kept: Any, keep: Kept) -> Any:
    bare = _object(QUEUES, kept["object"], keep)
    return kept if bare is kept["object"] else {**kept, "object": bare}


def _object(kind: str, manifest: Any, keep: Kept) -> Any:
    return manifest and manifests.stripped_object(kind, manifest, keep)
