"""Usage of each node at the end of a run, by pool, and the number of pods of a request that fit on it."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import floor, inf
from typing import Any

from planning.rows import Amounts
from scheduler_core.resource import MEMORY, MIN_RESOURCE, PODS

Json = Mapping[str, Any]


@dataclass(frozen=True)
class NodeHeat:
    """One node once evicted pods are gone and pipelined ones run; `queues` counts its pods by queue.

    `fits` is the number of pods of the chosen request that its free amounts can hold, None without a request.
    """

    node: str
    pool: str
    total: Amounts
    used: Amounts
    free: Amounts
    pods: int
    queues: Mapping[str, int]
    fits: int | None

    def part(self, resource: str) -> float | None:
        """Return the used fraction of a resource; None if the node has none of it."""
        total = self.total.get(resource) or 0.0
        return (self.used.get(resource) or 0.0) / total if total else None

    @property
    def queue(self) -> str:
        """Return the queue with the most pods on it, by name if equal; empty without pods."""
        return min(self.queues, key=lambda name: (-self.queues[name], name), default="")


@dataclass(frozen=True)
class PoolHeat:
    """The nodes of a pool.

    `ideal` is how many pods of the chosen request would fit if what is free were on one node; both are None
    without a request.
    """

    pool: str
    nodes: Sequence[NodeHeat]
    total: Amounts
    used: Amounts
    free: Amounts
    fits: int | None
    ideal: int | None

    def part(self, resource: str) -> float | None:
        """Return the used fraction of a resource; None if no node has any of it."""
        total = self.total.get(resource) or 0.0
        return (self.used.get(resource) or 0.0) / total if total else None

    @property
    def fragmentation(self) -> float | None:
        """Return the fraction of the ideal pods that do not fit; None if there are none."""
        return None if not self.ideal or self.fits is None else 1 - self.fits / self.ideal


def heat(
    nodes: Iterable[Json],
    pools: Mapping[str, str],
    queues_on: Mapping[str, Counter[str]],
    request: Mapping[str, float] | None = None,
) -> list[PoolHeat]:
    """Return pools, the largest first, with their nodes by name.

    `nodes` are idle, used, releasing and pipelined of each at the end of a run; `pools` names the pools,
    and `queues_on` counts the pods on each node by queue.
    """
    by_pool: dict[str, list[NodeHeat]] = {}
    for node in sorted(nodes, key=lambda node: str(node["name"])):
        row = _node(
            node, pools.get(node["name"]) or shape_of(node), queues_on.get(node["name"], Counter()), request
        )
        by_pool.setdefault(row.pool, []).append(row)
    rows = [_pool(name, of, request) for name, of in by_pool.items()]
    return sorted(rows, key=lambda row: (-len(row.nodes), row.pool))


def room_for(free: Amounts, request: Mapping[str, float]) -> int:
    """Return how many pods of a request fit into free amounts; 0 for an empty request.

    Each is also one of the pods that a node may hold: a node without `pods` holds none, as in a session.

    >>> free = {"cpu": 8000.0, "nvidia.com/gpu": 3000.0, "pods": 110.0}
    >>> room_for(free, {"cpu": 2000.0, "nvidia.com/gpu": 1000.0})
    3
    >>> room_for({"cpu": 8000.0, "pods": 2.0}, {"cpu": 1000.0}), room_for({"cpu": 8000.0}, {"cpu": 1000.0})
    (2, 0)
    """
    taken = {**request, PODS: 1.0} if request else request
    holds = min(
        ((free.get(name) or 0.0) / amount for name, amount in taken.items() if amount >= MIN_RESOURCE),
        default=0.0,
    )
    return 0 if holds in (inf, -inf) else max(0, floor(holds + 1e-9))


def shape_of(node: Json) -> str:
    """Return the capacity of a node, as the name of its pool if it has no other."""
    total = _sum([node["idle"], node["used"]])
    quantities = {
        name: f"{amount:.0f}{'' if name == MEMORY else 'm'}" for name, amount in total.items() if name != PODS
    }
    return ", ".join(f"{name} {quantity}" for name, quantity in sorted(quantities.items()) if total[name])


def _node(node: Json, pool: str, queues: Counter[str], request: Mapping[str, float] | None) -> NodeHeat:
    idle, used, releasing, pipelined = (node[part] for part in ("idle", "used", "releasing", "pipelined"))
    total: dict[str, float] = {}
    left: dict[str, float] = {}
    for name in (*idle, *(name for name in used if name not in idle)):
        unused = idle.get(name, 0.0)
        total[name] = unused + used.get(name, 0.0)
        left[name] = max(0.0, unused + releasing.get(name, 0.0) - pipelined.get(name, 0.0))
    return NodeHeat(
        node=node["name"],
        pool=pool,
        total=total,
        used={name: amount - left[name] for name, amount in total.items()},
        free=left,
        pods=sum(queues.values()),
        queues=dict(sorted(queues.items())),
        fits=None if request is None else room_for(left, request),
    )


def _pool(name: str, nodes: Sequence[NodeHeat], request: Mapping[str, float] | None) -> PoolHeat:
    free = _sum([node.free for node in nodes])
    return PoolHeat(
        pool=name,
        nodes=nodes,
        total=_sum([node.total for node in nodes]),
        used=_sum([node.used for node in nodes]),
        free=free,
        fits=None if request is None else sum(node.fits or 0 for node in nodes),
        ideal=None if request is None else room_for(free, request),
    )


def _sum(vectors: Iterable[Amounts]) -> dict[str, float]:
    total: dict[str, float] = {}
    for vector in vectors:
        for name, amount in vector.items():
            total[name] = total.get(name, 0.0) + (amount or 0.0)
    return total
