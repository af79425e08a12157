"""What does a scenario say once it is carried over to a newer snapshot of its cluster?

Three sides meet: the snapshot that the scenario began on, what the scenario says ("ours"), the newer snapshot
("theirs"). What only one side changed is taken over; where both did, each conflict is decided by itself.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import Any

from planning.contents import Content, Objects
from planning.differences import field_changes
from planning.frozen import following, renamed_queues
from planning.merge import Clash, merged
from planning.queues import Queue, apply_spec, duplicate_row, queue_row, queue_spec
from planning.rows import Problem
from planning.states import CONF, KINDS, QUEUES, ObjectKey, State, kept_queue, queue_of
from scheduler_core.model.pod_info import GROUP_NAME

OURS, THEIRS = "ours", "theirs"
SIDES = (OURS, THEIRS)

BOTH_CHANGED, REMOVED_HERE, REMOVED_THERE = "both_changed", "removed_here", "removed_there"
NAME_TAKEN, CIRCLE = "name_taken", "circle"
WHATS = (BOTH_CHANGED, REMOVED_HERE, REMOVED_THERE, NAME_TAKEN, CIRCLE)

ConflictId = tuple[str, str, str]
"""Kind, key and field; a queue is named as in the older snapshot, one that the scenario added by its name."""
Choices = Mapping[ConflictId, str]
Identity = tuple[bool, str]
"""What a queue stays under any name: whether a snapshot holds it, and its name there, else its own."""

_CLUSTER_MADE = tuple(
    f"metadata.{name}"
    for name in ("uid", "resourceVersion", "generation", "managedFields", "selfLink", "creationTimestamp")
)


@dataclass(frozen=True)
class Side:
    """A snapshot: its objects and its scheduler configuration."""

    content: Content
    conf_text: str

    @property
    def rows(self) -> dict[str, Queue]:
        """Return its queues, fresh each time."""
        rows: dict[str, Queue] = {}
        for position, manifest in enumerate(self.content.queues):
            row = queue_row(manifest)
            row.position, row.imported_name = position, row.name
            rows[row.name] = row
        return rows


@dataclass
class Conflict:
    """Something that both sides changed and nobody but a person can decide.

    `base`, `ours` and `theirs` are the values of a field; of a whole queue or object, what each side changed
    in it, by path, None where it removed it. `also` names further objects that the same choice decides.
    `take` is the side chosen, empty while nobody chose.
    """

    what: str
    kind: str
    key: str
    field: str
    base: Any
    ours: Any
    theirs: Any
    take: str = ""
    also: list[str] = dataclass_field(default_factory=list)

    @property
    def id(self) -> ConflictId:
        """Return what a choice names."""
        return self.kind, self.key, self.field


@dataclass(frozen=True)
class Rebased:
    """A scenario on the newer snapshot; what is undecided stands there as ours.

    `problems` say why these choices do not fit together: two queues of one name, queues in a circle.
    """

    state: State
    conflicts: Sequence[Conflict]
    problems: Sequence[Problem]


def rebased(base: Side, present: State, newer: Side, choices: Choices) -> Rebased:
    """Return a scenario, begun on `base` and now saying `present`, on the `newer` snapshot."""
    judge = _Judge(choices)
    queues = _Queues(base, present, newer, judge)
    rows, problems = queues.rows()
    conf_text = _conf(base.conf_text, present.conf_text, newer.conf_text, judge)
    state = State(conf_text, {row.name: row for row in rows}, release=present.release)
    state.objects = _Objects(base, present, newer, queues, judge).laid_over(state)
    newer.content.settle(state)
    return Rebased(state, judge.told(), problems)


class _Judge:
    """Knows the choices, and remembers what there was to choose."""

    def __init__(self, choices: Choices) -> None:
        self._choices = choices
        self._groups: dict[Any, Conflict] = {}
        self._conflicts: dict[ConflictId, Conflict] = {}

    def told(self) -> list[Conflict]:
        """Return what there was to choose: queue by queue, the configuration, object by object."""
        order = (QUEUES, CONF, *KINDS)
        return sorted(
            self._conflicts.values(), key=lambda found: (order.index(found.kind), found.key, found.field)
        )

    def ours(self, conflict: Conflict, group: Any = None, member: str = "") -> bool:
        """Return whether ours is taken; conflicts of one group are decided by the first of them."""
        first = self._groups.setdefault(group or conflict.id, conflict)
        if first is conflict:
            conflict.take = self._choices.get(conflict.id, "")
            self._conflicts[conflict.id] = conflict
        if member:
            first.also.append(member)
        return first.take != THEIRS


def _conf(base: str, ours: str, theirs: str, judge: _Judge) -> str:
    if ours in (base, theirs):
        return theirs
    if theirs == base:
        return ours
    return ours if judge.ours(Conflict(BOTH_CHANGED, CONF, "", "", base, ours, theirs)) else theirs


@dataclass
class _Placed:
    """A queue of the outcome, and what it hangs below; `other` is what it hangs below in the newer snapshot.

    An own queue hangs below nothing there: its `other` is its own parent.
    """

    key: str
    row: Queue
    parent: Identity | None
    other: Identity | None


class _Queues:
    def __init__(self, base: Side, present: State, newer: Side, judge: _Judge) -> None:
        self._base, self._newer = base.rows, newer.rows
        self._present = {_identity(row): row for row in present.ordered_queues()}
        self._named = {row.name: who for who, row in self._present.items()}
        self._judge = judge
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
        """Return the queues of the outcome, and why they are no tree."""
        placed = {**dict(self._theirs()), **dict(self._only_ours())}
        self._final = {who: one.row.name for who, one in placed.items()}
        self._hang(placed)
        while circling := [one for one in _circling(placed.values()) if self._turned(one)]:
            for one in circling:
                one.parent = one.other
            self._hang(placed)
        return [one.row for one in placed.values()], list(_problems(placed.values()))

    def new_names(self) -> dict[str, str]:
        """Return what queues are called since that had another name in the scenario."""
        names = {row.name: self._final.get(self._alias.get(who, who)) for who, row in self._present.items()}
        return {name: final for name, final in names.items() if final and final != name}

    # who is who

    def _pair(self) -> None:
        """Find the queue of the newer snapshot that each of ours is: by its name there, or by ours.

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
        """Decide who has a name that was given here and, to another queue, there."""
        for name, row in self._taken.items():
            old = row.imported_name
            if self._judge.ours(Conflict(NAME_TAKEN, QUEUES, old, "name", old, name, old)):
                self._alias[True, name] = _identity(row)

    def _canonical(self, who: Identity | None) -> Identity | None:
        return self._alias.get(who, who) if who else None

    def _of_snapshot(self, parent: str) -> Identity | None:
        return self._canonical((True, parent)) if parent else None

    def _of_present(self, parent: str) -> Identity | None:
        return self._canonical(self._named.get(parent, (True, parent))) if parent else None

    # queues of the newer snapshot

    def _theirs(self) -> Iterator[tuple[Identity, _Placed]]:
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
            yield (True, name), _Placed(name, row, parent, parent)

    def _stays_removed(self, name: str, row: Queue) -> bool:
        changed = dict(_changed_fields(queue_spec(self._base[name]), queue_spec(row)))
        below = [
            child.name
            for child in self._newer.values()
            if child.parent == name and not self._is_ours_elsewhere(child)
        ]
        if below:
            changed["children"] = below
        if not changed:
            return True
        return self._judge.ours(Conflict(REMOVED_HERE, QUEUES, name, "", None, None, changed))

    def _is_ours_elsewhere(self, child: Queue) -> bool:
        """Tell whether a queue of the newer snapshot is removed here, or hangs elsewhere by our doing."""
        if child.name in self._base and (True, child.name) not in self._present:
            return True
        pair = self._pairs.get(child.name)
        return pair is not None and self._moved(pair)

    def _moved(self, row: Queue) -> bool:
        """Tell whether the scenario put a queue of its snapshot elsewhere."""
        base = self._base.get(row.imported_name)
        return base is not None and self._of_present(row.parent) != self._of_snapshot(base.parent)

    def _both(self, name: str, ours: Queue, row: Queue) -> _Placed:
        """Merge a queue that is here and there into the newer snapshot's row."""
        base = self._base.get(ours.imported_name)
        key = ours.imported_name or ours.name
        before = {} if base is None else _fields(base)
        theirs = self._of_snapshot(row.parent)
        parent = self._parent(key, base, ours, row)
        spec = merged(before, _fields(ours), _fields(row), self._chooser(key))
        apply_spec(row, spec)
        if ours.imported_name == name and (ours.name not in self._taken or (True, ours.name) in self._alias):
            row.name = ours.name
        return _Placed(key, row, parent, theirs)

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
        return mine if self._judge.ours(conflict) else theirs

    def _chooser(self, key: str) -> Callable[[Clash], Any]:
        def choose(clash: Clash) -> Any:
            conflict = Conflict(BOTH_CHANGED, QUEUES, key, clash.path, clash.base, clash.ours, clash.theirs)
            return clash.ours if self._judge.ours(conflict) else clash.theirs

        return choose

    # queues that the newer snapshot does not have

    def _only_ours(self) -> Iterator[tuple[Identity, _Placed]]:
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
            yield who, _Placed(row.imported_name or row.name, copy, parent, parent)

    def _is_kept(self, base: Queue, row: Queue) -> bool:
        """Tell whether a queue stays that is gone there: only when something of ours hangs on it."""
        who = _identity(row)
        changed = dict(_changed_fields(_fields(base), _fields(row)))
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
        return self._judge.ours(Conflict(REMOVED_THERE, QUEUES, row.imported_name, "", None, changed, None))

    # the tree

    def _hang(self, placed: Mapping[Identity, _Placed]) -> None:
        for one in placed.values():
            one.row.parent = self._parent_name(one.parent)

    def _parent_name(self, who: Identity | None) -> str:
        """Return the name of a parent, or of the next queue above that is still there."""
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

    def _turned(self, one: _Placed) -> bool:
        """Tell whether a queue in a circle goes where the newer snapshot has it."""
        if one.parent == one.other:
            return False
        names = (self._parent_name(one.parent), self._parent_name(one.other))
        return not self._judge.ours(Conflict(CIRCLE, QUEUES, one.key, "parent", None, *names))


