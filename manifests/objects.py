"""The objects of a document: one, a List of them, or a scenario of lists."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from manifests.document import Steps
from manifests.kinds import LISTS


class Item(NamedTuple):
    """An object, and its path in its document."""

    value: Any
    steps: Steps
    api_version: Any
    kind: Any


def scenario_in(value: Any) -> tuple[dict[str, Any], Steps] | None:
    """Return the scenario in a document with its path: a recorded one is beside its result."""
    if not isinstance(value, dict) or "kind" in value:
        return None
    if isinstance(value.get("scenario"), dict):
        return value["scenario"], ("scenario",)
    return (value, ()) if any(name in value for name in LISTS) else None


def items_of(value: Any, steps: Steps = ()) -> Iterator[Item]:
    """Yield the objects of a document; a List is expanded, a PodList implies the kind of its items."""
    api_version = value.get("apiVersion") if isinstance(value, dict) else None
    kind = value.get("kind") if isinstance(value, dict) else None
    if not (
        isinstance(kind, str) and kind.endswith("List") and isinstance(value.get("items", 0), list | None)
    ):
        yield Item(value, steps, api_version, kind)
        return
    item_kind = kind.removesuffix("List") or None
    for index, inner in enumerate(value["items"] or ()):
        for item in items_of(inner, (*steps, "items", index)):
            is_typed = item_kind is not None and item.kind is None
            yield item._replace(api_version=api_version, kind=item_kind) if is_typed else item
