"""Rebase of queues: names, fields and places in the tree."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from planning.contents import following
from planning.merge import Clash, merged
from planning.queues import Queue, apply_spec, duplicate_row, queue_spec
from planning.rebase.conflicts import (
    BOTH_CHANGED,
    CIRCLE,
    NAME_TAKEN,
    REMOVED_HERE,
    REMOVED_THERE,
    Conflict,
    ConflictResolver,
    Side,
    changed_fields,
)
from planning.rows import Problem
from planning.states import QUEUES, State, kept_queue, queue_of

Identity = tuple[bool, str]
"""The identity of a queue under any name: whether a snapshot has it, and its name there, else its own."""


@dataclass
class PlacedQueue:
    """A queue of the result, and its parent; `other` is its parent in the newer snapshot.

    An own queue hangs below nothing there: its `other` is its own parent.
    """

    key: str
    row: Queue
    parent: Identity | None
    other: Identity | None


class QueueRebase:
    """Matches the queues of three sides by identity, merges their fields and builds one tree."""

    def __init__(self, base: Side, present: State, newer: Side, resolver: ConflictResolver) -> None:
        self._base, self._newer = base.rows, newer.rows
        self._present = {_identity(row): row for row in present.ordered_queues()}
        self._named = {row.name: who for who, row in self._present.items()}
        self._resolver = resolver
        self._alias: dict[Identity, Identity] = {}
        self._pairs: dict[str, Queue] = {}
        self._taken: dict[str, Queue] = {}
        self._final: dict[Identity, str] = {}
        self._own_objects = [
            (kind, manifest) for (kind, _), manifest in present.objects.items() if manifest is not None
        ]
        self._shift = max(0, len(self._newer) - len(self._base))
        self._pair()
        self._keep_names()

    def rows(self) -> tuple[list[Queue], list[Problem]]:
        """Return the queues of the result, and why they are no tree."""
        placed = {**dict(self._theirs()), **dict(self._only_ours())}
        self._final = {who: one.row.name for who, one in placed.items()}
        self._hang(placed)
        while circling := [one for one in _circling(placed.values()) if self._turned(one)]:
            for one in circling:
                one.parent = one.other
            self._hang(placed)
        return [one.row for one in placed.values()], list(_problems(placed.values()))

    def new_names(self) -> dict[str, str]:
        """Return the new names of queues that had another name in the scenario."""
        names = {row.name: self._final.get(self._alias.get(who, who)) for who, row in self._present.items()}
        return {name: final for name, final in names.items() if final and final != name}

    # matching of queues

    def _pair(self) -> None:
        """Find the queue of the newer snapshot that matches each of ours: by its name there, or by ours.

        Under our name it is ours when somebody has made it since: what was planned here was done there.
        """
        for who, row in self._present.items():
            made_since = row.name in self._newer and row.name not in self._base
            if row.imported_name in self._newer:
                self._pairs[row.imported_name] = row
                if made_since:
                    self._taken[row.name] = row
            elif made_since:
                self._pairs[row.name] = row
                self._alias[who] = (True, row.name)

    def _keep_names(self) -> None:
        """Decide who gets a name that was given here and, to another queue, there."""
        for name, row in self._taken.items():
            old = row.imported_name
            if self._resolver.ours(Conflict(NAME_TAKEN, QUEUES, old, "name", old, name, old)):
                self._alias[True, name] = _identity(row)

    def _canonical(self, who: Identity | None) -> Identity | None:
        return self._alias.get(who, who) if who else None

    def _of_snapshot(self, parent: str) -> Identity | None:
        return self._canonical((True, parent)) if parent else None

    def _of_present(self, parent: str) -> Identity | None:
        return self._canonical(self._named.get(parent, (True, parent))) if parent else None

    # queues of the newer snapshot

    def _theirs(self) -> Iterator[tuple[Identity, PlacedQueue]]:
        for name, row in self._newer.items():
            if name in self._taken and (True, name) in self._alias:
                continue
            is_removed = name in self._base and (True, name) not in self._present
            if is_removed and self._stays_removed(name, row):
                continue
            if name in self._pairs:
                yield (True, name), self._both(name, self._pairs[name], row)
                continue
            parent = self._of_snapshot(row.parent)
            yield (True, name), PlacedQueue(name, row, parent, parent)

    def _stays_removed(self, name: str, row: Queue) -> bool:
        changed = dict(changed_fields(queue_spec(self._base[name]), queue_spec(row)))
        below = [
            child.name
            for child in self._newer.values()
            if child.parent == name and not self._is_ours_elsewhere(child)
        ]
        if below:
            changed["children"] = below
        if not changed:
            return True
        return self._resolver.ours(Conflict(REMOVED_HERE, QUEUES, name, "", None, None, changed))

    def _is_ours_elsewhere(self, child: Queue) -> bool:
        """Return whether a queue of the newer snapshot is removed here, or was moved by the scenario."""
        if child.name in self._base and (True, child.name) not in self._present:
            return True
        pair = self._pairs.get(child.name)
        return pair is not None and self._moved(pair)

    def _moved(self, row: Queue) -> bool:
        """Return whether the scenario moved a queue of its snapshot."""
        base = self._base.get(row.imported_name)
        return base is not None and self._of_present(row.parent) != self._of_snapshot(base.parent)

    def _both(self, name: str, ours: Queue, row: Queue) -> PlacedQueue:
        """Merge a queue of both sides into the newer snapshot's row."""
        base = self._base.get(ours.imported_name)
        key = ours.imported_name or ours.name
        before = {} if base is None else _fields(base)
        theirs = self._of_snapshot(row.parent)
        parent = self._parent(key, base, ours, row)
        spec = merged(before, _fields(ours), _fields(row), self._chooser(key))
        apply_spec(row, spec)
        if ours.imported_name == name and (ours.name not in self._taken or (True, ours.name) in self._alias):
            row.name = ours.name
        return PlacedQueue(key, row, parent, theirs)

    def _parent(self, key: str, base: Queue | None, ours: Queue, row: Queue) -> Identity | None:
        before = self._of_snapshot(base.parent) if base else None
        mine, theirs = self._of_present(ours.parent), self._of_snapshot(row.parent)
        if mine == before:
            return theirs
        if theirs in (before, mine):
            return mine
        conflict = Conflict(
            BOTH_CHANGED, QUEUES, key, "parent", (base and base.parent) or None, ours.parent or None,
            row.parent or None,
        )  # fmt: skip
        return mine if self._resolver.ours(conflict) else theirs

    def _chooser(self, key: str) -> Callable[[Clash], Any]:
        def choose(clash: Clash) -> Any:
            conflict = Conflict(BOTH_CHANGED, QUEUES, key, clash.path, clash.base, clash.ours, clash.theirs)
            return clash.ours if self._resolver.ours(conflict) else clash.theirs

        return choose

    # queues that the newer snapshot does not have

    def _only_ours(self) -> Iterator[tuple[Identity, PlacedQueue]]:
        for who, row in self._present.items():
            if self._pairs.get(row.imported_name) is row or self._pairs.get(row.name) is row:
                continue
            base = self._base.get(row.imported_name)
            if base is None:
                copy = queue_of(kept_queue(row))
            elif self._is_kept(base, row):
                copy = duplicate_row(row)
            else:
                continue
            copy.position = row.position + self._shift
            parent = self._of_present(row.parent)
            yield who, PlacedQueue(row.imported_name or row.name, copy, parent, parent)

    def _is_kept(self, base: Queue, row: Queue) -> bool:
        """Return whether a queue that was removed there is kept: only if something of ours depends on it."""
        who = _identity(row)
        changed = dict(changed_fields(_fields(base), _fields(row)))
        if row.name != base.name:
            changed["name"] = row.name
        if self._moved(row):
            changed["parent"] = row.parent or None
        below = [
            child.name
            for child in self._present.values()
            if self._of_present(child.parent) == who and (not child.imported_name or self._moved(child))
        ]
        if below:
            changed["children"] = below
        if count := sum(
            following(kind, manifest, {row.name: ""}) is not manifest for kind, manifest in self._own_objects
        ):
            changed["objects"] = count
        if not changed:
            return False
        return self._resolver.ours(
            Conflict(REMOVED_THERE, QUEUES, row.imported_name, "", None, changed, None)
        )

    # the tree

    def _hang(self, placed: Mapping[Identity, PlacedQueue]) -> None:
        for one in placed.values():
            one.row.parent = self._parent_name(one.parent)

    def _parent_name(self, who: Identity | None) -> str:
        """Return the name of a parent, or of its nearest remaining ancestor."""
        passed: set[Identity] = set()
        while who is not None and who not in self._final and who not in passed:
            passed.add(who)
            if who in self._present:
                who = self._of_present(self._present[who].parent)
            elif who[1] in self._base:
                who = self._of_snapshot(self._base[who[1]].parent)
            else:
                return who[1]
        return self._final.get(who, "") if who else ""

    def _turned(self, one: PlacedQueue) -> bool:
        """Return whether a queue in a cycle is moved to its place in the newer snapshot."""
        if one.parent == one.other:
            return False
        names = (self._parent_name(one.parent), self._parent_name(one.other))
        return not self._resolver.ours(Conflict(CIRCLE, QUEUES, one.key, "parent", None, *names))


