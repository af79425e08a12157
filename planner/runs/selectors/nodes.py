"""The usage of a run's nodes at its end, and the queues of their pods."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from planner.runs.models import Run
from planner.runs.selectors.explain import payload
from planning.heat import NodeHeat, PoolHeat, heat
from planning.memory_cache import MemoryCache
from planning.rows.stored import NODES, PODS, POOLS

ORDERS = ("node", "pool", "pods", "used", "free", "fits")
"""Orders of nodes; used and free refer to the chosen resource."""

QueuesOn = dict[str, Counter[str]]
_NODES_KEPT = 50_000
_cache: MemoryCache[QueuesOn] = MemoryCache(_NODES_KEPT, len)


def pool_heats(run: Run, request: Mapping[str, float] | None = None) -> list[PoolHeat]:
    """Return the pools of a run with their nodes at its end; empty if not stored (at most 4 queries)."""
    cycles = payload(run, NODES) or [[]]
    pools = {node: pool for pool, nodes in (payload(run, POOLS) or {}).items() for node in nodes}
    return heat(cycles[-1], pools, _cache.get(run.outcome_id, lambda: _queues_on(run)), request)


def _queues_on(run: Run) -> QueuesOn:
    """Return the number of pods on each node by queue, which takes reading all pods of the run."""
    queue_of = dict(run.job_outcomes.values_list("job", "queue"))
    queues_on: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for job, pods in (payload(run, PODS) or {}).items():
        for _, status, node, _ in pods:
            if node and status != "Releasing":
                queues_on[node][queue_of.get(job, "")] += 1
    return dict(queues_on)


def nodes_in_order(nodes: Sequence[NodeHeat], order: str, resource: str) -> list[NodeHeat]:
    """Return nodes in an order, largest first with a minus; equal ones by name."""
    field = order.removeprefix("-")
    keys = {
        "pool": lambda node: node.pool,
        "pods": lambda node: node.pods,
        "used": lambda node: node.used.get(resource) or 0.0,
        "free": lambda node: node.free.get(resource) or 0.0,
        "fits": lambda node: node.fits or 0,
    }
    by_name = sorted(nodes, key=lambda node: node.node)
    if field == "node":
        return by_name[::-1] if order.startswith("-") else by_name
    key = keys.get(field)
    return sorted(by_name, key=key, reverse=order.startswith("-")) if key else by_name


def node_found(node: NodeHeat, pool: str, words: str) -> bool:
    """Return whether a node is in the pool and its name or queues contain the words; empty ones match all."""
    sought = words.lower()
    named = (node.node, node.pool, *node.queues)
    return (not pool or node.pool == pool) and any(sought in name.lower() for name in named)
