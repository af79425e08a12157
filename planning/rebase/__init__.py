"""Rebase: a three-way merge of a scenario onto a newer snapshot of its cluster.

Three sides meet: the snapshot that the scenario began on, what the scenario says ("ours"), the newer snapshot
("theirs"). What only one side changed is taken over; where both did, each conflict is decided by itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from planning.rebase.conflicts import BOTH_CHANGED, Choices, Conflict, ConflictResolver, Side
from planning.rebase.objects import ObjectRebase
from planning.rebase.queues import QueueRebase
from planning.rows import Problem
from planning.states import CONF, State

__all__ = ["Rebased", "rebased"]


@dataclass(frozen=True)
class Rebased:
    """A scenario on the newer snapshot; what is undecided stands there as ours.

    `problems` say why these choices do not fit together: two queues of one name, queues in a circle.
    """

    state: State
    conflicts: Sequence[Conflict]
    problems: Sequence[Problem]


def rebased(base: Side, present: State, newer: Side, choices: Choices) -> Rebased:
    """Return the scenario that began on `base` and is now `present`, rebased onto the `newer` snapshot."""
    resolver = ConflictResolver(choices)
    queues = QueueRebase(base, present, newer, resolver)
    rows, problems = queues.rows()
    conf_text = _conf(base.conf_text, present.conf_text, newer.conf_text, resolver)
    state = State(conf_text, {row.name: row for row in rows}, release=present.release)
    state.objects = ObjectRebase(base, present, newer, queues, resolver).laid_over(state)
    newer.content.settle(state, list(state.objects))
    return Rebased(state, resolver.conflicts(), problems)


def _conf(base: str, ours: str, theirs: str, resolver: ConflictResolver) -> str:
    if ours in (base, theirs):
        return theirs
    if theirs == base:
        return ours
    return ours if resolver.ours(Conflict(BOTH_CHANGED, CONF, "", "", base, ours, theirs)) else theirs
