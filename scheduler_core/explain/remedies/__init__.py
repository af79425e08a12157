"""Remedies: single changes that might let a waiting job run, with their units and ranges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.explain.cycle_view import CycleView
from scheduler_core.explain.remedies.configuration import action_remedies, switch_remedies, tier_remedies
from scheduler_core.explain.remedies.jobs import gate_remedies, member_remedies, priority_remedies
from scheduler_core.explain.remedies.nodes import node_remedies
from scheduler_core.explain.remedies.pods import placement_remedies, request_remedies
from scheduler_core.explain.remedies.queues import amount_remedies, queue_remedies
from scheduler_core.explain.remedies.remedy import Axis, Remedy, Sizes, both
from scheduler_core.explain.remedies.waiting import Waiting

__all__ = ["Axis", "Remedy", "Sizes", "both", "remedies"]

_KINDS = (
    gate_remedies,
    queue_remedies,
    amount_remedies,
    placement_remedies,
    node_remedies,
    member_remedies,
    request_remedies,
    action_remedies,
    priority_remedies,
    switch_remedies,
    tier_remedies,
)
# The remedies to try first, by the gate that stopped the job.
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


def remedies(view: CycleView, job: str, about: Mapping[str, Any]) -> list[Remedy]:
    """Return the remedies for a waiting job with this diagnosis, the most likely ones first."""
    waiting = Waiting(view, job, about)
    found = [remedy for kind in _KINDS for remedy in kind(waiting)]
    first = _FIRST.get(str(about.get("gate") or ""), ())
    ranks = {name: rank for rank, name in enumerate(first)}
    return sorted(found, key=lambda remedy: (remedy.is_variant, ranks.get(remedy.name, len(ranks))))
