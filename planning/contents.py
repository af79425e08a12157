"""The objects of a snapshot and of a scenario on it, and the document of its runs."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from planning.documents import created, encoded, items, time_of_changes
from planning.queues import QueueFields, queue_manifest
from planning.states import KINDS, Json, ObjectKey, State, object_key
from scheduler_core.queue_edits import MADE_BY_VOLCANO

_QUEUE_NAME = "scheduling.volcano.sh/queue-name"
"""The annotation by which a pod without a podgroup, or a namespace, names its queue."""

MOST_CYCLES = 1_000
"""The most scheduling cycles of one run."""

Overlay = Mapping[ObjectKey, Mapping[str, Any] | None]


class Content:
    """The objects of a snapshot. They are shared: copy an object before changing it.

    `read` is called at the first look-up of anything but `queues`, the Queue objects, if these are known
    without reading.
    """

    def __init__(self, read: Callable[[], Json], queues: Sequence[Mapping[str, Any]] | None = None) -> None:
        self._read = read
        self._queues = queues

    @cached_property
    def document(self) -> Json:
        """Return all objects, by list."""
        return self._read()

    @property
    def queues(self) -> Sequence[Mapping[str, Any]]:
        """Return the Queue objects."""
        return items(self.document.get("queues")) if self._queues is None else self._queues

    @cached_property
    def objects(self) -> dict[str, dict[str, Mapping[str, Any]]]:
        """Return the other objects by list and key."""
        return {
            kind: {object_key(kind, manifest): manifest for manifest in items(self.document.get(kind))}
            for kind in KINDS
        }

    def seen(self, kind: str, key: str, renamed: Mapping[str, str]) -> Mapping[str, Any] | None:
        """Return an object of the snapshot with the new names of queues, None if there is none."""
        manifest = self.objects[kind].get(key)
        return None if manifest is None else following(kind, manifest, renamed)

    def settle(self, state: State, touched: Iterable[ObjectKey]) -> None:
        """Remove objects `touched` by an edit from a state if they equal those of the snapshot."""
        renamed = renamed_queues(state.queues.values())
        for kind, key in touched:
            if (kind, key) in state.objects and state.objects[kind, key] == self.seen(kind, key, renamed):
                del state.objects[kind, key]


class Objects:
    """The objects of a state: the snapshot's, overlaid with the state's changes."""

    def __init__(self, content: Content, state: State) -> None:
        self.content = content
        self.state = state
        self.renamed = renamed_queues(state.queues.values())

    def get(self, kind: str, key: str) -> Mapping[str, Any] | None:
        """Return an object, None if there is none."""
        if (kind, key) in self.state.objects:
            return self.state.objects[kind, key]
        return self.content.seen(kind, key, self.renamed)

    def keys(self) -> Iterator[ObjectKey]:
        """Yield the keys of the objects other than queues."""
        return ((kind, key) for kind in KINDS for key in self.of_kind(kind))

    def of_kind(self, kind: str) -> dict[str, Mapping[str, Any]]:
        """Return the objects of a list by key, in the order of the frozen input."""
        changed = {key: manifest for (of, key), manifest in self.state.objects.items() if of == kind}
        imported = {
            key: changed.pop(key) if key in changed else following(kind, manifest, self.renamed)
            for key, manifest in self.content.objects[kind].items()
        }
        both = imported | dict(sorted(changed.items()))
        return {key: manifest for key, manifest in both.items() if manifest is not None}

    def origin(self, kind: str, key: str) -> str:
        """Return whether an object is `imported` unchanged, `changed` or `added`."""
        if (kind, key) not in self.state.objects:
            return "imported"
        return "changed" if key in self.content.objects[kind] else "added"


def frozen_input(
    objects: Mapping[str, Any],
    *,
    name: str,
    state: State,
    options: Mapping[str, Any] | None = None,
) -> bytes:
    """Return the scenario document of a run: the snapshot's `objects` in a scenario's state.

    The configuration remains the text that the user wrote; without one the document has none, which means
    Volcano's default. The release is the snapshot's unless the state names another. The number of cycles is
    part of the document, so that the document alone determines the result.
    """
    queues = state.ordered_queues()
    document = {
        "name": name,
        **({"scheduler_conf": state.conf_text} if state.conf_text.strip() else {}),
        **scenario_objects(objects, queues=queues, overlay=state.objects),
        "queues": queue_manifests(queues, objects),
    }
    if state.release:
        document["release"] = state.release
    if options and options.get("cycles"):
        document["cycles"] = options["cycles"]
    return encoded(document)


def scenario_objects(objects: Mapping[str, Any], *, queues: Iterable[QueueFields], overlay: Overlay) -> Json:
    """Return the snapshot's objects as the scenario has them, queues and configuration left out.

    Changed objects keep their position, added ones are at the end of their list, by key, created after all
    others. Workloads of a renamed queue get its new name. Unchanged lists are not copied.
    """
    renamed = renamed_queues(queues)
    time = time_of_changes(objects) if overlay else ""
    by_kind: dict[str, dict[str, Mapping[str, Any] | None]] = {}
    for (kind, key), manifest in sorted(overlay.items(), key=lambda entry: entry[0]):
        by_kind.setdefault(kind, {})[key] = manifest
    laid = {
        kind: _laid_over(kind, listed, by_kind.pop(kind, {}), renamed, time) if kind in KINDS else listed
        for kind, listed in objects.items()
        if kind not in ("name", "scheduler_conf", "queues")
    }
    return laid | {kind: _laid_over(kind, (), changed, renamed, time) for kind, changed in by_kind.items()}


def queue_manifests(queues: Iterable[QueueFields], objects: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the Queue objects of rows; added ones are created after all `objects` of the snapshot."""
    rows = list(queues)
    added = {row.name for row in rows if not row.imported_name and row.name not in MADE_BY_VOLCANO}
    time = time_of_changes(objects) if added else ""
    return [created(queue_manifest(row), time if row.name in added else "") for row in rows]


