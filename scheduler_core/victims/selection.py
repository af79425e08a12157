"""Victims: the candidates that plugins accept for eviction, and whether they suffice.

Source: volcano ``pkg/scheduler/framework/session_plugins.go`` (Preemptable, Reclaimable, UnifiedEvictable),
``util/scheduler_helper.go`` (ValidateVictims) at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.observer import DECIDED, DISJOINT, REFUSED, Votes
from scheduler_core.framework.session import Session
from scheduler_core.model.job import TaskInfo
from scheduler_core.model.rows import add_pairs, fits


class Verdict(NamedTuple):
    """The candidates that may be evicted.

    Attributes
    ----------
    victims : list
        In the order of the plugin that named them first.
    tier : int
        The number of the tier that decided, from 1; 0 if none did.
    votes : Votes
        The plugins' votes, recorded by an observer.

    """

    victims: list[TaskInfo]
    tier: int
    votes: Votes


def select_victims(
    session: Session, point: Point, preemptor: TaskInfo, candidates: Sequence[TaskInfo], *context: Any
) -> Verdict:
    """Return the victims of the first tier that names any.

    A plugin that accepts no candidate ends its tier, and the next tier gets all candidates again. An empty
    intersection is replaced by the answer of the next plugin of the same tier.
    """
    votes = session.observer.votes()
    for number, tier in enumerate(session.functions.tiers_of(point), start=1):
        victims: list[TaskInfo] | None = None
        for added in tier:
            why = votes.reasons()
            accepted: list[TaskInfo] | None = added.fn(preemptor, candidates, *context, why)
            votes.answered(number, added.plugin, accepted, why)
            if accepted is None:
                continue
            if not accepted:
                victims = None
                votes.close(REFUSED)
                break
            if victims is None:
                victims = accepted
            else:
                named = {task.uid for task in accepted}
                victims = [task for task in victims if task.uid in named] or None
                if victims is None:
                    votes.close(DISJOINT)
        if victims is not None:
            votes.close(DECIDED, victims)
            return Verdict(victims, number, votes)
    return Verdict([], 0, votes)


class NodeVerdict(NamedTuple):
    """The candidates on one node, and those that may be evicted."""

    candidates: Sequence[TaskInfo]
    verdict: Verdict


def victims_suffice(session: Session, preemptor: TaskInfo, node: int, victims: Sequence[TaskInfo]) -> bool:
    """Return whether evicting all the victims would make room for the preemptor on the node."""
    available = list(session.nodes.future_of[node])
    for victim in victims:
        add_pairs(available, victim.shape.amounts, 1.0)
    return fits(preemptor, available)
