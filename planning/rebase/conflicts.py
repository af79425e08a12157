"""Conflicts between the sides of a rebase, and their choices."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import Any

from planning.contents import Content
from planning.differences import field_changes
from planning.queues import Queue, queues_of
from planning.states import CONF, KINDS, QUEUES

OURS, THEIRS = "ours", "theirs"
SIDES = (OURS, THEIRS)

BOTH_CHANGED, REMOVED_HERE, REMOVED_THERE = "both_changed", "removed_here", "removed_there"
NAME_TAKEN, CIRCLE = "name_taken", "circle"
WHATS = (BOTH_CHANGED, REMOVED_HERE, REMOVED_THERE, NAME_TAKEN, CIRCLE)

ConflictId = tuple[str, str, str]
"""Kind, key and field; a queue is named as in the older snapshot, an added one by its own name."""
Choices = Mapping[ConflictId, str]


@dataclass(frozen=True)
class Side:
    """A snapshot: its objects and its scheduler configuration."""

    content: Content
    conf_text: str

    @property
    def rows(self) -> dict[str, Queue]:
        """Return copies of its queues."""
        return {row.name: row for row in queues_of(self.content.queues)}


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
        """Return the key of a choice."""
        return self.kind, self.key, self.field


class ConflictResolver:
    """Holds the choices, and records the conflicts."""

    def __init__(self, choices: Choices) -> None:
        self._choices = choices
        self._groups: dict[Any, Conflict] = {}
        self._conflicts: dict[ConflictId, Conflict] = {}

    def conflicts(self) -> list[Conflict]:
        """Return the conflicts: by queue, the configuration, by object."""
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


def changed_fields(before: Any, after: Any) -> Iterator[tuple[str, Any]]:
    """Yield the changes: path and new value."""
    return ((path, now) for path, _, now in field_changes(before, after))
