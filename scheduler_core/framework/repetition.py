"""Checks whether the next session with the same input would repeat the decisions of a session."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from scheduler_core.decision import Decision

STEADY = frozenset({"allocate", "backfill", "reclaim"})
"""Actions that repeat their decisions if nothing has changed."""


def moved_nothing(actions: Sequence[str], decisions: Iterable[Decision]) -> bool:
    """Return whether a session only enqueued jobs and pipelined tasks without effect.

    Sound for enqueue and the `STEADY` actions only: others read more than tasks, nodes and amounts of queues,
    or change tasks without a decision.
    """
    if not (actions and actions[0] == "enqueue" and STEADY.issuperset(actions[1:])):
        return False
    return all(
        decision.op in ("enqueue", "enqueue_reject")
        or (decision.op == "pipeline" and decision.state != "committed")
        for decision in decisions
    )
