"""Sentences on the order of victims."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.explain.reasons import Reason, reason

_TIES = {
    "uid": "the larger uid",
    "creation": "the younger one",
    "index": "the larger index",
    "name": "the later name",
}


def order_reason(entry: Mapping[str, Any]) -> Reason:
    """Return why an entry of `evictions` comes before the next candidate."""
    if "room" not in entry and "first" not in entry and not entry["for"]:
        return reason("order.bundle", "It was evicted with its gang's bundle, the next in order of cost.")
    if "dry_run" in entry:
        text = f"In a dry run pod {entry['for']} no longer fitted when this pod was restored."
        return reason("order.dry-run", text)
    first = entry.get("first")
    if first is None:
        return reason("order.last", "It was the only remaining candidate.")
    numbers = {name: first[name] for name in ("mine", "theirs") if name in first}
    plugin = first["plugin"]
    if first["compared"] == "heap":
        text = (
            f"It was ahead of {first['before']} in the heap of victims, which is not sorted again after an "
            "eviction; their current keys would put it later."
        )
        return reason("order.heap", text, {"before": first["before"]})
    if plugin in _TIES:
        key = f"all else being equal, {_TIES[plugin]} is evicted first"
    else:
        key = f"{plugin} decides" + _keys_text(plugin, numbers)
    compared = "queues" if first["compared"] == "none" else first["compared"]
    before = first["before"]
    text = {
        "queues": f"Its queue loses pods before the queue of {before}",
        "jobs": f"Its job loses pods before the job of {before}",
        "tasks": f"It is evicted before {before}",
    }[compared]
    return reason(f"order.{compared}", f"{text}: {key}.", {"before": before, **numbers})


def _keys_text(plugin: str, numbers: Mapping[str, Any]) -> str:
    if len(numbers) < 2 or None in numbers.values():
        return ""
    mine, theirs = numbers["mine"], numbers["theirs"]
    if plugin == "gang":
        return " (its gang is complete, the other's is not)" if mine else " (its gang is incomplete)"
    if plugin == "priority":
        return f" (priority {abs(mine)} before {abs(theirs)})"
    return f" ({mine:.4g} against {theirs:.4g})"
