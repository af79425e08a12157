"""How did queues and nodes stand at a step of a run? Told by undoing the steps after it, from the end."""

from collections.abc import Iterable, Mapping
from typing import Any

from planner.runs.models import Run
from planner.runs.models.outcome import DecisionState
from planner.runs.selectors.steps import decisions
from planning.rows import Amounts, Decision, Moment, NodeMoment, QueueMoment
from planning.traces import NODES, REQUESTS, SESSIONS

Json = Mapping[str, Any]
Held = dict[str, float]

_TAKES = ("allocate", "bind", "pipeline")
_NODE_AMOUNTS = ("idle", "used", "releasing", "pipelined")


class Moments:
    """The steps of one cycle of a run, which can be undone from its end (5 queries)."""

    def __init__(self, run: Run, cycle: int) -> None:
        self.run = run
        self.cycle = cycle
        parts = {trace.part: trace for trace in run.traces.filter(part__in=(SESSIONS, NODES, REQUESTS))}
        self.is_kept = bool(parts)
        if self.is_kept:
            sessions = parts[SESSIONS].payload()
            session = next(session for session in sessions if session["cycle"] == cycle)
            self.end = session["at_end"]
            self._shares_at_open = {row["name"]: row["share"] for row in session["at_open"]["queues"] or ()}
            self.queues = self.end["queues"] or []
            nodes = parts[NODES].payload()[cycle - 1]
            self._allocated = {row["name"]: dict(row["allocated"]) for row in self.queues}
            self._nodes = {row["name"]: {name: dict(row[name]) for name in _NODE_AMOUNTS} for row in nodes}
            self._requests = parts[REQUESTS].payload()
            self._queue_of = dict(run.job_outcomes.values_list("job", "queue"))
            self._parents = dict(run.queue_outcomes.values_list("queue", "parent"))
            steps = decisions(run).where(cycle=cycle)
            self._steps = [step for step in steps if step.state != DecisionState.FAILED]

    def around(self, seq: int) -> tuple[Moment, Moment]:
        """Return how things stood before and after step `seq`."""
        self._undo_to(seq)
        after = self._moment()
        self._undo_to(seq - 1)
        return self._moment(), after

    def at(self, seq: int) -> Moment:
        """Return how things stood just after step `seq`; for the one before the first, at the opening."""
        self._undo_to(seq)
        return self._moment()

    def _undo_to(self, seq: int) -> None:
        """Undo the steps after `seq`; steps are only ever undone, never done again."""
        while self._steps and self._steps[-1].seq > seq:
            self._undo(self._steps.pop())

    def _moment(self) -> Moment:
        return Moment(
            queues=[self._queue(row) for row in self.queues],
            nodes=[node_moment(name, amounts) for name, amounts in self._nodes.items()],
        )

    def request_of(self, pod: str) -> Amounts:
        """Return what a pod takes, about which something was decided."""
        kind = self._requests["pods"].get(pod)
        amounts: Amounts = {} if kind is None else self._requests["kinds"][kind]
        return amounts

    def _undo(self, step: Decision) -> None:
        request = self.request_of(step.pod)
        if not request:
            return
        sign = -1 if step.op in _TAKES else 1
        for queue in self._with_those_above(self._queue_of.get(step.job, "")):
            _add(self._allocated.get(queue), request, sign)
        node = self._nodes.get(step.node)
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

    def _queue(self, row: Json) -> QueueMoment:
        allocated, deserved = dict(self._allocated[row["name"]]), row["deserved"]
        return QueueMoment(row["name"], allocated, deserved, self._share(row, allocated))

    def _share(self, row: Json, allocated: Held) -> float:
        """Return a queue's share; one with children keeps that of the opening, as in Volcano."""
        if row.get("children"):
            return float(self._shares_at_open[row["name"]])
        if self.end["queue_plugin"] == "capacity" and not any(row["deserved"].values()):
            return 1.0
        return share_of(allocated, row["deserved"])


def node_moment(name: str, amounts: Mapping[str, Any]) -> NodeMoment:
    """Return how a node stands, from its four amounts."""
    free = dict(amounts["idle"])
    _add(free, amounts["releasing"], 1)
    _add(free, amounts["pipelined"], -1)
    return NodeMoment(
        name, dict(amounts["idle"]), dict(amounts["releasing"]), dict(amounts["pipelined"]), free
    )


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
