"""How did queues and nodes stand at a step of a run? Told by undoing the steps after it, from the end."""

from collections.abc import Iterable, Mapping
from typing import Any

from planner.models import Decision, Run, Trace
from planner.models.outcome import DecisionState
from planner.rows import Amounts, Moment, NodeMoment, QueueMoment

Json = Mapping[str, Any]
Held = dict[str, float]

_TAKES = ("allocate", "bind", "pipeline")
_GIVES_BACK = ("evict", "unpipeline")
_NODE_AMOUNTS = ("idle", "used", "releasing", "pipelined")


class Moments:
    """The steps of one cycle of a run, which can be undone from its end (4 queries)."""

    def __init__(self, run: Run, cycle: int) -> None:
        self.run = run
        self.cycle = cycle
        parts = {
            trace.part: trace
            for trace in run.traces.filter(part__in=(Trace.SESSIONS, Trace.NODES, Trace.REQUESTS))
        }
        self.is_kept = Trace.SESSIONS in parts
        if self.is_kept:
            sessions = parts[Trace.SESSIONS].told()
            self.end = next(session for session in sessions if session["cycle"] == cycle)["at_end"]
            self.queues = self.end["queues"] or []
            self.nodes = parts[Trace.NODES].told()[cycle - 1]
            self._requests = parts[Trace.REQUESTS].told()
            self._queue_of = dict(run.job_outcomes.values_list("job", "queue"))
            self._parents = dict(run.queue_outcomes.values_list("queue", "parent"))

    def at(self, seq: int) -> Moment:
        """Return how things stood just after step `seq`; before the first step for the one before it."""
        later = self.run.decisions.filter(cycle=self.cycle, seq__gt=seq).exclude(state=DecisionState.FAILED)
        queues = {row["name"]: dict(row["allocated"]) for row in self.queues}
        nodes = {row["name"]: {name: dict(row[name]) for name in _NODE_AMOUNTS} for row in self.nodes}
        for step in later:
            self._undo(step, queues, nodes)
        return Moment(
            queues=[self._queue(row, queues[row["name"]]) for row in self.queues],
            nodes=[_node(name, amounts) for name, amounts in nodes.items()],
        )

    def request_of(self, pod: str) -> Amounts:
        """Return what a pod takes, about which something was decided."""
        kind = self._requests["pods"].get(pod)
        amounts: Amounts = {} if kind is None else self._requests["kinds"][kind]
        return amounts

    def _undo(self, step: Decision, queues: dict[str, Held], nodes: dict[str, dict[str, Held]]) -> None:
        request = self.request_of(step.pod)
        if not request:
            return
        sign = -1 if step.op in _TAKES else 1
        for queue in self._with_those_above(self._queue_of.get(step.job, "")):
            _add(queues.get(queue), request, sign)
        node = nodes.get(step.node)
        if node is None:
            return
        if step.op in ("allocate", "bind"):
            _add(node["idle"], request, 1)
            _add(node["used"], request, -1)
        elif step.op in ("pipeline", "unpipeline"):
            _add(node["pipelined"], request, sign)
        elif step.op == "evict":
            _add(node["releasing"], request, -1)

    def _with_those_above(self, queue: str) -> Iterable[str]:
        """Return a queue and, where the session counts what is below a queue as its own, those above it."""
        yield queue
        if not any(row.get("children") for row in self.queues):
            return
        while queue and queue != "root":
            queue = self._parents.get(queue) or "root"
            yield queue

    def _queue(self, row: Json, allocated: Held) -> QueueMoment:
        deserved = row["deserved"]
        is_entitled = any(deserved.values()) or self.end["queue_plugin"] != "capacity"
        share = share_of(allocated, deserved) if is_entitled else 1.0
        return QueueMoment(row["name"], allocated, deserved, share)


def _node(name: str, amounts: Mapping[str, Held]) -> NodeMoment:
    free = dict(amounts["idle"])
    _add(free, amounts["releasing"], 1)
    _add(free, amounts["pipelined"], -1)
    return NodeMoment(name, amounts["idle"], amounts["releasing"], amounts["pipelined"], free)


def _add(held: Held | None, request: Amounts, sign: int) -> None:
    if held is not None:
        for resource, amount in request.items():
            held[resource] = held.get(resource, 0.0) + sign * (amount or 0.0)


def share_of(allocated: Amounts, deserved: Amounts) -> float:
    """Return the largest part of what is deserved that is allocated.

    >>> share_of({"cpu": 1000.0, "memory": 8.0}, {"cpu": 4000.0, "memory": 16.0})
    0.5
    """
    parts = [(allocated.get(name) or 0.0) / amount for name, amount in deserved.items() if amount]
    return max(parts, default=0.0)
