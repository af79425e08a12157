"""Decisions in the order made, as data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Why = dict[str, Any]


class Decision:
    """One operation of an action, in the order made.

    Attributes
    ----------
    state : str
        committed, kept (neither committed nor undone), or failed.
    explanation : dict or None
        For an eviction with a recorder: tier, order, votes, freed, needed.

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

    @classmethod
    def of_log(cls, entry: Mapping[str, str]) -> Decision:
        """Return the committed decision of a log entry."""
        return cls(
            entry["action"],
            entry["op"],
            entry["job"],
            entry.get("pod", ""),
            entry.get("node", ""),
            for_pod=entry.get("for", ""),
        )

    def as_logged(self) -> dict[str, str]:
        """Return the log entry of a committed decision, in a dictionary of minimal size."""
        return self._shown("")

    def as_dict(self) -> dict[str, str]:
        """Return the entry in a result."""
        return {**self._shown(self.reason), "state": self.state}

    def _shown(self, reason: str) -> dict[str, str]:
        entry = {"action": self.action, "op": self.op, "job": self.job}
        if self.pod:
            entry["pod"] = self.pod
        if self.node:
            entry["node"] = self.node
        if reason:
            entry["reason"] = reason
        if self.for_pod:
            entry["for"] = self.for_pod
        return entry
