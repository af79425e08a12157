"""The state of queues and nodes at a step of a cycle, found by undoing steps from the end."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from planning.rows import Amounts, Decision, Moment, NodeMoment, QueueMoment
from scheduler_core.explain.replay import ClusterAmounts, free, share_of

Json = Mapping[str, Any]


class Moments:
    """The steps of one cycle, which are undone from its end and never redone.

    `session` has the queues `at_open` and `at_end`, `nodes` are the nodes at the end; `requests` has the
    requests of the pods, `queue_of` the queue of each job, `steps` the decisions that took effect, in order.
    """

    def __init__(
        self,
        *,
        session: Json,
        nodes: Sequence[Json],
        requests: Json,
        queue_of: Mapping[str, str],
        steps: Sequence[Decision],
    ) -> None:
        self._plugin = session["at_end"]["queue_plugin"]
        self._queues = {row["name"]: row for row in session["at_end"]["queues"] or ()}
        self._shares_at_open = {row["name"]: row["share"] for row in session["at_open"]["queues"] or ()}
        self._requests = requests
        self._queue_of = queue_of
        self._steps = list(steps)
        self._standing = ClusterAmounts(
            {name: row["allocated"] for name, row in self._queues.items()},
            {row["name"]: row for row in nodes},
        )

    @property
    def parents(self) -> set[str]:
        """The queues that have children in the session."""
        return {name for name, row in self._queues.items() if row.get("children")}

    def around(self, seq: int) -> tuple[Moment, Moment]:
        """Return the state before and after step `seq`."""
        after = self.at(seq)
        return self.at(seq - 1), after

    def at(self, seq: int) -> Moment:
        """Return the state just after step `seq`; for the step before the first, at the session's start."""
        undone: list[Decision] = []
        while self._steps and self._steps[-1].seq > seq:
            undone.append(self._steps.pop())
        self._undo(undone)
        return Moment(
            queues=[self._queue(name, row) for name, row in self._queues.items()],
            nodes=[node_moment(name, amounts) for name, amounts in self._standing.nodes.items()],
        )

    def request_of(self, pod: str) -> Amounts:
        """Return the request of a pod that some decision is about; empty for other pods."""
        kind = self._requests["pods"].get(pod)
        amounts: Amounts = {} if kind is None else self._requests["kinds"][kind]
        return amounts

    def _undo(self, steps: Sequence[Decision]) -> None:
        """Undo steps; those that move the same amounts in the same place are undone together."""
        kinds = self._requests["pods"]
        on_nodes = Counter((step.op, step.node, kinds.get(step.pod)) for step in steps)
        in_queues = Counter(
            (step.op, self._queue_of.get(step.job, ""), kinds.get(step.pod)) for step in steps
        )
        for (op, node, kind), count in on_nodes.items():
            self._standing.move_node({"op": op, "node": node}, self._request_of_kind(kind), -float(count))
        for (op, queue, kind), count in in_queues.items():
            above = self._queues.get(queue, {}).get("ancestors") or ()
            request = self._request_of_kind(kind)
            self._standing.move_queues({"op": op}, request, (queue, *above), -float(count))

    def _request_of_kind(self, kind: Any) -> dict[str, float]:
        amounts: Amounts = {} if kind is None else self._requests["kinds"][kind]
        return {name: amount or 0.0 for name, amount in amounts.items()}

    def _queue(self, name: str, row: Json) -> QueueMoment:
        allocated = dict(self._standing.queues[name])
        return QueueMoment(name, allocated, row["deserved"], self._share(row, allocated))

    def _share(self, row: Json, allocated: Mapping[str, float]) -> float:
        """Return a queue's share; a parent keeps that of the session's start, as in Volcano."""
        if row.get("children"):
            return float(self._shares_at_open[row["name"]])
        return share_of(self._plugin, allocated, row["deserved"])


def node_moment(name: str, amounts: Mapping[str, Any]) -> NodeMoment:
    """Return the state of a node from its four amounts."""
    copies = {column: dict(amounts[column]) for column in ("idle", "releasing", "pipelined")}
    return NodeMoment(name, **copies, free=free(amounts))
