"""Derivation of what a queue deserves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_core.explain.cycle_view import CycleView, Object
from scheduler_core.explain.reasons import Reason, reason
from scheduler_core.explain.wording import counted, listed, quantities
from scheduler_core.model.queue import ROOT
from scheduler_core.resource import MIN_RESOURCE
from scheduler_core.units import amount_text, named

_LIMITS = {
    "realCapability": "its real capability caps",
    "request": "its request caps",
    "guarantee": "its guarantee lifts",
}


def derivation(document: Object, result: Object, queue: str, *, cycle: int | None = None) -> dict[str, Any]:
    """Return the steps that led to what a queue deserves, and a sentence for each plugin.

    Returns
    -------
    dict
        `queue`, `cycle`, `plugin`, `deserved`, `summary` (a reason), `steps` (rounds of proportion or levels
        of capacity, each naming its `plugin`), `tree` (levels of hierarchical drf) and `tree_summary` (a
        reason, None without such a tree).

    """
    view = CycleView(document, result, cycle)
    return derived(view, queue)


def derived(view: CycleView, queue: str) -> dict[str, Any]:
    """Return `derivation` for a view."""
    every: Sequence[Object] = view.explain.get("deserved", {}).get(queue) or ()
    steps = [step for step in every if step["plugin"] == view.queue_plugin]
    tree = [step for step in every if step["plugin"] == "drf"]
    entry = view.queues("at_open").get(queue)
    return {
        "queue": queue,
        "cycle": view.number,
        "plugin": view.queue_plugin,
        "deserved": entry["deserved"] if entry is not None else {},
        "summary": _summary(view, queue, steps),
        "steps": steps,
        "tree": tree,
        "tree_summary": _tree_summary(queue, tree) if tree else None,
    }


def _summary(view: CycleView, queue: str, steps: Sequence[Object]) -> Reason:
    if not steps:
        return reason(
            "deserved.unknown",
            f"Queue {queue} has no deserved amount: "
            + ("it has no job in this session." if view.queue_plugin else "no plugin divides the cluster."),
        )
    if view.queue_plugin == "proportion":
        return _by_weight(queue, steps, view.queues("at_open")[queue])
    return _by_quota(queue, steps, tree="children" in view.queues("at_open").get(queue, {}))


def _by_weight(queue: str, rounds: Sequence[Object], figures: Object) -> Reason:
    first, last = rounds[0], rounds[-1]
    part = f"weight {first['weight']} of {_plain(first['weight_sum'])}"
    text = (
        f"Queue {queue} deserves {quantities(last['deserved'])}: {part}, in {counted(len(rounds), 'round')}; "
        f"{_end(last, figures)}{_clipped(last['clipped_by'])}."
    )
    return reason(
        "deserved.proportion",
        text,
        {
            "weight": first["weight"],
            "weight_sum": first["weight_sum"],
            "rounds": len(rounds),
            "deserved": last["deserved"],
            "covered": last["covered"],
            "clipped_by": last["clipped_by"],
        },
    )


def _end(last: Object, figures: Object) -> str:
    """Return why a queue did not participate in further rounds."""
    if last["covered"]:
        return "then its request is covered"
    if not last["met"]:
        return "then nothing was left to divide"
    short = {
        name: (requested, figures["realCapability"].get(name, math.inf))
        for name, requested in figures["request"].items()
        if requested - last["deserved"].get(name, 0.0) >= MIN_RESOURCE
    }
    facts = [
        f"request {amount_text(name, requested)}, "
        + (
            f"limit {amount_text(name, limit)}"
            if last["deserved"].get(name, 0.0) > limit - MIN_RESOURCE
            else f"no more {named(name)} left"
        )
        for name, (requested, limit) in short.items()
    ]
    return f"then nothing more could be given ({'; '.join(facts)})"


def _by_quota(queue: str, levels: Sequence[Object], *, tree: bool) -> Reason:
    last = levels[-1]
    stated = quantities(last["stated"])
    if last["queue"] == ROOT and tree:
        return reason(
            "deserved.capacity",
            f"Queue {queue} deserves {quantities(last['deserved'])}: the sum of what its children deserve.",
            {"deserved": last["deserved"], "realCapability": last["realCapability"]},
        )
    origin = "as its spec states" if stated == quantities(last["deserved"]) else f"its spec states {stated}"
    limits = last["realCapability"]
    most = "unlimited" if all(map(math.isinf, limits.values())) else quantities(limits)
    path = f" below {' / '.join(level['queue'] for level in levels[:-1])}" if len(levels) > 1 else ""
    return reason(
        "deserved.capacity",
        f"Queue {queue}{path} deserves {quantities(last['deserved'])}: {origin}"
        f"{_clipped(last['clipped_by'])}; its real capability is {most}.",
        {
            "stated": last["stated"],
            "deserved": last["deserved"],
            "guarantee": last["guarantee"],
            "realCapability": last["realCapability"],
            "clipped_by": last["clipped_by"],
        },
    )


def _clipped(clipped: Mapping[str, str]) -> str:
    by_limit: dict[str, list[str]] = {}
    for resource, limit in clipped.items():
        by_limit.setdefault(limit, []).append(named(resource))
    return "".join(f"; {_LIMITS[limit]} {listed(names)}" for limit, names in by_limit.items())


def _tree_summary(queue: str, levels: Sequence[Object]) -> Reason:
    last = levels[-1]
    state = "saturated, so it comes last" if last["saturated"] else "not saturated"
    held = "holds nothing yet"
    if last["dominantResource"]:
        held = (
            f"dominant share {last['share']:.4g} ({named(last['dominantResource'])}), "
            f"{last['share_per_weight']:.4g} per weight"
        )
    return reason(
        "deserved.tree",
        f"Queue {queue} is {last['node']} in the tree of drf: {held}, {state}.",
        {name: last[name] for name in ("share", "share_per_weight", "weight", "saturated")},
    )


def _plain(value: float) -> str:
    return f"{value:g}"
