"""How does a Queue object become a row, an editable spec, and an object again, with nothing lost?"""

import copy
from collections.abc import Mapping
from typing import Any

from planner.scenarios.models import Queue

Json = dict[str, Any]

_SPEC_ATTRIBUTES = {
    "parent": "parent",
    "weight": "weight",
    "priority": "priority",
    "reclaimable": "reclaimable",
    "deserved": "deserved",
    "capability": "capability",
    "dequeueStrategy": "dequeue_strategy",
    "affinity": "affinity",
}


def queue_row(manifest: Mapping[str, Any]) -> Queue:
    """Return the unsaved row of a Queue object; what has no column of its own goes to `extra`."""
    rest = copy.deepcopy(dict(manifest))
    metadata: Json = rest.get("metadata") or {}
    spec: Json = rest.get("spec") or {}
    status: Json = rest.get("status") or {}
    row = Queue(
        name=metadata.pop("name"),
        labels=metadata.pop("labels", None) or {},
        annotations=metadata.pop("annotations", None) or {},
        created=metadata.pop("creationTimestamp", None) or "",
        parent=spec.pop("parent", None) or "",
        weight=spec.pop("weight", None),
        priority=spec.pop("priority", None),
        reclaimable=spec.pop("reclaimable", None),
        deserved=_as_texts(spec.pop("deserved", None)),
        capability=_as_texts(spec.pop("capability", None)),
        guarantee=_as_texts((spec.pop("guarantee", None) or {}).get("resource")),
        dequeue_strategy=spec.pop("dequeueStrategy", None) or "",
        affinity=spec.pop("affinity", None) or {},
        state=status.pop("state", None) or "",
    )
    parts = {"metadata": metadata, "spec": spec, "status": status}
    row.extra = {**rest, **parts}
    return row


def duplicate_row(row: Queue) -> Queue:
    """Return an unsaved queue of the same spec, that nothing ran in and no cluster has made yet."""
    manifest = queue_manifest(row)
    named = {"name": row.name, **_set_only({"labels": row.labels, "annotations": row.annotations})}
    return queue_row({**manifest, "metadata": named, "status": _set_only({"state": row.state})})


def queue_manifest(row: Queue) -> Json:
    """Return the Queue object of a row, in the spelling of its CRD; fields that are not set are left out."""
    manifest: Json = copy.deepcopy(row.extra)
    manifest["metadata"] = {
        "name": row.name,
        **manifest.get("metadata", {}),
        **_set_only({"labels": row.labels, "annotations": row.annotations, "creationTimestamp": row.created}),
    }
    columns = {field: getattr(row, attribute) for field, attribute in _SPEC_ATTRIBUTES.items()}
    if row.guarantee:
        columns["guarantee"] = {"resource": row.guarantee}
    manifest["spec"] = {**manifest.get("spec", {}), **_set_only(columns)}
    manifest["status"] = {**manifest.get("status", {}), **_set_only({"state": row.state})}
    return manifest


def queue_spec(row: Queue) -> Json:
    """Return the editable fields of a queue in CRD spelling; every field is there, null when not set."""
    return {
        "name": row.name,
        "parent": row.parent or None,
        "weight": row.weight,
        "priority": row.priority,
        "reclaimable": row.reclaimable,
        "state": row.state or None,
        "guarantee": {"resource": row.guarantee},
        "deserved": row.deserved,
        "capability": row.capability,
        "dequeueStrategy": row.dequeue_strategy or None,
        "affinity": row.affinity,
        "annotations": row.annotations,
        "labels": row.labels,
    }


def merge_patch(target: Any, patch: Any) -> Any:
    """Return `target` changed by an RFC 7396 merge patch.

    >>> merge_patch({"weight": 1, "capability": {"cpu": "8"}}, {"capability": {"cpu": None, "pods": "5"}})
    {'weight': 1, 'capability': {'pods': '5'}}
    """
    if not isinstance(patch, Mapping):
        return patch
    merged = dict(target) if isinstance(target, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge_patch(merged.get(key), value)
    return merged


def apply_spec(row: Queue, spec: Mapping[str, Any]) -> None:
    """Write the fields of an edited, valid spec to the columns of `row`."""
    row.parent = spec.get("parent") or ""
    row.weight = spec.get("weight")
    row.priority = spec.get("priority")
    row.reclaimable = spec.get("reclaimable")
    row.state = spec.get("state") or ""
    row.guarantee = _as_texts((spec.get("guarantee") or {}).get("resource"))
    row.deserved = _as_texts(spec.get("deserved"))
    row.capability = _as_texts(spec.get("capability"))
    row.dequeue_strategy = spec.get("dequeueStrategy") or ""
    row.affinity = spec.get("affinity") or {}
    row.annotations = spec.get("annotations") or {}
    row.labels = spec.get("labels") or {}


def _as_texts(quantities: Mapping[str, Any] | None) -> dict[str, str]:
    """Return quantities as texts; YAML and JSON numbers are legal quantities, too."""
    return {resource: str(quantity) for resource, quantity in (quantities or {}).items()}


def _set_only(fields: Mapping[str, Any]) -> Json:
    return {field: value for field, value in fields.items() if value not in (None, "", {})}
