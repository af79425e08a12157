"""Usage of each pool's nodes at the end of a run, and whether waiting pods can use what is free."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planning.documents import items
from planning.nodes import pool_of
from planning.pods import requests_of
from scheduler_core.model.taints import HARD_EFFECTS
from scheduler_core.resource import MIN_RESOURCE, PODS

Json = Mapping[str, Any]
Vector = Mapping[str, float]


@dataclass(frozen=True)
class ResourceUse:
    """One resource on the nodes of a pool, once evicted pods are gone and pipelined ones run.

    `largest` is the most that one node has free. `stranded` is what is free on nodes that none of the waiting
    pods which request the resource fits on, by its requests alone; None when no pod waits for it. `unusable`
    is what is free on nodes that take no new pods, as they are cordoned, not ready or under pressure.
    """

    resource: str
    total: float
    used: float
    free: float
    largest: float
    stranded: float | None
    unusable: float = 0.0

    @property
    def part(self) -> float:
        """Return the used fraction."""
        return self.used / self.total if self.total else 0.0


@dataclass(frozen=True)
class PoolUse:
    """The nodes of one pool; the pool of all nodes has no name."""

    pool: str
    nodes: int
    resources: Sequence[ResourceUse]


def pool_uses(document: Json, cycle: Json) -> list[PoolUse]:
    """Return the usage of all nodes, then of each pool, largest first, at the end of a cycle."""
    pools = {node["metadata"]["name"]: pool_of(node) for node in items(document.get("nodes"))}
    closed = {node["metadata"]["name"] for node in items(document.get("nodes")) if takes_no_pods(node)}
    waiting = _waiting(document, cycle)
    by_pool: dict[str, list[Json]] = {}
    for node in cycle["nodes"]:
        by_pool.setdefault(pools.get(node["name"], ""), []).append(node)
    rows = [_pool_use(name, nodes, waiting, closed) for name, nodes in by_pool.items()]
    return [
        _pool_use("", cycle["nodes"], waiting, closed),
        *sorted(rows, key=lambda row: (-row.nodes, row.pool)),
    ]


def _waiting(document: Json, cycle: Json) -> list[Vector]:
    """Return the distinct requests of the waiting pods."""
    pods = {task["pod"] for job in cycle["podgroups"] for task in job["tasks"] if task["status"] == "Pending"}
    kinds = {tuple(sorted(request.items())) for request in requests_of(document, pods).values()}
    return [dict(kind) for kind in sorted(kinds)]


def takes_no_pods(node: Json) -> bool:
    """Return whether a node is cordoned, not ready, or has a taint of Kubernetes for such a state."""
    spec, status = node.get("spec") or {}, node.get("status") or {}
    return (
        bool(spec.get("unschedulable"))
        or any(
            str(taint.get("key") or "").startswith(_OF_ITS_STATE) and taint.get("effect") in HARD_EFFECTS
            for taint in spec.get("taints") or ()
        )
        or any(
            condition.get("type") == "Ready" and condition.get("status") != "True"
            for condition in status.get("conditions") or ()
        )
    )


_OF_ITS_STATE = "node.kubernetes.io/"
"""The prefix of taints that Kubernetes sets while a node cannot take pods."""


def _pool_use(
    pool: str, nodes: Sequence[Json], waiting: Sequence[Vector], closed: Collection[str]
) -> PoolUse:
    names = sorted({name for node in nodes for name in (*node["idle"], *node["used"])} - {PODS})
    free = [_free(node) for node in nodes]
    uses = [_resource_use(name, nodes, free, waiting, closed) for name in names]
    return PoolUse(pool, len(nodes), [use for use in uses if use.total > 0])


def _resource_use(
    name: str,
    nodes: Sequence[Json],
    free: Sequence[Vector],
    waiting: Sequence[Vector],
    closed: Collection[str],
) -> ResourceUse:
    total = sum(node["idle"].get(name, 0.0) + node["used"].get(name, 0.0) for node in nodes)
    left = [max(0.0, vector.get(name, 0.0)) for vector in free]
    wanting = [request for request in waiting if request.get(name, 0.0) > 0]
    return ResourceUse(
        resource=name,
        total=total,
        used=total - sum(left),
        free=sum(left),
        largest=max(left, default=0.0),
        stranded=_stranded(name, free, wanting) if wanting else None,
        unusable=sum(amount for node, amount in zip(nodes, left, strict=True) if node["name"] in closed),
    )


def _free(node: Json) -> dict[str, float]:
    """Return the free resources of a node once evicted pods are gone and pipelined ones run."""
    idle, used, releasing, pipelined = (node[part] for part in ("idle", "used", "releasing", "pipelined"))
    return {
        name: idle.get(name, 0.0) + releasing.get(name, 0.0) - pipelined.get(name, 0.0)
        for name in (*idle, *(name for name in used if name not in idle))
    }


def _stranded(name: str, free: Sequence[Vector], wanting: Sequence[Vector]) -> float:
    fits: dict[tuple[tuple[str, float], ...], bool] = {}
    lost = 0.0
    for vector in free:
        left = vector.get(name, 0.0)
        if left > 0:
            key = tuple(sorted(vector.items()))
            if key not in fits:
                fits[key] = _fits_any(vector, wanting)
            lost += 0.0 if fits[key] else left
    return lost


def _fits_any(free: Vector, wanting: Iterable[Vector]) -> bool:
    return any(
        all(amount <= free.get(name, 0.0) + MIN_RESOURCE for name, amount in request.items() if amount > 0)
        for request in wanting
    )
