"""What did queues hold, and what was free on nodes, after so many decisions of a cycle?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scheduler_core.explain.picture import Amounts, Object, Picture, plus
from scheduler_core.resource import MIN_RESOURCE, PODS
from scheduler_core.result import plain

# What each operation does: to the queue's allocated, and to the node's idle, used, releasing, pipelined.
_ON_QUEUE = {"bind": 1.0, "allocate": 1.0, "pipeline": 1.0, "evict": -1.0, "unpipeline": -1.0}
_ON_NODE: Mapping[str, Mapping[str, float]] = {
    "bind": {"idle": -1.0, "used": 1.0},
    "allocate": {"idle": -1.0, "used": 1.0},
    "pipeline": {"pipelined": 1.0},
    "evict": {"releasing": 1.0},
    "unpipeline": {"pipelined": -1.0},
}
_COLUMNS = ("idle", "used", "releasing", "pipelined")


def state_at(document: Object, result: Object, step: int, *, cycle: int | None = None) -> dict[str, Any]:
    """Return the state of a cycle after its first `step` decisions; 0 is the state when it opened.

    Returns
    -------
    dict
        `cycle`, `step`, `steps` (how many there are), `decision` (the last one taken, None at 0), `queues`
        (name, allocated, deserved, share) and `nodes` (name, idle, used, releasing, pipelined, and `free`:
        what will be idle once what is leaving has left and what was promised has come).

    """
    replay = Replay(Picture(document, result, cycle))
    for _ in range(max(0, min(step, len(replay.decisions)))):
        replay.forward()
    return replay.state()


class Replay:
    """A cycle that can be walked forward decision by decision.

    Attributes
    ----------
    step : int
        How many decisions have been taken.

    """

    def __init__(self, picture: Picture) -> None:
        self.picture = picture
        self.decisions = picture.decisions
        self.step = 0
        self.tree = {name: entry.get("ancestors") or () for name, entry in picture.queues("at_open").items()}
        self.queues = {name: dict(entry) for name, entry in picture.queues("at_open").items()}
        self.nodes = {entry["name"]: dict(entry) for entry in picture.told["nodes"]}
        for decision in reversed(self.decisions):
            self._move_node(decision, -1.0)

    def forward(self) -> Object:
        """Take the next decision and return it."""
        decision = self.decisions[self.step]
        self.step += 1
        self._move_node(decision, 1.0)
        self._move_queues(decision)
        return decision

    def _move_node(self, decision: Object, direction: float) -> None:
        node = self.nodes.get(decision.get("node") or "")
        if node is None:
            return
        request = self.picture.request(decision["pod"])
        for column, sign in _ON_NODE.get(decision["op"], {}).items():
            node[column] = plus(node[column], request, sign * direction)

    def _move_queues(self, decision: Object) -> None:
        sign = _ON_QUEUE.get(decision["op"])
        queue = self.picture.queue_of_job(decision["job"])
        if sign is None or queue not in self.queues:
            return
        request = self.picture.request(decision["pod"])
        for name in (queue, *self.tree[queue]):
            entry = self.queues[name]
            entry["allocated"] = plus(entry["allocated"], request, sign)
        own = self.queues[queue]
        own["share"] = share_of(self.picture.queue_plugin, own["allocated"], own["deserved"])

    def state(self) -> dict[str, Any]:
        """Return the amounts as they are now."""
        taken = self.decisions[self.step - 1] if self.step else None
        return {
            "cycle": self.picture.number,
            "step": self.step,
            "steps": len(self.decisions),
            "decision": None if taken is None else dict(taken),
            "queues": [
                {
                    "name": name,
                    "allocated": plain(held(entry["allocated"])),
                    "deserved": entry["deserved"],
                    "share": plain(float(entry["share"])),
                }
                for name, entry in self.queues.items()
            ],
            "nodes": [plain(dict(self._node(entry))) for entry in self.nodes.values()],
        }

    def _node(self, entry: Object) -> Iterator[tuple[str, Any]]:
        yield "name", entry["name"]
        for column in _COLUMNS:
            yield column, held(entry[column])
        yield "free", held(free(entry))


def free(node: Object) -> Amounts:
    """Return what will be idle on a node once what is leaving has left and what was promised has come."""
    return plus(plus(node["idle"], node["releasing"]), node["pipelined"], -1.0)


def held(amounts: Mapping[str, float]) -> Amounts:
    """Return the amounts without scalars of which there is nothing."""
    return {
        name: amount
        for name, amount in amounts.items()
        if name in ("cpu", "memory") or abs(amount) >= MIN_RESOURCE
    }


def share_of(plugin: str, allocated: Mapping[str, float], deserved: Mapping[str, float]) -> float:
    """Return the largest allocated / deserved; with capacity 1 where nothing but `pods` is deserved."""
    named = [name for name, amount in deserved.items() if amount >= MIN_RESOURCE]
    if plugin == "capacity" and not any(name != PODS for name in named):
        return 1.0
    return max([0.0, *(allocated.get(name, 0.0) / deserved[name] for name in named)])
