"""Remedies in queues: state, reclaimable, affinity and amounts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scheduler_core.explain.changes import Change, value_at
from scheduler_core.explain.cycle_view import items
from scheduler_core.explain.remedies.remedy import Axis, Option, Remedy, Sizes, choice
from scheduler_core.explain.remedies.waiting import Waiting, as_quantity, round_amounts, smallest_unit
from scheduler_core.explain.remedies.weights import queue_weight, tree_weights
from scheduler_core.explain.wording import agreed, listed
from scheduler_core.model.queue import ROOT
from scheduler_core.resource import Resource
from scheduler_core.resource_list import read_resource_list
from scheduler_core.units import exact_amount_text

_MOST_QUEUES = 16
_RECLAIMING = frozenset({"reclaim", "gangreclaim"})


def queue_remedies(waiting: Waiting) -> Iterator[Remedy]:
    """Yield the remedies in queues other than amounts and weights."""
    yield from _opened(waiting)
    yield from _reclaimable(waiting)
    yield from _node_groups(waiting)


def amount_remedies(waiting: Waiting) -> Iterator[Remedy]:
    """Yield the remedies that raise a queue's amounts and weights, or lower those of others."""
    chain = list(dict.fromkeys([waiting.about.get("queue") or waiting.queue, *waiting.chain]))
    yield from _raised(waiting, "capability", chain)
    if waiting.view.queue_plugin == "capacity":
        yield from _raised(waiting, "deserved", chain)
    if waiting.view.queue_plugin:
        yield from _raised(waiting, "guarantee", chain)
        yield from _guarantees_of_others(waiting)
    if waiting.view.queue_plugin == "proportion":
        yield from queue_weight(waiting)
    yield from tree_weights(waiting)


# switches


def _opened(waiting: Waiting) -> Iterator[Remedy]:
    closed = []
    for name in waiting.chain:
        entry = waiting.object_of("queues", name) or {}
        state = value_at(entry, "status.state")
        if state not in (None, "", "Open"):
            closed.append(
                Option(f"queue {name} ({state})", [Change("queues", name, "status.state", state, "Open")])
            )
    if closed:
        yield choice("unblock.state", "state of the queue", closed, lambda names: f"{listed(names)} opened")


def _reclaimable(waiting: Waiting) -> Iterator[Remedy]:
    """Yield a choice among other queues that are not reclaimable, by their allocated amounts."""
    if not _RECLAIMING & set(waiting.view.actions):
        return
    held = waiting.view.queues("at_open")
    barred = [
        entry["metadata"]["name"]
        for entry in items(waiting.view.document, "queues")
        if value_at(entry, "spec.reclaimable") is False
    ]
    others = [name for name in barred if name in held and name not in (waiting.queue, ROOT)]
    others.sort(key=lambda name: (-sum(held[name]["allocated"].get(r, 0.0) for r in waiting.request), name))
    options = [
        Option(f"queue {name}", [Change("queues", name, "spec.reclaimable", False, True)])
        for name in others[:_MOST_QUEUES]
    ]
    if options:
        yield choice(
            "unblock.reclaimable",
            "reclaimable queue",
            options,
            lambda names: f"{listed(names)} {agreed(len(names), 'is', 'are')} reclaimable",
        )


def _node_groups(waiting: Waiting) -> Iterator[Remedy]:
    entry = waiting.object_of("queues", waiting.queue) or {}
    affinity = value_at(entry, "spec.affinity")
    if affinity:
        change = Change("queues", waiting.queue, "spec.affinity", affinity, None)
        yield choice(
            "unblock.placement",
            "affinity of the queue",
            [Option(f"affinity of queue {waiting.queue} to node groups", [change])],
            lambda names: f"{listed(names)} removed",
        )


# amounts


@dataclass(frozen=True)
class _Amount:
    """One resource of one field of a queue."""

    queue: str
    resource: str
    before: float
    unit: int


def _raised(waiting: Waiting, field: str, chain: Sequence[str]) -> Iterator[Remedy]:
    """Yield a remedy that raises a field of a queue and its ancestors, for the requested resources."""
    path = _path_of(field)
    amounts: list[_Amount] = []
    axes: list[Axis] = []
    for queue in chain:
        entry = waiting.object_of("queues", queue)
        stated: Mapping[str, Any] = (value_at(entry, path) if entry is not None else None) or {}
        if entry is None or (field == "capability" and not stated):
            continue
        before = read_resource_list(stated)
        for name in waiting.request:
            if field == "capability" and name not in stated:
                continue
            amount = _Amount(queue, name, before.get(name), _unit_of(waiting, name, before))
            amounts.append(amount)
            axes.append(_upwards(waiting, amount, field))
    if amounts:
        yield _amount_remedy(waiting, field, amounts, axes, 1)


