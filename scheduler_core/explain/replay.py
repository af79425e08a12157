"""Replay of a cycle: the amounts of queues and nodes after each decision."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from scheduler_core.explain.cycle_view import Amounts, CycleView, Object, plus
from scheduler_core.rendering import plain
from scheduler_core.resource import MIN_RESOURCE, PODS

# The effect of each operation on the queue's allocated, and the node's idle, used, releasing, pipelined.
_ON_QUEUE = {"bind": 1.0, "allocate": 1.0, "pipeline": 1.0, "evict": -1.0, "unpipeline": -1.0}
_ON_NODE: Mapping[str, Mapping[str, float]] = {
    "bind": {"idle": -1.0, "used": 1.0},
    "allocate": {"idle": -1.0, "used": 1.0},
    "pipeline": {"pipelined": 1.0},
    "evict": {"releasing": 1.0},
    "unpipeline": {"pipelined": -1.0},
}
COLUMNS = ("idle", "used", "releasing", "pipelined")


def state_at(document: Object, result: Object, step: int, *, cycle: int | None = None) -> dict[str, Any]:
    """Return the state of a cycle after its first `step` decisions; 0 is the state when it opened.

    Returns
    -------
    dict
        `cycle`, `step`, `steps` (how many there are), `decision` (the last one taken, None at 0), `queues`
        (name, allocated, deserved, share) and `nodes` (name, idle, used, releasing, pipelined, and `free`:
        what will be idle once releasing pods have terminated and pipelined pods are bound).

    """
    replay = Replay(CycleView(document, result, cycle))
    for _ in range(max(0, min(step, len(replay.decisions)))):
        replay.forward()
    return replay.state()


class ClusterAmounts:
    """The amounts of queues and nodes, updated by decisions.

    `queues` and `nodes` contain amounts by resource, in the scheduler's units, by name: for a queue the
    allocated amount, for a node a mapping for each of idle, used, releasing and pipelined.
    """

    def __init__(
        self,
        queues: Mapping[str, Mapping[str, float]],
        nodes: Mapping[str, Mapping[str, Mapping[str, float]]],
    ) -> None:
        self.queues = {name: dict(allocated) for name, allocated in queues.items()}
        self.nodes = {
            name: {column: dict(node[column]) for column in COLUMNS} for name, node in nodes.items()
        }

    def move_node(self, decision: Object, request: Mapping[str, float], direction: float) -> None:
        """Apply a decision to its node, or with direction -1 revert it; `request` is its pod's request."""
        node = self.nodes.get(decision.get("node") or "")
        if node is not None:
            for column, sign in _ON_NODE.get(decision["op"], {}).items():
                _move(node[column], request, sign * direction)

    def move_queues(
        self, decision: Object, request: Mapping[str, float], queues: Iterable[str], direction: float
    ) -> None:
        """Apply a decision to the pod's queue and its ancestors in `queues`, or revert it."""
        sign = _ON_QUEUE.get(decision["op"])
        for name in queues:
            if sign is not None and name in self.queues:
                _move(self.queues[name], request, sign * direction)


def _move(amounts: Amounts, request: Mapping[str, float], sign: float) -> None:
    for name, amount in request.items():
        amounts[name] = amounts.get(name, 0.0) + sign * amount


class Replay:
    """A cycle through which one can step decision by decision.

    Attributes
    ----------
    step : int
        How many decisions have been applied.

    """

    def __init__(self, view: CycleView) -> None:
        self.view = view
        self.decisions = view.decisions
        self.step = 0
        self.tree = {name: entry.get("ancestors") or () for name, entry in view.queues("at_open").items()}
        self.queues = {name: dict(entry) for name, entry in view.queues("at_open").items()}
        self.standing = ClusterAmounts(
            {name: entry["allocated"] for name, entry in self.queues.items()},
            {entry["name"]: entry for entry in view.cycle["nodes"]},
        )
        for decision in reversed(self.decisions):
            self.standing.move_node(decision, self._request(decision), -1.0)

    def forward(self) -> Object:
        """Apply the next decision and return it."""
        decision = self.decisions[self.step]
        self.step += 1
        request = self._request(decision)
        self.standing.move_node(decision, request, 1.0)
        self._move_queues(decision, request)
        return decision

    def _request(self, decision: Object) -> Amounts:
        """Return what a decision's pod requests; {} for decisions that change no amounts."""
        return self.view.request(decision["pod"]) if decision["op"] in _ON_QUEUE else {}

    def _move_queues(self, decision: Object, request: Mapping[str, float]) -> None:
        queue = self.view.queue_of_job(decision["job"])
        if queue in self.queues and decision["op"] in _ON_QUEUE:
            self.standing.move_queues(decision, request, (queue, *self.tree[queue]), 1.0)
            own = self.queues[queue]
            own["share"] = share_of(self.view.queue_plugin, self.standing.queues[queue], own["deserved"])

    def state(self) -> dict[str, Any]:
        """Return the current amounts."""
        taken = self.decisions[self.step - 1] if self.step else None
        return {
            "cycle": self.view.number,
            "step": self.step,
            "steps": len(self.decisions),
            "decision": None if taken is None else dict(taken),
            "queues": [
                {
                    "name": name,
                    "allocated": plain(held(self.standing.queues[name])),
                    "deserved": entry["deserved"],
                    "share": plain(float(entry["share"])),
                }
                for name, entry in self.queues.items()
            ],
            "nodes": [plain(dict(_node(name, entry))) for name, entry in self.standing.nodes.items()],
        }


def _node(name: str, entry: Object) -> Iterator[tuple[str, Any]]:
    yield "name", name
    for column in COLUMNS:
        yield column, held(entry[column])
    yield "free", held(free(entry))


def free(node: Object) -> Amounts:
    """Return what will be idle on a node once releasing pods have terminated and pipelined pods are bound."""
    return plus(plus(node["idle"], node["releasing"]), node["pipelined"], -1.0)


def held(amounts: Mapping[str, float]) -> Amounts:
    """Return the amounts without scalars of 0."""
    return {
        name: amount
        for name, amount in amounts.items()
        if name in ("cpu", "memory") or abs(amount) >= MIN_RESOURCE
    }


def share_of(plugin: str, allocated: Mapping[str, float], deserved: Mapping[str, float]) -> float:
    """Return the largest allocated / deserved; with capacity 1 if nothing but `pods` is deserved."""
    named = [name for name, amount in deserved.items() if amount >= MIN_RESOURCE]
    if plugin == "capacity" and not any(name != PODS for name in named):
        return 1.0
    return max([0.0, *(allocated.get(name, 0.0) / deserved[name] for name in named)])
