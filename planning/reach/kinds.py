"""Kinds of change and their grids, smallest change first."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from manifests.pools import node_like, numbered_names
from planning.nodes import MOST_NODES, pool_of
from scheduler_core.explain.changes import Change, applied, value_at
from scheduler_core.explain.remedies.waiting import as_quantity
from scheduler_core.resource import CPU, MEMORY
from scheduler_core.resource_list import read_resource_list

Json = Mapping[str, Any]
Sizes = Mapping[str, float]
"""The added or removed amount of each resource."""

NODES, WEIGHT = "nodes", "weight"
AMOUNTS = ("deserved", "guarantee", "capability")
PATHS = {
    WEIGHT: "spec.weight",
    "deserved": "spec.deserved",
    "guarantee": "spec.guarantee.resource",
    "capability": "spec.capability",
}
WEIGHTS = (*range(1, 101), 125, 160, 200, 250, 315, 400, 500, 630, 800, 1000)
"""Steps of a weight on the grid."""
COUNTS = (*range(1, 33), 40, 50, 63, 80, 100)
"""Numbers of added nodes on the grid."""
DOUBLED = (1, 2, 4, 8, 16, 32)
"""The coarser grid of weights and nodes if each point needs a session."""
MOST_POOLS = 4
STEPS = 32
_DEVICE = 1000


@dataclass(frozen=True)
class Grid:
    """The steps of each kind, smallest first.

    Attributes
    ----------
    sizes : sequence of mapping
        How much of each resource is added to an amount of a queue, or taken away.
    weights, counts : sequence of int
        By how much a weight moves, and how many nodes are added.

    """

    sizes: Sequence[Sizes]
    weights: Sequence[int] = WEIGHTS
    counts: Sequence[int] = COUNTS


@dataclass(frozen=True)
class Move:
    """One change of a kind: the new value of the field, as text and as an edit.

    Attributes
    ----------
    after : str
        The weight, the quantities of the resources that move, or how many nodes are added.
    patch : mapping
        The JSON merge patch of the queue; empty where nodes are added.
    count : int
        How many nodes are added, 0 where a queue changes.

    """

    after: str
    patch: Json
    count: int = 0


@dataclass(frozen=True)
class Kind:
    """A kind of change, with its grid.

    Attributes
    ----------
    field : str
        `weight`, `deserved`, `guarantee`, `capability`, or `nodes`.
    queue : str
        The queue whose field changes; empty for nodes.
    like, pool : str
        The node that is copied, and what its pool is called; empty for a queue.
    before : str
        The current value of the field, empty if it is not set.
    moves : sequence of Move
        The grid, the smallest change first.

    """

    field: str
    queue: str
    like: str
    pool: str
    before: str
    moves: Sequence[Move]

    @property
    def name(self) -> str:
        """Return the key of the kind within a question: field, and queue or node."""
        return f"{self.field}:{self.queue or self.like}"

    def parts(self, document: Json, move: Move) -> dict[str, Any]:
        """Return the changed parts of the document after a move, whole lists by name."""
        if not move.count:
            return applied(document, [self.change(document, move)])
        nodes = list(document.get("nodes") or ())
        model = next(node for node in nodes if node["metadata"]["name"] == self.like)
        names = numbered_names(self.like, move.count, {node["metadata"]["name"] for node in nodes})
        return {"nodes": [*nodes, *(node_like(model, name) for name in names)]}

    def change(self, document: Json, move: Move) -> Change:
        """Return a move of a queue's field as a change of the object."""
        path = PATHS[self.field]
        stated = value_at(_queue(document, self.queue) or {}, path)
        moved: Any = move.patch
        for step in path.split(".")[1:]:
            moved = moved[step]
        after = moved if self.field == WEIGHT else {**(stated or {}), **moved}
        return Change("queues", self.queue, path, stated, after)


def queue_kinds(
    document: Json,
    chain: Iterable[str],
    unread: Iterable[str],
    grid: Grid,
    *,
    is_raised: bool,
) -> Iterator[Kind]:
    """Yield the movable fields of a queue and its ancestors, as the configuration reads them.

    Parameters
    ----------
    document : mapping
        The scenario.
    chain : iterable of str
        The queue, and the queues above it.
    unread : iterable of str
        Fields that nothing reads (`scheduler_core.queue_fields.unread_fields`): they are left out.
    grid : Grid
        The steps.
    is_raised : bool
        Fields are raised, else lowered, a weight to 1 and an amount to 0 at the least.

    """
    without = set(unread)
    for queue in chain:
        entry = _queue(document, queue)
        if entry is None:
            continue
        if WEIGHT not in without:
            present = int(value_at(entry, PATHS[WEIGHT]) or 1)
            yield _weight(queue, present, grid.weights, is_raised=is_raised)
        for field in AMOUNTS:
            if field not in without:
                stated = value_at(entry, PATHS[field]) or {}
                yield from _amounts(queue, field, stated, grid.sizes, is_raised=is_raised)


