"""Which single things could be changed for a waiting job, in which units, and how far?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.explain.levers.configuration import action_levers, switch_levers, tier_levers
from scheduler_core.explain.levers.jobs import gate_levers, member_levers, priority_levers
from scheduler_core.explain.levers.lever import Axis, Lever, Sizes, both
from scheduler_core.explain.levers.nodes import node_levers
from scheduler_core.explain.levers.pods import placement_levers, request_levers
from scheduler_core.explain.levers.queues import amount_levers, queue_levers
from scheduler_core.explain.levers.waiting import Waiting
from scheduler_core.explain.picture import Picture

__all__ = ["Axis", "Lever", "Sizes", "both", "levers"]

_KINDS = (
    gate_levers,
    queue_levers,
    amount_levers,
    placement_levers,
    node_levers,
    member_levers,
    request_levers,
    action_levers,
    priority_levers,
    switch_levers,
    tier_levers,
)
# What to try first for a job that a gate stopped.
_FIRST: Mapping[str, tuple[str, ...]] = {
    "enqueue": (
        "unblock.state",
        "unblock.capability",
        "unblock.deserved",
        "unblock.actions",
        "unblock.request",
    ),
    "overused": ("unblock.weight", "unblock.deserved", "unblock.guarantee"),
    "queue": (
        "unblock.state",
        "unblock.capability",
        "unblock.guarantee",
        "unblock.deserved",
        "unblock.weight",
    ),
    "schedulingGate": ("unblock.gates",),
    "gang": ("unblock.members", "unblock.roles", "unblock.gates"),
    "node": ("unblock.placement", "unblock.nodes", "unblock.request"),
    "reclaim": ("unblock.weight", "unblock.deserved", "unblock.guarantee"),
    "noAction": ("unblock.actions",),
}


def levers(picture: Picture, job: str, about: Mapping[str, Any]) -> list[Lever]:
    """Return what could be changed for a waiting job with this diagnosis, the likeliest first."""
    waiting = Waiting(picture, job, about)
    found = [lever for kind in _KINDS for lever in kind(waiting)]
    first = _FIRST.get(str(about.get("gate") or ""), ())
    return sorted(found, key=lambda lever: first.index(lever.name) if lever.name in first else len(first))
