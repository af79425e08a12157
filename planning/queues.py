"""Lossless conversion between Queue objects, rows and editable specs."""

import copy
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from dataclasses import field as dataclass_field
from typing import Any, Protocol
from uuid import UUID

Json = dict[str, Any]


class QueueFields(Protocol):
    """The fields of a queue, of a database row or a planned queue."""

    name: str
    imported_name: str
    parent: str
    weight: int | None
    priority: int | None
    reclaimable: bool | None
    state: str
    guarantee: Any
    deserved: Any
    capability: Any
    dequeue_strategy: str
    affinity: Any
    annotations: Any
    labels: Any
    created: str
    extra: Any
    position: int


@dataclass
class Queue:
    """One queue of a planned state, with the fields of Volcano's Queue. None or empty means not set."""

    name: str
    imported_name: str = ""
    """Its name in the snapshot; empty: added in the scenario."""
    parent: str = ""
    weight: int | None = None
    priority: int | None = None
    reclaimable: bool | None = None
    state: str = ""
    guarantee: dict[str, Any] = dataclass_field(default_factory=dict)
    deserved: dict[str, Any] = dataclass_field(default_factory=dict)
    capability: dict[str, Any] = dataclass_field(default_factory=dict)
    dequeue_strategy: str = ""
    affinity: dict[str, Any] = dataclass_field(default_factory=dict)
    annotations: dict[str, Any] = dataclass_field(default_factory=dict)
    labels: dict[str, Any] = dataclass_field(default_factory=dict)
    created: str = ""
    """metadata.creationTimestamp."""
    extra: dict[str, Any] = dataclass_field(default_factory=dict)
    """The rest of the object, so that nothing is lost."""
    position: int = 0
    """Its position in the imported list."""
    id: UUID | None = dataclass_field(default=None, compare=False)
    """Its database row, None while it has none."""


QUEUE_FIELDS = tuple(one.name for one in fields(Queue) if one.name != "id")


def count_or_text(text: str) -> int | str:
    """Return the whole number that a text writes in up to 18 digits, else the text, for validation to refuse.

    >>> [count_or_text(text) for text in ("4", "-4", "--4", "four")]
    [4, -4, '--4', 'four']
    """
    return int(text) if re.fullmatch(r"-?[0-9]{1,18}", text) else text


def planned_queue(row: QueueFields, id: UUID | None = None) -> Queue:
    """Return a queue with the same fields, to edit without its row."""
    return Queue(**{name: getattr(row, name) for name in QUEUE_FIELDS}, id=id)


@dataclass(frozen=True)
class SpecField:
    """A field of a Queue's spec with a column of its own.

    `read` converts a value of the spec to that of the column, None if it is not set; `longest` is the maximum
    length of a text, None for other values.
    """

    name: str
    column: str
    read: Callable[[Any], Any]
    longest: int | None = None

    def shown(self, row: QueueFields) -> Any:
        """Return the value in an edited spec; an empty text means not set."""
        value = getattr(row, self.column)
        return value or None if self.longest else value


def _as_texts(quantities: Mapping[str, Any] | None) -> dict[str, str]:
    """Return quantities as texts; numbers in YAML and JSON are legal quantities, too."""
    return {resource: str(quantity) for resource, quantity in (quantities or {}).items()}


def _text(value: Any) -> Any:
    return value or ""


def _plain(value: Any) -> Any:
    return value


def _mapping(value: Any) -> Any:
    return value or {}


SPEC_FIELDS = (
    SpecField("parent", "parent", _text, longest=253),
    SpecField("weight", "weight", _plain),
    SpecField("priority", "priority", _plain),
    SpecField("reclaimable", "reclaimable", _plain),
    SpecField("deserved", "deserved", _as_texts),
    SpecField("capability", "capability", _as_texts),
    SpecField("dequeueStrategy", "dequeue_strategy", _text, longest=30),
    SpecField("affinity", "affinity", _mapping),
)
"""All but guarantee, whose amounts are one level deeper."""

UNREAD_FIELDS = ("type", "extendClusters")
"""Fields of a Queue's spec that the scheduler does not read; they have no columns."""


