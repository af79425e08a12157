"""States of a scenario at a revision, and edits of them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from planning.queues import Queue, QueueFields, apply_spec, queue_manifest, queue_row, queue_spec

Json = dict[str, Any]
ObjectKey = tuple[str, str]
"""The list of the scenario document, and the object's name with its namespace."""

QUEUES, CONF, RELEASE = "queues", "conf", "release"
CLUSTER_KINDS = ("nodes", "priorityclasses", "namespaces")
"""Lists whose objects have no namespace."""
KINDS = (*CLUSTER_KINDS, "jobs", "podgroups", "pods", "resourcequotas", "poddisruptionbudgets")
"""Lists of the scenario document that a scenario can change, besides queues."""


class Difference(Protocol):
    """One object or field, before and after: a stored change, or one to make."""

    @property
    def kind(self) -> str: ...  # noqa: D102
    @property
    def key(self) -> str: ...  # noqa: D102
    @property
    def field(self) -> str: ...  # noqa: D102
    @property
    def before(self) -> Any: ...  # noqa: D102
    @property
    def after(self) -> Any: ...  # noqa: D102


@dataclass(frozen=True)
class Edit:
    """The effect of an edit on one object of a scenario, or one field; null means absent."""

    kind: str
    key: str = ""
    field: str = ""
    before: Any = None
    after: Any = None


def inverses(changes: Iterable[Difference]) -> list[Edit]:
    """Return the edits that undo the changes of one revision, in order.

    Edits use a queue's name before their revision. The inverse edits of a renamed queue therefore use its new
    name.
    """
    together = list(changes)
    later = {change.key: change.after for change in together if _renames(change)}
    return [
        Edit(
            change.kind,
            later.get(change.key, change.key) if change.kind == QUEUES else change.key,
            change.field,
            before=change.after,
            after=change.before,
        )
        for change in together
    ]


def touched_objects(changes: Iterable[Difference]) -> list[ObjectKey]:
    """Return the objects other than queues that changes are about."""
    return list(dict.fromkeys((change.kind, change.key) for change in changes if change.kind in KINDS))


def kept_queue(row: QueueFields) -> Json:
    """Return a whole queue for a change: its object, and what is needed to restore it."""
    return {"object": queue_manifest(row), "imported_name": row.imported_name, "position": row.position}


def queue_of(kept: Mapping[str, Any]) -> Queue:
    """Return a stored queue."""
    row = queue_row(kept["object"])
    row.imported_name, row.position = kept["imported_name"], kept["position"]
    return row


def object_key(kind: str, manifest: Mapping[str, Any]) -> str:
    """Return the name of an object in changes: its name, with its namespace if it has one.

    >>> object_key("pods", {"metadata": {"name": "a", "namespace": "ml"}})
    'ml/a'
    """
    metadata = manifest["metadata"]
    if kind in CLUSTER_KINDS:
        return str(metadata["name"])
    return f"{metadata.get('namespace') or 'default'}/{metadata['name']}"


@dataclass
class State:
    """A scenario at one revision: configuration, release, queues, objects unlike the snapshot's."""

    conf_text: str
    queues: dict[str, Queue] = field(default_factory=dict)
    objects: dict[ObjectKey, Json | None] = field(default_factory=dict)
    release: str = ""

    @classmethod
    def of(cls, copied: Mapping[str, Any]) -> "State":
        """Return the state from the data of `as_copy`."""
        return cls(
            conf_text=copied["conf"],
            queues={row.name: row for row in map(queue_of, copied["queues"])},
            objects={(entry["kind"], entry["key"]): entry["manifest"] for entry in copied["objects"]},
            release=copied.get("release", ""),
        )

    def as_copy(self) -> Json:
        """Return the whole state as plain data."""
        return {
            "conf": self.conf_text,
            "release": self.release,
            "queues": [kept_queue(row) for row in self.ordered_queues()],
            "objects": [
                {"kind": kind, "key": key, "manifest": manifest}
                for (kind, key), manifest in sorted(self.objects.items(), key=lambda entry: entry[0])
            ],
        }

    def ordered_queues(self) -> list[Queue]:
        """Return the queues in the order of the frozen input."""
        return sorted(self.queues.values(), key=lambda row: (row.position, row.name))

    def make(self, changes: Iterable[Difference]) -> None:
        """Make the changes of one revision; queues are renamed last."""
        for change in sorted(changes, key=_renames):
            self._make(change)

    def take_back(self, changes: Iterable[Difference]) -> None:
        """Undo the changes of one revision."""
        self.make(inverses(changes))

    def _make(self, change: Difference) -> None:
        if change.kind == CONF:
            self.conf_text = change.after
        elif change.kind == RELEASE:
            self.release = change.after
        elif change.kind != QUEUES:
            self.objects[change.kind, change.key] = change.after
        elif change.field:
            self._set_queue_field(change)
        elif change.after is None:
            del self.queues[change.key]
        else:
            self.queues[change.key] = queue_of(change.after)

    def _set_queue_field(self, change: Difference) -> None:
        row = self.queues.pop(change.key)
        apply_spec(row, {**queue_spec(row), change.field: change.after})
        if change.field == "name":
            row.name = change.after
        self.queues[row.name] = row


def _renames(change: Difference) -> bool:
    return change.kind == QUEUES and change.field == "name"