def renamed_queues(queues: Iterable[QueueFields]) -> dict[str, str]:
    """Return the new names of renamed queues of the snapshot."""
    return {
        row.imported_name: row.name for row in queues if row.imported_name and row.imported_name != row.name
    }


def following(kind: str, manifest: Mapping[str, Any], renamed: Mapping[str, str]) -> Mapping[str, Any]:
    """Return an object with the new name of its queue; the same object if the queue was not renamed.

    >>> following("podgroups", {"spec": {"queue": "a", "minMember": 2}}, {"a": "b"})
    {'spec': {'queue': 'b', 'minMember': 2}}
    """
    if not renamed:
        return manifest
    if kind in ("podgroups", "jobs"):
        spec = manifest.get("spec") or {}
        if spec.get("queue") in renamed:
            return {**manifest, "spec": {**spec, "queue": renamed[spec["queue"]]}}
    elif kind in ("pods", "namespaces"):
        annotations = (manifest.get("metadata") or {}).get("annotations") or {}
        if annotations.get(_QUEUE_NAME) in renamed:
            follows = {**annotations, _QUEUE_NAME: renamed[annotations[_QUEUE_NAME]]}
            return {**manifest, "metadata": {**manifest["metadata"], "annotations": follows}}
    return manifest


def _laid_over(
    kind: str,
    listed: Any,
    changed: Mapping[str, Mapping[str, Any] | None],
    renamed: Mapping[str, str],
    time: str,
) -> Any:
    if not changed and not renamed:
        return listed
    kept: list[Mapping[str, Any]] = []
    left = dict(changed)
    for manifest in items(listed):
        key = object_key(kind, manifest)
        if key not in changed:
            kept.append(following(kind, manifest, renamed))
        elif (now := left.pop(key, None)) is not None:
            kept.append(now)
    return [*kept, *(created(manifest, time) for manifest in left.values() if manifest is not None)]
