"""Fast recognition of valid objects, all parts of which were validated before.

A cluster has tens of thousands of pods of few shapes, and as many PodGroups that hardly differ except in
name. Validating each in full would take longer than scheduling all of them.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from scheduler_core.errors import InputError
from scheduler_core.model.pod_columns import PodColumns
from scheduler_core.model.pod_info import PodInfo, PodTable
from scheduler_core.model.run_annotations import are_readable
from scheduler_core.model.timestamps import parse_time

_TEXT_OR_NONE = frozenset({str, type(None)})
_FLAG_OR_NONE = frozenset({bool, type(None)})
_OBJECT_OR_NONE = frozenset({dict, type(None)})
_TEXTS = frozenset({str})
_OBJECTS = frozenset({dict})
_PLAIN = frozenset({"apiVersion", "kind", "metadata", "spec", "status"})
_PARTS = ("spec", "status")
_CLAIMS = frozenset({"volumes", "resourceClaims"})
_OWN = _CLAIMS | {"nodeName"}
_RARE_METADATA = frozenset({"ownerReferences", "deletionTimestamp"})
_STRANGE = (KeyError, TypeError, AttributeError, ValueError, InputError)
_AT_ONCE = 128
"""The number of pods per batch: few enough for the cache, and for checking one by one if any is unknown."""


class Ordinary:
    """Recognises objects whose fields all occurred in valid objects of their kind.

    Sound, as the validity of a field does not depend on other fields.
    """

    def __init__(self) -> None:
        self._times: set[str | None] = {None, ""}
        self._fields: set[tuple[str, str, bytes]] = set()
        self._plain: set[tuple[str, ...]] = set()

    def learn(self, thing: Mapping[str, Any]) -> Any:
        """Remember the parts of a valid object; return what it is recognised as from now on."""
        try:
            self._fields.update(self._fields_of(thing))
        except ValueError:
            return None  # it has a value that JSON cannot represent, so it is validated every time
        return thing

    def recognised(self, thing: Any) -> Any:
        """Return what a valid object is recognised as; None: it must be validated."""
        try:
            known = (
                self._knows_metadata(thing["metadata"])
                and ((*thing,) in self._plain or self._is_plain(thing, _PLAIN))
                and self._fields.issuperset(self._fields_of(thing))
            )
        except _STRANGE:
            return None
        return thing if known else None

    def recognise(self, things: Sequence[Any]) -> Iterator[Any]:
        """Yield what each object is recognised as, also by parts learnt in between."""
        return map(self.recognised, things)

    def _knows_metadata(self, metadata: Any) -> bool:
        """Return whether the metadata are known to be valid."""
        name, get = metadata["name"], metadata.get
        if type(name) is not str or not _is_name(name):
            return False
        if type(get("namespace")) not in _TEXT_OR_NONE or type(get("uid")) not in _TEXT_OR_NONE:
            return False
        annotations, labels = get("annotations"), get("labels")
        if annotations is not None and not (
            _TEXTS.issuperset(map(type, annotations.values())) and are_readable(annotations)
        ):
            return False
        if labels is not None and not _TEXTS.issuperset(map(type, labels.values())):
            return False
        created = get("creationTimestamp")
        if created not in self._times:
            self._learn_time(created)
        return metadata.keys().isdisjoint(_RARE_METADATA) or self._rare_metadata(get)

    def _fields_of(self, thing: Mapping[str, Any]) -> list[tuple[str, str, bytes]]:
        return [
            (part, name, marshal.dumps(value, 2))
            for part in _PARTS
            if (fields := thing.get(part)) is not None
            for name, value in fields.items()
        ]

    def _is_plain(self, thing: Mapping[str, Any], fields: frozenset[str]) -> bool:
        """Return whether an object has only these fields; cached, as thousands of objects have the same."""
        if not thing.keys() <= fields:
            return False
        self._plain.add((*thing,))
        return True

    def _rare_metadata(self, get: Callable[[str], Any]) -> bool:
        for owner in _listed(get("ownerReferences")):
            if (
                type(owner.get("uid")) not in _TEXT_OR_NONE
                or type(owner.get("controller")) not in _FLAG_OR_NONE
            ):
                return False
        deleted = get("deletionTimestamp")
        if deleted not in self._times:
            self._learn_time(deleted)
        return True

    def _learn_time(self, text: Any) -> None:
        parse_time(text)
        self._times.add(text)


class OrdinaryPods(Ordinary):
    """Recognises pods whose template occurred in a valid pod, and reads them in the same pass."""

    def __init__(self) -> None:
        super().__init__()
        self._table = PodTable()

    def learn(self, thing: Mapping[str, Any]) -> PodInfo | None:
        """Remember the template of a valid pod and its fields."""
        try:
            info = self.read(thing)
            self._fields.update(self._fields_of(thing))
        except ValueError:
            return None  # it has a value that JSON cannot represent, so it is validated every time
        info.template.sound = True
        return info

    def read(self, pod: Mapping[str, Any]) -> PodInfo:
        """Read a valid pod."""
        return self._table.read(pod)

    def recognise(self, things: Sequence[Any]) -> Iterator[PodInfo | None]:
        """Yield each pod as read if it is known to be valid; None: it must be validated."""
        for start in range(0, len(things), _AT_ONCE):
            pods = things[start : start + _AT_ONCE]
            for info in self._read_all(pods):
                yield info if info is not None and self._knows_template(info) else None

    def _read_all(self, pods: Sequence[Any]) -> list[PodInfo | None]:
        """Read pods that are valid if their templates are; None for pods that must be validated."""
        try:
            columns = PodColumns(pods)
            self._check(columns)
            return [*self._table.read_all(columns)]
        except _STRANGE:
            return [None] if len(pods) == 1 else [info for pod in pods for info in self._read_all([pod])]

    def _knows_template(self, info: PodInfo) -> bool:
        template = info.template
        if not template.sound:
            try:
                template.sound = self._fields.issuperset(self._fields_of(info.given))
            except _STRANGE:
                return False
        return template.sound

    def _fields_of(self, thing: Mapping[str, Any]) -> list[tuple[str, str, bytes]]:
        """Return the checked parts that pods of one template share."""
        spec, status = thing.get("spec") or {}, thing.get("status") or {}
        fields = [("spec", name, marshal.dumps(value, 2)) for name, value in spec.items() if name not in _OWN]
        return [*fields, ("status", "phase", marshal.dumps(status.get("phase"), 2))]

    def _check(self, columns: PodColumns) -> None:
        """Check the fields that differ from pod to pod.

        Raises
        ------
        TypeError, ValueError, AttributeError, InputError
            Unless they are certainly valid.

        """
        names, annotations, labels = columns.names, columns.annotations, columns.labels
        tables = chain(columns.metadata, columns.specs, columns.statuses, annotations, labels)
        values = chain.from_iterable([table.values() for table in chain(annotations, labels) if table])
        is_typed = (
            _OBJECTS.issuperset(map(type, tables))
            and _TEXTS.issuperset(map(type, chain(names, values)))
            and _TEXT_OR_NONE.issuperset(map(type, chain(columns.namespaces, columns.uids, columns.nodes)))
        )
        are_sound = (
            is_typed and all(map(_is_name, names)) and all(map(are_readable, filter(None, annotations)))
        )
        if not are_sound or not self._knows_rare(columns):
            raise TypeError

    def _knows_rare(self, columns: PodColumns) -> bool:
        """Return whether fields that few pods have are known to be valid."""
        has_owners = not columns.metadata_fields.isdisjoint(_RARE_METADATA)
        has_claims = not columns.spec_fields.isdisjoint(_CLAIMS)
        has_states = columns.status_fields != {"phase"}
        return (
            (not has_owners or all(self._rare_metadata(metadata.get) for metadata in columns.metadata))
            and (not has_claims or all(map(_knows_claims, columns.specs)))
            and (not has_states or all(self._rare_status(status.get) for status in columns.statuses))
        )

    def _rare_status(self, get: Callable[[str], Any]) -> bool:
        times = [get("startTime")]
        if type(get("nominatedNodeName")) not in _TEXT_OR_NONE:
            return False
        for condition in _listed(get("conditions")):
            part = condition.get
            times.append(part("lastTransitionTime"))
            if not _TEXT_OR_NONE.issuperset((type(part("type")), type(part("status")), type(part("reason")))):
                return False
        for container in _listed(get("containerStatuses")):
            part = container.get
            if type(part("ready")) not in _FLAG_OR_NONE or type(part("name")) not in _TEXT_OR_NONE:
                return False
            ended = (state := part("state")) and state.get("terminated")
            if type(state) not in _OBJECT_OR_NONE or type(ended) not in _OBJECT_OR_NONE:
                return False
            times += (ended.get("startedAt"), ended.get("finishedAt")) if ended else ()
        for time in times:
            if time not in self._times:
                self._learn_time(time)
        return True


def _is_name(text: str) -> bool:
    return 0 < len(text) <= 253 and "/" not in text


def _knows_claims(spec: Mapping[str, Any]) -> bool:
    claims = (*_listed(spec.get("volumes")), *_listed(spec.get("resourceClaims")))
    return _OBJECTS.issuperset(map(type, claims))


def _listed(value: Any) -> list[Any]:
    """Return the entries of an optional list.

    Raises
    ------
    TypeError
        If the value is anything else.

    """
    if value is not None and type(value) is not list:
        raise TypeError
    return value or []
