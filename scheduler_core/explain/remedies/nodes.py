"""Remedies in nodes: more nodes, or larger ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from scheduler_core.explain.changes import Change
from scheduler_core.explain.cycle_view import Amounts, Object, items
from scheduler_core.explain.remedies.pods import fits_when_empty
from scheduler_core.explain.remedies.remedy import Axis, Remedy, Sizes
from scheduler_core.explain.remedies.waiting import Waiting, as_quantity, round_amounts, smallest_unit
from scheduler_core.explain.wording import agreed, counted, listed
from scheduler_core.model.allocatable import allocatable_of
from scheduler_core.resource import MIN_RESOURCE, PODS, Resource
from scheduler_core.units import exact_amount_text

_MOST_ADDED = 256
_POOLS = 3
_TIMES = 8
"""Pods of other jobs may fill new nodes first; at most this multiple of what the job needs is offered."""


@dataclass(frozen=True)
class Pool:
    """Nodes that differ only in their names."""

    nodes: list[Object]

    @property
    def first(self) -> Object:
        """Return the node that represents the pool."""
        return self.nodes[0]

    @property
    def name(self) -> str:
        """Return the name of that node."""
        return str(self.first["metadata"]["name"])

    @property
    def offered(self) -> Resource:
        """Return the allocatable amounts of each of the nodes."""
        return allocatable_of(self.first)


def node_remedies(waiting: Waiting) -> Iterator[Remedy]:
    """Yield more nodes like those of the largest pools, or larger nodes if none is large enough."""
    pools = _pools(waiting)
    names = {str(node["metadata"]["name"]) for node in items(waiting.view.document, "nodes")}
    large_enough = [
        pool
        for pool in pools
        if any(fits_when_empty(pool.offered, request) for request in waiting.requests.values())
    ]
    sizes: set[str] = set()
    for pool in large_enough[:_POOLS]:
        yield replace(_more(waiting, pool, names, {}), is_variant=_size(pool.first) in sizes)
        sizes.add(_size(pool.first))
    largest = _largest_request(waiting)
    if not any(fits_when_empty(pool.offered, largest) for pool in pools):
        nearest = sorted(pools, key=lambda pool: (len(_lacking(pool, largest)), -len(pool.nodes), pool.name))
        for pool in nearest[:_POOLS]:
            yield _more(waiting, pool, names, _lacking(pool, largest))
    yield from _enlarged(waiting, pools)


def _pools(waiting: Waiting) -> list[Pool]:
    """Return the pools of schedulable nodes, the largest first."""
    by_shape: dict[str, list[Object]] = {}
    for node in items(waiting.view.document, "nodes"):
        if not (node.get("spec") or {}).get("unschedulable"):
            by_shape.setdefault(_shape(node), []).append(node)
    pools = [
        Pool(sorted(nodes, key=lambda node: str(node["metadata"]["name"]))) for nodes in by_shape.values()
    ]
    return sorted(pools, key=lambda pool: (-len(pool.nodes), pool.name))


def _shape(node: Object) -> str:
    metadata, spec = node["metadata"], node.get("spec") or {}
    labels = {
        name: value
        for name, value in (metadata.get("labels") or {}).items()
        if name != "kubernetes.io/hostname" and value != metadata["name"]
    }
    return repr((sorted(labels.items()), spec.get("taints"), _size(node)))


def _size(node: Object) -> str:
    status = node.get("status") or {}
    return repr(sorted((status.get("allocatable") or status.get("capacity") or {}).items()))


def _largest_request(waiting: Waiting) -> Amounts:
    """Return the maximum request of any waiting pod, by resource."""
    names = {name for request in waiting.requests.values() for name in request}
    return {
        name: max(request.get(name, 0.0) for request in waiting.requests.values()) for name in sorted(names)
    }


def _lacking(pool: Pool, request: Mapping[str, float]) -> Amounts:
    """Return by resource how much larger a node must be for a request."""
    offered = pool.offered
    return {
        name: amount - offered.get(name) for name, amount in request.items() if amount > offered.get(name)
    }


def _more(waiting: Waiting, pool: Pool, names: set[str], lacking: Mapping[str, float]) -> Remedy:
    """Return a remedy over the number of added nodes and, last, their additional size."""
    offered = pool.offered
    units = {
        name: smallest_unit(name, [offered.get(name), offered.get(name) + more])
        for name, more in lacking.items()
    }
    needs = [
        Axis(int(-(-more // units[name])), int(-(-more // units[name]))) for name, more in lacking.items()
    ]

    def larger(sizes: Sizes) -> Amounts:
        return {
            name: offered.get(name) + size * units[name]
            for name, size in zip(lacking, sizes[1:], strict=True)
            if size
        }

    def changes(sizes: Sizes) -> list[Change]:
        return [
            Change("nodes", made["metadata"]["name"], "", None, made)
            for made in (_copy(pool.first, number, names, larger(sizes)) for number in range(1, sizes[0] + 1))
        ]

    def change(sizes: Sizes) -> str:
        text = listed(exact_amount_text(name, amount) for name, amount in larger(sizes).items())
        size = f", but with {text}" if larger(sizes) else ""
        return f"{counted(sizes[0], 'more node')} like {pool.name}{size}"

    def sentence(sizes: Sizes) -> str:
        have = f"{counted(len(pool.nodes), 'node')} {agreed(len(pool.nodes), 'has', 'have')}"
        return f"{change(sizes)} ({have} its labels, taints and size)"

    return Remedy(
        "unblock.nodes",
        f"more {'larger ' if lacking else ''}nodes like {pool.name}",
        (_number(waiting, pool, larger(tuple(axis.most for axis in (Axis(0), *needs)))), *needs),
        changes,
        sentence,
        lambda sizes: {
            "change": change(sizes),
            "like": pool.name,
            "before": len(pool.nodes),
            "after": len(pool.nodes) + sizes[0],
            "larger": larger(sizes),
        },
        lambda sizes: f"{sizes[0]} like {pool.name}{' but larger' if larger(sizes) else ''}",
    )


def _number(waiting: Waiting, pool: Pool, larger: Mapping[str, float]) -> Axis:
    """Return the axis for the number of added nodes; the guess is the number that the job's own pods fill."""
    offered = pool.offered
    each = _largest_request(waiting)
    rooms = [
        larger.get(name, offered.get(name)) // amount
        for name, amount in each.items()
        if amount > MIN_RESOURCE
    ]
    pods = len(waiting.pods)
    guess = -(-pods // max(1, int(min(rooms, default=1))))
    most = min(_MOST_ADDED, max(guess, waiting.pods_in_all), _TIMES * guess)
    return Axis(max(1, most), guess if guess < most else 0)


def _copy(node: Object, number: int, names: set[str], larger: Mapping[str, float]) -> dict[str, Any]:
    old = node["metadata"]["name"]
    name = f"{old}-more-{number}"
    while name in names:
        name += "-more"
    labels = {
        label: name if value == old else value
        for label, value in (node["metadata"].get("labels") or {}).items()
    }
    metadata = {**node["metadata"], "name": name, "labels": labels}
    metadata.pop("uid", None)
    amounts = {resource: as_quantity(resource, amount) for resource, amount in larger.items()}
    status = node.get("status") or {}
    grown = {part: {**(status.get(part) or {}), **amounts} for part in ("allocatable", "capacity")}
    return {**node, "metadata": metadata, **({"status": {**status, **grown}} if amounts else {})}


def _enlarged(waiting: Waiting, pools: list[Pool]) -> Iterator[Remedy]:
    """Yield a remedy that enlarges one node: the one that came closest, else one of the largest pool."""
    if not waiting.request:
        return
    closest = (waiting.about.get("closest") or {}).get("node")
    node = (waiting.object_of("nodes", closest) if closest else None) or (pools[0].first if pools else None)
    if node is None:
        return
    name = str(node["metadata"]["name"])
    offered = allocatable_of(node)
    wanted = {**waiting.request, PODS: float(len(waiting.pods))}
    units = {
        resource: smallest_unit(resource, [offered.get(resource), amount])
        for resource, amount in wanted.items()
    }
    axes = []
    for resource, amount in wanted.items():
        most = max(1, int(-(-amount // units[resource])))
        rounds = round_amounts(resource, units[resource])
        guess = min(-(-waiting.missing(resource) // units[resource]), most)
        axes.append(Axis(most, guess, rounds, int(offered.get(resource) // units[resource])))
    status = node.get("status") or {}

    def larger(sizes: Sizes) -> Amounts:
        return {
            resource: offered.get(resource) + size * units[resource]
            for resource, size in zip(wanted, sizes, strict=True)
            if size
        }

    def changes(sizes: Sizes) -> list[Change]:
        amounts = {resource: as_quantity(resource, amount) for resource, amount in larger(sizes).items()}
        made = []
        for part in ("allocatable", "capacity"):
            stated = status.get(part)
            if stated:
                made.append(Change("nodes", name, f"status.{part}", stated, {**stated, **amounts}))
        return made

    def sentence(sizes: Sizes) -> str:
        parts = [
            f"{exact_amount_text(resource, amount)} "
            f"instead of {exact_amount_text(resource, offered.get(resource))}"
            for resource, amount in larger(sizes).items()
        ]
        return f"a larger node {name}: {', '.join(parts)}"

    yield Remedy(
        "unblock.larger-node",
        f"larger node {name}",
        tuple(axes),
        changes,
        sentence,
        lambda sizes: {"node": name, "before": offered.as_dict(), "after": larger(sizes)},
        lambda sizes: f"{name} with {listed(exact_amount_text(r, a) for r, a in larger(sizes).items())}",
    )
