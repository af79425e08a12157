"""The objects of one list of a scenario, and values that are read from the list alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from scheduler_core.model.pod_info import GROUP_NAME, PodInfo
from scheduler_core.problem import Place
from scheduler_core.validate.fields import is_object
from scheduler_core.validate.kinds import KINDS, NAMESPACED
from scheduler_core.validate.report import Report

Object = Mapping[str, Any]

DEFAULT = "default"


class Listed:
    """The objects of one list that have valid names, with their positions.

    Values that are read from the list alone are cached with it, because an edit leaves most lists unchanged.

    Attributes
    ----------
    all : list
        All objects of the list, including those without a valid name.

    Parameters
    ----------
    things : list
        All objects of the list.
    nameless : frozenset of int
        The positions of objects without a valid name.

    """

    def __init__(self, name: str, place: Place, things: list[Any], nameless: frozenset[int]) -> None:
        self.name = name
        self.place = place
        self.all = things
        self._nameless = nameless

    def __iter__(self) -> Iterator[tuple[Place, Object]]:
        return (
            ((self.place, index), thing)
            for index, thing in enumerate(self.all)
            if index not in self._nameless
        )

    def __bool__(self) -> bool:
        return bool(self.things)

    @cached_property
    def things(self) -> list[Object]:
        """Return the objects."""
        if not self._nameless:
            return self.all
        return [thing for index, thing in enumerate(self.all) if index not in self._nameless]

    @cached_property
    def keys(self) -> list[Any]:
        """Return the objects' identities: (namespace, name), or the name alone."""
        if self.name not in NAMESPACED:
            return self.names
        return [((m := thing["metadata"]).get("namespace") or DEFAULT, m["name"]) for thing in self.things]

    @cached_property
    def names(self) -> list[str]:
        """Return the objects' names."""
        return [thing["metadata"]["name"] for thing in self.things]

    @cached_property
    def nodes_named(self) -> frozenset[str | None] | None:
        """Return the node of each pod in the list; None if it is not a name."""
        named = [spec_of(pod).get("nodeName") for pod in self.things]
        return frozenset(named) if all(node is None or isinstance(node, str) for node in named) else None

    @cached_property
    def groups_named(self) -> list[tuple[str, str]]:
        """Return the PodGroup that each pod in the list names in its namespace; empty if none."""
        return [(pod["metadata"].get("namespace") or DEFAULT, group_of(pod)) for pod in self.things]

    @cached_property
    def distinct_groups_named(self) -> frozenset[tuple[str, str]]:
        """Return the same without duplicates and without empty names."""
        return frozenset(named for named in self.groups_named if named[1])

    @cached_property
    def queues_named(self) -> frozenset[str]:
        """Return the queue of each PodGroup in the list; `default` if it names none."""
        named = (spec_of(group).get("queue") or DEFAULT for group in self.things)
        return frozenset(queue for queue in named if isinstance(queue, str))

    @cached_property
    def classes_named(self) -> frozenset[str]:
        """Return the priority class of each PodGroup in the list."""
        named = (spec_of(group).get("priorityClassName") for group in self.things)
        return frozenset(name for name in named if isinstance(name, str) and name)

    @cached_property
    def has_twice(self) -> bool:
        """Return whether two objects have the same identity."""
        return len(set(self.names)) < len(self.things) and len(set(self.keys)) < len(self.things)

    @cached_property
    def has_uid_twice(self) -> bool:
        """Return whether two objects have the same uid."""
        uids = [uid for thing in self.things if isinstance(uid := thing["metadata"].get("uid"), str) and uid]
        return len(set(uids)) < len(uids)

    def set_subject(self, place: Place, thing: Object, report: Report) -> None:
        """Set the object that the next problems concern."""
        metadata = thing["metadata"]
        space = f"{metadata.get('namespace') or DEFAULT}/" if self.name in NAMESPACED else ""
        queue = metadata["name"] if self.name == "queues" else ""
        report.set_subject(f"{KINDS[self.name][0]} {space}{metadata['name']}", place, queue)


class ListedPods(Listed):
    """A list of pods, all of which were read.

    Parameters
    ----------
    infos : list of PodInfo
        The pods as read.

    """

    def __init__(self, name: str, place: Place, things: list[Any], infos: list[PodInfo]) -> None:
        super().__init__(name, place, things, frozenset())
        self._infos = infos

    @cached_property
    def has_twice(self) -> bool:
        """Return whether two pods have the same identity."""
        return len({info.key for info in self._infos}) < len(self._infos)

    @cached_property
    def has_uid_twice(self) -> bool:
        """Return whether two pods have the same uid, given or derived from their names."""
        return len({info.uid for info in self._infos}) < len(self._infos)


def spec_of(thing: Object) -> Object:
    """Return an object's spec, empty if absent."""
    return thing.get("spec") or {}


def group_of(pod: Object) -> str:
    """Return the PodGroup that a pod names, empty if none."""
    annotations = pod["metadata"].get("annotations")
    group = annotations.get(GROUP_NAME) if is_object(annotations) else None
    return group if isinstance(group, str) else ""