def queue_row(manifest: Mapping[str, Any]) -> Queue:
    """Return the fields of a Queue object; fields without a column go to `extra`."""
    rest = copy.deepcopy(dict(manifest))
    metadata: Json = rest.get("metadata") or {}
    spec: Json = rest.get("spec") or {}
    status: Json = rest.get("status") or {}
    row = Queue(
        name=metadata.pop("name"),
        labels=metadata.pop("labels", None) or {},
        annotations=metadata.pop("annotations", None) or {},
        created=metadata.pop("creationTimestamp", None) or "",
        guarantee=_as_texts((spec.pop("guarantee", None) or {}).get("resource")),
        state=status.pop("state", None) or "",
        **{field.column: field.read(spec.pop(field.name, None)) for field in SPEC_FIELDS},
    )
    parts = {"metadata": metadata, "spec": spec, "status": status}
    row.extra = {**rest, **parts}
    return row


def queues_of(manifests: Iterable[Mapping[str, Any]]) -> list[Queue]:
    """Return the first queues of a scenario on a snapshot with these Queue objects.

    Of two objects of one name the last one counts.
    """
    rows: dict[str, Queue] = {}
    for position, manifest in enumerate(manifests):
        row = queue_row(manifest)
        row.position, row.imported_name = position, row.name
        rows[row.name] = row
    return list(rows.values())


def added_again(row: Queue, imported: Iterable[Queue], present: Iterable[QueueFields]) -> Queue:
    """Return a new queue as the removed one of its name in the snapshot, if there is one, with its spec.

    The cluster knows names only: there the queue stays, with its creation time and its place in the list.
    """
    kept = {other.imported_name for other in present}
    for removed in imported:
        if removed.name == row.name and row.name not in kept:
            apply_spec(removed, queue_spec(row))
            return removed
    return row


def duplicate_row(row: QueueFields) -> Queue:
    """Return a queue with the same spec, without status and cluster metadata."""
    manifest = queue_manifest(row)
    named = {"name": row.name, **_set_only({"labels": row.labels, "annotations": row.annotations})}
    return queue_row({**manifest, "metadata": named, "status": _set_only({"state": row.state})})


def queue_manifest(row: QueueFields) -> Json:
    """Return the Queue object of a row, with the field names of its CRD; unset fields are left out."""
    manifest: Json = copy.deepcopy(row.extra)
    manifest["metadata"] = {
        "name": row.name,
        **manifest.get("metadata", {}),
        **_set_only({"labels": row.labels, "annotations": row.annotations, "creationTimestamp": row.created}),
    }
    columns = {field.name: getattr(row, field.column) for field in SPEC_FIELDS}
    if row.guarantee:
        columns["guarantee"] = {"resource": row.guarantee}
    manifest["spec"] = {**manifest.get("spec", {}), **_set_only(columns)}
    manifest["status"] = {**manifest.get("status", {}), **_set_only({"state": row.state})}
    return manifest


def queue_spec(row: QueueFields) -> Json:
    """Return the editable fields of a queue, named as in its CRD; unset ones are null."""
    return {
        "name": row.name,
        **{field.name: field.shown(row) for field in SPEC_FIELDS},
        "state": row.state or None,
        "guarantee": {"resource": row.guarantee},
        **{name: (row.extra.get("spec") or {}).get(name) for name in UNREAD_FIELDS},
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
    for field in SPEC_FIELDS:
        setattr(row, field.column, field.read(spec.get(field.name)))
    row.state = spec.get("state") or ""
    row.guarantee = _as_texts((spec.get("guarantee") or {}).get("resource"))
    rest = {name: value for name, value in (row.extra.get("spec") or {}).items() if name not in UNREAD_FIELDS}
    unread = {name: spec[name] for name in UNREAD_FIELDS if spec.get(name) is not None}
    row.extra = {**row.extra, "spec": {**rest, **unread}}
    row.annotations = spec.get("annotations") or {}
    row.labels = spec.get("labels") or {}


def _set_only(fields: Mapping[str, Any]) -> Json:
    return {field: value for field, value in fields.items() if value not in (None, "", {})}
