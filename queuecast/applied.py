"""Objects of a change, applied to a snapshot like `kubectl apply` does."""

from collections.abc import Mapping
from typing import Any

from planning.documents import created, time_of_changes
from planning.queues import merge_patch
from queuecast.plans import NAMED, Key, key_of
from queuecast.problems import Json, as_problem
from scheduler_core.model.pod_info import GROUP_NAME
from scheduler_core.queue_edits import MADE_BY_VOLCANO
from scheduler_core.replay.queues import CLOSED_BY_PARENT
from scheduler_core.update_rules import UPDATES

_MADE = ("uid", "creationTimestamp", "generation", "resourceVersion", "namespace")
"""Metadata that identify an object in the cluster: a change cannot set them."""
_NOTED = (CLOSED_BY_PARENT, GROUP_NAME)
"""Annotations that Volcano's controllers write into queues and pods."""
_DEFAULTS = {"parent": "root", "reclaimable": True, "weight": 1, "priority": 0}
"""Defaults that the API server, the webhook and the controller write into a Queue."""
_FILLED = ("nodes", "pods")
"""Lists whose objects get most fields from the cluster: a change removes none of them."""


def changed(snapshot: Mapping[str, Any], changes: Mapping[str, Any]) -> Json:
    """Return the snapshot with the objects of `changes` replaced, or added as created after all others.

    >>> changed({"queues": [{"metadata": {"name": "a"}, "spec": {"weight": 1}}]},
    ...         {"queues": [{"metadata": {"name": "a"}, "spec": {"weight": 2}}]})
    {'queues': [{'metadata': {'name': 'a'}, 'spec': {'weight': 2}}]}
    """
    document = dict(snapshot)
    time = time_of_changes(snapshot)
    for kind in NAMED:
        objects: dict[Key, Any] = {key_of(kind, held): held for held in snapshot.get(kind) or ()}
        for held in changes.get(kind) or ():
            key = key_of(kind, held)
            made = kind == "queues" and key[1] in MADE_BY_VOLCANO
            objects[key] = (
                _over(kind, objects[key], held) if key in objects else created(held, "" if made else time)
            )
        if objects:
            document[kind] = list(objects.values())
    if changes.get("scheduler_conf"):
        document["scheduler_conf"] = changes["scheduler_conf"]
    return document


def refused_updates(snapshot: Mapping[str, Any], applied: Mapping[str, Any]) -> list[Json]:
    """Return why the cluster refuses to change existing objects; queues have checks of their own."""
    found: list[Json] = []
    for kind, (word, problems_of) in UPDATES.items():
        present = {key_of(kind, held): held for held in snapshot.get(kind) or ()}
        for index, after in enumerate(applied.get(kind) or ()):
            before = present.get(key := key_of(kind, after))
            if before is not None and before is not after:
                name = f"{word} {'/'.join(filter(None, key))}"
                found += [
                    as_problem(one, path=f"{kind}[{index}].{one.path}", message=f"{name}: {one.message}")
                    for one in problems_of(before, after)
                ]
    return found


def _over(kind: str, present: Mapping[str, Any], change: Mapping[str, Any]) -> Json:
    """Return an object after `kubectl apply`: fields that the cluster wrote stay unless they are changed."""
    if kind in _FILLED:
        applied = dict(merge_patch(present, change))
    else:
        applied = {**change, "metadata": _with_controllers_marks(present["metadata"], change["metadata"])}
    made = {field: present["metadata"].get(field) for field in _MADE}
    metadata = {**applied["metadata"], **made}
    applied["metadata"] = {field: value for field, value in metadata.items() if value is not None}
    if kind == "queues":
        spec, there = change.get("spec") or {}, present.get("spec") or {}
        kept = {field: value for field, value in _DEFAULTS.items() if there.get(field) == value}
        applied["spec"] = {**kept, **spec}
    if present.get("status") and kind not in _FILLED:
        applied["status"] = {**present["status"], **(change.get("status") or {})}
    return applied


def _with_controllers_marks(present: Mapping[str, Any], change: Mapping[str, Any]) -> Json:
    """Return metadata of a change with the owners and annotations that controllers wrote."""
    there, wanted = present.get("annotations") or {}, change.get("annotations") or {}
    owners = {"ownerReferences": present["ownerReferences"]} if present.get("ownerReferences") else {}
    if not isinstance(there, Mapping) or not isinstance(wanted, Mapping):
        return {**owners, **change}  # malformed, which is reported later
    noted = {name: there[name] for name in _NOTED if name in there}
    marked = {"annotations": {**noted, **wanted}} if noted else {}
    return {**owners, **change, **marked}