class _Objects:
    def __init__(self, base: Side, present: State, newer: Side, queues: _Queues, judge: _Judge) -> None:
        self._base, self._newer = base.content, newer.content
        self._present = present
        self._shown = Objects(base.content, present)
        self._renamed_here = renamed_queues(present.queues.values())
        self._new_names = queues.new_names()
        self._judge = judge

    def laid_over(self, state: State) -> dict[ObjectKey, Any]:
        """Return the changes of ours that lie over the newer snapshot, whose queues `state` has."""
        renamed = renamed_queues(state.queues.values())
        over: dict[ObjectKey, Any] = {}
        for (kind, key), manifest in sorted(self._present.objects.items(), key=lambda entry: entry[0]):
            base = self._renamed(kind, self._base.seen(kind, key, self._renamed_here))
            ours = self._renamed(kind, manifest)
            theirs = self._newer.seen(kind, key, renamed)
            over[kind, key] = self._merged(kind, key, base, ours, theirs)
        return over

    def _renamed(self, kind: str, manifest: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        return None if manifest is None else following(kind, manifest, self._new_names)

    def _merged(self, kind: str, key: str, base: Any, ours: Any, theirs: Any) -> Any:
        if base == theirs or ours == theirs:
            return ours
        if ours is None:
            changed = dict(_changed_fields(_substance(kind, base), _substance(kind, theirs)))
            if not changed or self._whole(REMOVED_HERE, kind, key, None, changed):
                return None
            return theirs
        if theirs is None:
            changed = dict(_changed_fields(base, ours))
            return ours if self._whole(REMOVED_THERE, kind, key, changed, None) else None

        def choose(clash: Clash) -> Any:
            if _is_cluster_made(kind, clash.path):
                return clash.theirs
            sides = (clash.base, clash.ours, clash.theirs)
            conflict = Conflict(BOTH_CHANGED, kind, key, clash.path, *sides)
            group = (self._workload(kind, key), kind, clash.path, repr(sides))
            return clash.ours if self._judge.ours(conflict, group, key) else clash.theirs

        return merged(base or {}, ours, theirs, choose)

    def _whole(self, what: str, kind: str, key: str, ours: Any, theirs: Any) -> bool:
        """Tell whether ours is taken of objects that one side removed: a workload is decided as one."""
        of_kind, of_key = self._workload(kind, key)
        conflict = Conflict(what, of_kind, of_key, "", None, ours, theirs)
        return self._judge.ours(conflict, (what, of_kind, of_key), f"{kind} {key}")

    def _workload(self, kind: str, key: str) -> ObjectKey:
        """Return the workload that an object is part of, itself when it is none's."""
        namespace = key.partition("/")[0]
        if kind == "pods":
            pod = self._shown.get(kind, key) or self._base.seen(kind, key, {}) or {}
            group = (pod.get("metadata", {}).get("annotations") or {}).get(GROUP_NAME)
            if not group:
                return kind, key
            kind, key = "podgroups", f"{namespace}/{group}"
        if kind == "podgroups":
            podgroup = self._shown.get(kind, key) or self._base.seen(kind, key, {}) or {}
            for owner in podgroup.get("metadata", {}).get("ownerReferences") or ():
                if owner.get("kind") == "Job":
                    return "jobs", f"{namespace}/{owner.get('name')}"
        return kind, key


def _identity(row: Queue) -> Identity:
    return bool(row.imported_name), row.imported_name or row.name


def _fields(row: Queue) -> dict[str, Any]:
    """Return the fields of a queue that are merged one by one: all but its name and its place."""
    return {name: value for name, value in queue_spec(row).items() if name not in ("name", "parent")}


def _changed_fields(before: Any, after: Any) -> Iterator[tuple[str, Any]]:
    return ((path, now) for path, _, now in field_changes(before, after))


def _substance(kind: str, manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object without what the cluster writes into it all the time."""
    metadata = {
        name: value
        for name, value in manifest["metadata"].items()
        if not _is_cluster_made(kind, f"metadata.{name}")
    }
    parts = {**manifest, "metadata": metadata}
    if kind == "nodes":
        status = manifest.get("status") or {}
        return {**parts, "status": {name: status.get(name) for name in ("allocatable", "capacity")}}
    return {name: value for name, value in parts.items() if name != "status"}


def _is_cluster_made(kind: str, path: str) -> bool:
    """Tell whether the cluster itself writes a field, so that its own word holds."""
    return path in _CLUSTER_MADE or (kind != "nodes" and path.partition(".")[0] == "status")


def _circling(placed: Iterable[_Placed]) -> list[_Placed]:
    """Return the queues that lie below themselves."""
    by_name = {one.row.name: one for one in placed}
    circling: list[_Placed] = []
    for one in by_name.values():
        passed, name = set(), one.row.parent
        while name in by_name and name not in passed and name != one.row.name:
            passed.add(name)
            name = by_name[name].row.parent
        if name == one.row.name:
            circling.append(one)
    return circling


def _problems(placed: Collection[_Placed]) -> Iterator[Problem]:
    names: set[str] = set()
    for one in placed:
        name = one.row.name
        if name in names:
            says, fix = f"Two queues would have the name {name!r}.", "Choose the other side for one of them."
            yield Problem("name_taken", "error", says, f"queues.{name}.name", name, "name", name, fix=fix)
        names.add(name)
    for one in _circling(placed):
        says = f"{one.row.name!r} would become its own ancestor through {one.row.parent!r}."
        fix = "Choose the newer snapshot's parent for one of the queues in this cycle."
        where = f"queues.{one.row.name}.parent"
        yield Problem("parent_cycle", "error", says, where, one.row.name, "parent", one.row.parent, fix=fix)
