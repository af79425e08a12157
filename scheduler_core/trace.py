"""What was decided, in which order, and why? Kept as data, never as text to be parsed.

Decisions are always kept; the rest only when explanations are asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

Why = dict[str, Any]


class Decision:
    """One operation of an action, in the order made.

    Attributes
    ----------
    state : str
        committed, kept (neither made real nor undone), failed, or `ROLLED_BACK` (then it is not shown).
    explanation : dict or None
        For an eviction: tier, order, votes, freed, needed.

    """

    __slots__ = ("action", "explanation", "for_pod", "job", "node", "op", "pod", "reason", "state")

    def __init__(
        self,
        action: str,
        op: str,
        job: str,
        pod: str = "",
        node: str = "",
        reason: str = "",
        for_pod: str = "",
        state: str = "committed",
    ) -> None:
        self.action = action
        self.op = op
        self.job = job
        self.pod = pod
        self.node = node
        self.reason = reason
        self.for_pod = for_pod
        self.state = state
        self.explanation: dict[str, Any] | None = None

    def as_dict(self) -> dict[str, str]:
        """Return what the result shows of it."""
        entry = {"action": self.action, "op": self.op, "job": self.job}
        if self.pod:
            entry["pod"] = self.pod
        if self.node:
            entry["node"] = self.node
        if self.reason:
            entry["reason"] = self.reason
        if self.for_pod:
            entry["for"] = self.for_pod
        entry["state"] = self.state
        return entry


ROLLED_BACK = "rolled back"

# The gate of a job whose queue may not reclaim: it says why nobody is evicted, not why there is no room.
RECLAIM = "reclaim"


class Trace:
    """The explanations of one cycle.

    Attributes
    ----------
    deserved : dict
        Rounds or levels of the derivation of deserved, by queue.
    spared : dict
        Candidates that stay, as they were voted on last: by action and the pod or job that needs room, then
        by pod.
    left_out : dict
        On how many nodes that would take a pod nobody was asked to make way for it, as too little would have
        become free there; by pod, as it was tried last.
    pending : dict
        The first gate that stopped a job, by job; that its queue may not reclaim only where nothing else did.

    """

    def __init__(self) -> None:
        self.deserved: dict[str, list[dict[str, Any]]] = {}
        self.spared: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}
        self.left_out: dict[str, int] = {}
        self.pending: dict[str, dict[str, Any]] = {}

    def knows(self, job: str) -> bool:
        """Tell whether it is known what stopped a job, whoever might be evicted for it."""
        return job in self.pending and self.pending[job]["gate"] != RECLAIM

    def stop(self, job: str, gate: str, **facts: Any) -> None:
        """Keep the first gate that stopped a job."""
        if job not in self.pending or (gate != RECLAIM and not self.knows(job)):
            self.pending[job] = {
                "gate": gate,
                **{name: fact for name, fact in facts.items() if fact is not None},
            }

    def derive(self, plugin: str, queue: str, steps: Iterable[Mapping[str, Any]]) -> None:
        """Keep the steps in which a plugin came to what a queue deserves, after those of other plugins."""
        others = [step for step in self.deserved.get(queue, ()) if step["plugin"] != plugin]
        self.deserved[queue] = [*others, *({**step, "plugin": plugin} for step in steps)]

    def leave_out(self, for_pod: str, nodes: int) -> None:
        """Keep on how many nodes nobody was asked for a pod when it was tried last."""
        self.left_out[for_pod] = nodes
