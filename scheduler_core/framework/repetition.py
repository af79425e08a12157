"""Whether the decisions of a session would be repeated by one with the same input."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from scheduler_core.decision import Decision

STEADY = frozenset({"allocate", "backfill", "reclaim"})
"""Actions that repeat their decisions when nothing has changed."""


def moved_nothing(actions: Sequence[str], decisions: Iterable[Decision]) -> bool:
    """Return whether a session has at most enqueued jobs and pipelined tasks without effect.

    Sound for these actions only: others read more than tasks, nodes and amounts of queues, or change tasks
    without a decision.
    """
    if not (actions and actions[0] == "enqueue" and STEADY.issuperset(actions[1:])):
        return False
    return all(
        decision.op in ("enqueue", "enqueue_reject")
        or (decision.op == "pipeline" and decision.state != "committed")
        for decision in decisions
    )