def node_kinds(document: Json, grid: Grid) -> Iterator[Kind]:
    """Yield the largest pools of nodes, to which copies of a node can be added."""
    pools: dict[str, list[Json]] = {}
    nodes = document.get("nodes") or ()
    for node in nodes:
        pools.setdefault(pool_of(node), []).append(node)
    room = MOST_NODES - len(nodes)
    for pool, of in sorted(pools.items(), key=lambda entry: (-len(entry[1]), entry[0]))[:MOST_POOLS]:
        open_ones = [node for node in of if not (node.get("spec") or {}).get("unschedulable")]
        like = str((open_ones or of)[0]["metadata"]["name"])
        moves = [Move(str(count), {}, count) for count in grid.counts if count <= room]
        yield Kind(NODES, "", like, pool, str(len(of)), moves)


def chain_of(document: Json, queue: str, *, is_tree: bool) -> list[str]:
    """Return a queue and, if queues form a tree, its ancestors except root."""
    parents = {
        entry["metadata"]["name"]: (entry.get("spec") or {}).get("parent") or ""
        for entry in document.get("queues") or ()
    }
    chain = [queue]
    while is_tree and (above := parents.get(chain[-1], "")) not in ("", "root", *chain):
        chain.append(above)
    return chain


def amount_sizes(resource: str, gap: float, limit: float) -> list[Sizes]:
    """Return the steps of an amount of one resource on the grid.

    32 steps of a round unit that is no larger than a sixteenth of the gap, the gap itself and its multiples 2
    and 4, then doubled steps up to `limit`.

    Examples
    --------
    >>> [size["cpu"] for size in amount_sizes("cpu", 4000.0, 8000.0)][:4]
    [200.0, 400.0, 600.0, 800.0]

    """
    step = _step(resource, gap / 16)
    sizes = {step * number for number in range(1, STEPS + 1)} | {gap, 2 * gap, 4 * gap}
    size = step * STEPS
    while size < limit:
        size = min(size * 2, limit)
        sizes.add(size)
    whole = {float(math.ceil(size / _unit(resource)) * _unit(resource)) for size in sizes if size > 0}
    return [{resource: size} for size in sorted(whole)]


def request_sizes(request: Sizes) -> list[Sizes]:
    """Return the steps of a queue's amounts for a waiting job: 1 to 16 times its request."""
    return [{name: amount * times for name, amount in request.items()} for times in (1, 2, 4, 8, 16)]


def _weight(queue: str, present: int, sizes: Iterable[int], *, is_raised: bool) -> Kind:
    after = [present + size if is_raised else present - size for size in sizes]
    moves = [Move(str(weight), {WEIGHT: weight}) for weight in after if weight >= 1]
    return Kind(WEIGHT, queue, "", "", str(present), moves)


def _amounts(
    queue: str, field: str, stated: Mapping[str, Any], sizes: Sequence[Sizes], *, is_raised: bool
) -> Iterator[Kind]:
    """Yield a field's kind; an unset capability is unlimited, and 0 cannot be lowered."""
    present = read_resource_list(stated)
    before = {name: str(stated[name]) for size in sizes[:1] for name in size if name in stated}
    moves: list[Move] = []
    for size in sizes:
        after = {
            name: max(present.get(name) + amount if is_raised else present.get(name) - amount, 0.0)
            for name, amount in size.items()
            if (is_raised or present.get(name) > 0) and (field != "capability" or name in stated)
        }
        quantities = {name: as_quantity(name, amount) for name, amount in after.items()}
        patch = {field: {"resource": quantities} if field == "guarantee" else quantities}
        if quantities and all(move.patch != patch for move in moves[-1:]):
            moves.append(Move(_text(quantities), patch))
    if moves:
        yield Kind(field, queue, "", "", _text(before), moves)


def _text(quantities: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {quantity}" for name, quantity in quantities.items())


def _step(resource: str, most: float) -> float:
    """Return the largest round amount up to `most`: a power of two of bytes, else 1, 2 or 5 and zeros."""
    unit = _unit(resource)
    units = max(1.0, most / unit)
    if resource == MEMORY:
        return float(unit * 2 ** int(math.log2(units)))
    tens = 10.0 ** int(math.log10(units))
    return unit * tens * max(digit for digit in (1, 2, 5) if digit * tens <= units)


def _unit(resource: str) -> int:
    """Return the smallest step of a resource: a millicore, a MiB, a whole unit of anything else."""
    return {CPU: 1, MEMORY: 2**20, "pods": 1}.get(resource, _DEVICE)


def _queue(document: Json, name: str) -> Json | None:
    for queue in document.get("queues") or ():
        if queue["metadata"]["name"] == name:
            found: Json = queue
            return found
    return None