def _identity(row: Queue) -> Identity:
    return bool(row.imported_name), row.imported_name or row.name


def _fields(row: Queue) -> dict[str, Any]:
    """Return the fields of a queue that are merged one by one: all but its name and its position."""
    return {name: value for name, value in queue_spec(row).items() if name not in ("name", "parent")}


def _circling(placed: Iterable[PlacedQueue]) -> list[PlacedQueue]:
    """Return the queues in cycles; a parent of root is not read."""
    by_name = {one.row.name: one for one in placed if one.row.name != "root"}
    circling: list[PlacedQueue] = []
    for one in by_name.values():
        passed, name = set(), one.row.parent
        while name in by_name and name not in passed and name != one.row.name:
            passed.add(name)
            name = by_name[name].row.parent
        if name == one.row.name:
            circling.append(one)
    return circling


def _problems(placed: Collection[PlacedQueue]) -> Iterator[Problem]:
    names: set[str] = set()
    for one in placed:
        name = one.row.name
        if name in names:
            message, fix = (
                f"Two queues would have the name {name!r}.",
                "Choose the other side for one of them.",
            )
            yield Problem("name.taken", "error", message, f"queues.{name}.name", name, "name", name, fix=fix)
        names.add(name)
    for one in _circling(placed):
        message = f"{one.row.name!r} would become its own ancestor through {one.row.parent!r}."
        fix = "Choose the newer snapshot's parent for one of the queues in this cycle."
        where = f"queues.{one.row.name}.parent"
        yield Problem("queue.cycle", "error", message, where, one.row.name, "parent", one.row.parent, fix=fix)