def _path_of(field: str) -> str:
    return "spec.guarantee.resource" if field == "guarantee" else f"spec.{field}"


def _unit_of(waiting: Waiting, resource: str, before: Resource) -> int:
    requested = [request.get(resource, 0.0) for request in waiting.requests.values()]
    return smallest_unit(resource, [before.get(resource), *requested])


def _upwards(waiting: Waiting, amount: _Amount, field: str) -> Axis:
    name, unit = amount.resource, amount.unit
    ceiling = max(waiting.total.get(name, 0.0), amount.before + waiting.request[name])
    if field == "capability":
        ceiling += waiting.all_requested.get(name, 0.0)
    rounds = round_amounts(name, unit)
    most = _up(ceiling - amount.before, unit)
    return Axis(most, min(-(-waiting.missing(name) // unit), most), rounds, int(amount.before // unit))


def _up(amount: float, unit: int) -> int:
    return max(1, int(-(-amount // unit)))


def _amount_remedy(
    waiting: Waiting, field: str, amounts: Sequence[_Amount], axes: Sequence[Axis], sign: int
) -> Remedy:
    path = _path_of(field)
    queues = list(dict.fromkeys(amount.queue for amount in amounts))

    def after(amount: _Amount, size: int) -> float:
        return amount.before + sign * size * amount.unit

    def moved(sizes: Sizes) -> list[tuple[_Amount, int]]:
        return [(amount, size) for amount, size in zip(amounts, sizes, strict=True) if size]

    def changes(sizes: Sizes) -> list[Change]:
        made = []
        for queue in queues:
            mine = {
                amount.resource: as_quantity(amount.resource, after(amount, size))
                for amount, size in moved(sizes)
                if amount.queue == queue
            }
            if mine:
                stated = value_at(waiting.object_of("queues", queue) or {}, path)
                made.append(Change("queues", queue, path, stated, {**(stated or {}), **mine}))
        return made

    def sentence(sizes: Sizes) -> str:
        parts = []
        for queue in dict.fromkeys(amount.queue for amount, _ in moved(sizes)):
            text = " and ".join(
                f"{exact_amount_text(amount.resource, after(amount, size))} "
                f"instead of {exact_amount_text(amount.resource, amount.before)}"
                for amount, size in moved(sizes)
                if amount.queue == queue
            )
            parts.append(f"of queue {queue}: {text}")
        return f"{field} {', '.join(parts)}"

    def numbers(sizes: Sizes) -> dict[str, Any]:
        effect: dict[str, Any] = {"queue": queues[0], "before": {}, "after": {}}
        by_queue: dict[str, Any] = {}
        for amount, size in moved(sizes):
            entry = by_queue.setdefault(amount.queue, {"queue": amount.queue, "before": {}, "after": {}})
            entry["before"][amount.resource] = amount.before
            entry["after"][amount.resource] = after(amount, size)
        return {**next(iter(by_queue.values()), effect), "queues": list(by_queue.values())}

    def tried(sizes: Sizes) -> str:
        parts = []
        for queue in dict.fromkeys(amount.queue for amount, _ in moved(sizes)):
            mine = [(one.resource, after(one, size)) for one, size in moved(sizes) if one.queue == queue]
            parts.append(f"{' and '.join(exact_amount_text(*pair) for pair in mine)} for queue {queue}")
        return ", ".join(parts)

    what = f"{'lower ' if sign < 0 else ''}{field} of {listed(queues)}"
    return Remedy(f"unblock.{field}", what, tuple(axes), changes, sentence, numbers, tried)


def _guarantees_of_others(waiting: Waiting) -> Iterator[Remedy]:
    """Yield a remedy that lowers the guarantees of other queues, which are kept free for them."""
    amounts: list[_Amount] = []
    axes: list[Axis] = []
    for entry in items(waiting.view.document, "queues"):
        queue = entry["metadata"]["name"]
        stated = value_at(entry, _path_of("guarantee"))
        if not stated or queue in waiting.chain or queue == ROOT or len(amounts) >= _MOST_QUEUES:
            continue
        before = read_resource_list(stated)
        for name in waiting.request:
            if before.get(name) > 0:
                amount = _Amount(queue, name, before.get(name), _unit_of(waiting, name, before))
                amounts.append(amount)
                most = _up(amount.before, amount.unit)
                guess = min(-(-waiting.missing(name) // amount.unit), most)
                axes.append(Axis(most, guess, round_amounts(name, amount.unit), -most))
    if amounts:
        yield _amount_remedy(waiting, "guarantee", amounts, axes, -1)
