"""What exactly does a run compute on? One scenario document, as bytes that never change."""

from collections.abc import Iterable, Mapping
from typing import Any

from planning.documents import encoded, items
from planning.queues import QueueFields, queue_manifest
from planning.states import KINDS, Json, ObjectKey, State, object_key

_QUEUE_NAME = "scheduling.volcano.sh/queue-name"
"""The annotation by which a pod without a podgroup, or a namespace, names its queue."""

Overlay = Mapping[ObjectKey, Mapping[str, Any] | None]


def frozen_input(
    objects: Mapping[str, Any],
    *,
    name: str,
    state: State,
    options: Mapping[str, Any] | None = None,
) -> bytes:
    """Return the scenario document of a run: the snapshot's `objects` in a scenario's state.

    The configuration stays the text that the user wrote; without one the document has none, which means
    Volcano's default. The release is the snapshot's unless the state names another. The number of cycles is
    part of the document, so that the document alone decides.
    """
    queues = state.ordered_queues()
    document = {
        "name": name,
        **({"scheduler_conf": state.conf_text} if state.conf_text.strip() else {}),
        **scenario_objects(objects, queues=queues, overlay=state.objects),
        "queues": [queue_manifest(queue) for queue in queues],
    }
    if state.release:
        document["release"] = state.release
    if options and options.get("cycles"):
        document["cycles"] = options["cycles"]
    return encoded(document)


def scenario_objects(objects: Mapping[str, Any], *, queues: Iterable[QueueFields], overlay: Overlay) -> Json:
    """Return the snapshot's objects as the scenario has them, queues and configuration left out.

    What was changed stands in its place, what was added at the end of its list, by key. Workloads follow a
    queue of the snapshot that was renamed. Lists that nothing touches are the very same.
    """
    renamed = renamed_queues(queues)
    by_kind: dict[str, dict[str, Mapping[str, Any] | None]] = {}
    for (kind, key), manifest in sorted(overlay.items(), key=lambda entry: entry[0]):
        by_kind.setdefault(kind, {})[key] = manifest
    laid = {
        kind: _laid_over(kind, listed, by_kind.pop(kind, {}), renamed) if kind in KINDS else listed
        for kind, listed in objects.items()
        if kind not in ("name", "scheduler_conf", "queues")
    }
    return laid | {kind: _laid_over(kind, (), changed, renamed) for kind, changed in by_kind.items()}


def renamed_queues(queues: Iterable[QueueFields]) -> dict[str, str]:
    """Return the new names of the snapshot's queues that have one."""
    return {
        row.imported_name: row.name for row in queues if row.imported_name and row.imported_name != row.name
    }


def following(kind: str, manifest: Mapping[str, Any], renamed: Mapping[str, str]) -> Mapping[str, Any]:
    """Return an object with its queue under its new name; the very same object when it has none.

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
    kind: str, listed: Any, changed: Mapping[str, Mapping[str, Any] | None], renamed: Mapping[str, str]
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
    return [*kept, *(manifest for manifest in left.values() if manifest is not None)]
