"""The ids of reasons, and the function that builds a reason."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.rendering import plain

Reason = dict[str, Any]

_VOTERS = (
    "capacity",
    "cdp",
    "conformance",
    "drf",
    "extender",
    "gang",
    "pdb",
    "priority",
    "proportion",
    "tdm",
)

REASONS: frozenset[str] = frozenset(
    {
        # what a queue deserves
        "deserved.proportion",
        "deserved.capacity",
        "deserved.tree",
        "deserved.unknown",
        # the state of a job
        "job.placed",
        "job.promised",
        "job.partly",
        "job.losing",
        "job.finished",
        "job.loop",
        # the first gate that stopped a job
        "gate.unknown-queue",
        "gate.enqueue",
        "gate.closed",
        "gate.no-action",
        "gate.no-pods",
        "gate.gang",
        "gate.scheduling-gate",
        "gate.overused",
        "gate.queue",
        "gate.node",
        "gate.reclaim",
        "gate.refused",
        "gate.turn",
        # why a node refuses
        "node.insufficient",
        "node.affinity",
        "node.taint",
        "node.unschedulable",
        "node.ports",
        "node.pod-affinity",
        "node.spread",
        "node.pods",
        "node.group",
        "node.revocable",
        "node.other",
        # a victim
        "victim.evicted",
        "order.queues",
        "order.jobs",
        "order.tasks",
        "order.heap",
        "order.last",
        "order.bundle",
        "order.dry-run",
        "victims.smallest",
        "victims.lower-bound",
        "victims.surplus",
        "victims.passed-over",
        "victims.left-out",
        "flow.moved",
        # pods and nodes
        "pod.runs",
        "pod.placed",
        "pod.promised",
        "pod.evicted",
        "pod.kept",
        "pod.other",
        "pod.waits",
        "node.state",
        # eviction loops
        "loop.found",
        "loop.evicts",
        "loop.returns",
        "loop.ends",
        # why reclaim or preempt did nothing
        "check.action",
        "check.enqueued",
        "check.starving",
        "check.turn",
        "check.may-evict",
        "check.candidates",
        "check.votes",
        "check.gang",
        "check.fit",
        # changes that would help
        "unblock.actions",
        "unblock.capability",
        "unblock.deserved",
        "unblock.gates",
        "unblock.guarantee",
        "unblock.larger-node",
        "unblock.members",
        "unblock.nodes",
        "unblock.pair",
        "unblock.placement",
        "unblock.priority",
        "unblock.reclaimable",
        "unblock.request",
        "unblock.roles",
        "unblock.state",
        "unblock.stopped",
        "unblock.switches",
        "unblock.tiers",
        "unblock.weight",
        "vote.abstain",
        *(f"vote.{plugin}.{verdict}" for plugin in _VOTERS for verdict in ("permit", "refuse")),
    }
)
"""All ids; the glossary explains each of them."""


def reason(name: str, sentence: str, numbers: Mapping[str, Any] | None = None) -> Reason:
    """Return a reason: its id, one sentence, and the numbers behind it.

    Examples
    --------
    >>> reason("gate.turn", "the job's turn never came")
    {'id': 'gate.turn', 'sentence': "the job's turn never came", 'numbers': {}}

    """
    assert name in REASONS, f"the vocabulary has no {name}"
    return {"id": name, "sentence": sentence, "numbers": plain(numbers or {})}
