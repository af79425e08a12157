"""Whether the victims for one purpose were enough, and whether fewer would have been."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from scheduler_core.explain.cycle_view import Amounts, CycleView, Object, plus
from scheduler_core.explain.reasons import Reason, reason
from scheduler_core.explain.smallest import Smallest, smallest_set
from scheduler_core.explain.wording import agreed, counted, quantities
from scheduler_core.release import Rule, release_of
from scheduler_core.rendering import plain

Victims = Sequence[Mapping[str, Any]]


def total(vectors: Iterable[Mapping[str, float]]) -> Amounts:
    """Return the sum of amounts."""
    summed: Amounts = {}
    for vector in vectors:
        summed = plus(summed, vector)
    return summed


def room_before(together: Victims, freed: Amounts) -> Amounts | None:
    """Return the free amounts on the node before the first eviction, of all needed or freed resources.

    None for a gang, whose victims are on several nodes.
    """
    room = next((other["room"] for other in together if "room" in other), None)
    if room is None:
        return None
    return {name: room.get(name, 0.0) for name in {**freed, **together[0]["needed"]}}


def surplus_of(together: Victims, freed: Amounts) -> Amounts:
    """Return the freed amounts beyond what the node and the queue lacked."""
    needed: Object = together[0]["needed"]
    room = room_before(together, freed) or {}
    queue_short = _queue_short(together) or {}

    missing = {
        name: max(needed.get(name, 0.0) - room.get(name, 0.0), queue_short.get(name, 0.0), 0.0)
        for name in freed
    }
    surplus: Amounts = plain({name: max(0.0, freed[name] - missing[name]) for name in freed})
    return surplus


def surplus_reason(together: Victims, freed: Amounts, surplus: Amounts) -> Reason:
    """Return how much of the freed amounts was needed.

    If the queue was also full, it is unknown what its ancestors lacked: the surplus is an upper bound.
    """
    who = "It frees" if len(together) == 1 else f"Together the {len(together)} pods free"
    beyond = quantities(surplus)
    if not together[0]["needed"]:
        text = f"{who} {quantities(freed)}; no pod waits for it."
    elif beyond == "nothing":
        text = f"{who} {quantities(freed)}, none of it beyond what was needed."
    elif not together[0]["for"]:
        text = f"{who} {quantities(freed)}, {beyond} more than the gang requests."
    else:
        most = "" if _queue_short(together) is None else "at most "
        text = f"{who} {quantities(freed)}, {most}{beyond} more than needed."
    return reason("victims.surplus", text, {"freed": freed, "surplus": surplus})


def _queue_short(together: Victims) -> Mapping[str, float] | None:
    """Return what the preemptor's queue lacked, None if it was not full."""
    return next((other["queue_short"] for other in together if "queue_short" in other), None)


# the fewest victims


def fewest(view: CycleView, together: Victims) -> dict[str, Any]:
    """Return the smallest number of victims that would be enough on the chosen nodes, as far as proven."""
    found = _fewest(view, together)
    exact = found.exact or found.count == len(together)
    if _was_without_effect(view, together[0]):
        found, exact = Smallest(len(together), exact=False), False
    return {
        "count": found.count,
        "exact": exact,
        "pods": list(found.pods) or ([entry["pod"] for entry in together] if exact else []),
        "evicted": len(together),
        "reason": reason(
            "victims.smallest" if exact else "victims.lower-bound",
            _fewest_text(view, together, found),
            {"evicted": len(together), "smallest": found.count},
        ),
    }


def _was_without_effect(view: CycleView, entry: Mapping[str, Any]) -> bool:
    """Return whether pods were evicted on a node although the preemptor was not pipelined to it.

    Releases before 1.15 keep such evictions.
    """
    if not entry["for"]:
        return False
    place = entry["for"], entry["node"]
    steps = view.decisions
    return not any(step["op"] == "pipeline" and (step["pod"], step["node"]) == place for step in steps)


def _fewest_text(view: CycleView, together: Victims, found: Smallest) -> str:
    evicted = f"{counted(len(together), 'pod')} evicted"
    start = together[0]
    release = release_of(view.document)
    if _was_without_effect(view, start):
        return (
            f"{evicted}, although pod {start['for']} got no place on node {start['node']}: release "
            f"{release.name} does not roll such evictions back."
        )
    if found.count == 0:
        return f"{evicted}; none was needed, but reclaim of release {release.name} evicts at least one."
    if not start["for"] and not start.get("for_job"):
        return f"{evicted} to be placed elsewhere; no pod waits for the room."
    if found.count == len(together):
        where = f"on node {start['node']}" if start["for"] else "on the chosen nodes"
        return f"{evicted}; fewer was impossible {where}."
    if found.exact:
        return f"{evicted}; {found.count} would have been enough."
    return f"{evicted}; at least {found.count} {agreed(found.count, 'was', 'were')} needed."


def _fewest(view: CycleView, together: Victims) -> Smallest:
    """Return the smallest number that would have been enough; all of them if evicted for no pod.

    Except for reclaim before 1.15, no action evicts for a single pod that fits without evictions, so at least
    one victim was needed.
    """
    rolls_back = release_of(view.document).follows(Rule.RECLAIM_ROLLBACK)
    for entry in together:
        if "room" in entry:
            found = _on_one_node(view, entry)
            needless = entry["action"] == "reclaim" and not rolls_back
            return found if found.count or needless else Smallest(1, exact=False)
        if "chosen" in entry:
            return _for_a_gang(view, entry)
    return Smallest(len(together), exact=True, pods=[entry["pod"] for entry in together])


def _on_one_node(view: CycleView, start: Mapping[str, Any]) -> Smallest:
    """Return the smallest number of evictable pods that would have been enough.

    A lower bound if the preemptor's queue was also full, since it is unknown what its ancestors lacked, and
    after a dry run, which also calls the filters.
    """
    found = smallest_set(_lacking(start, start.get("queue_short", {})), _amounts(view, start["allowed"]))
    only_resources = "queue_short" not in start and "dry_run" not in start
    return found if only_resources else Smallest(found.count, exact=False)


def _for_a_gang(view: CycleView, start: Mapping[str, Any]) -> Smallest:
    """Return the smallest number of evictable pods that would have been enough on the chosen nodes.

    Each node is considered separately, and pods of one bundle one by one. If the queue was also full, at
    least one of its pods must be evicted on any node: a lower bound.
    """
    nodes = start["chosen"].values()
    found = [smallest_set(_lacking(node, {}), _amounts(view, node["allowed"])) for node in nodes]
    count = sum(on_node.count for on_node in found)
    if "queue_short" in start:
        return Smallest(max(count, 1), exact=False)
    if all(on_node.exact for on_node in found):
        return Smallest(count, exact=True, pods=[pod for on_node in found for pod in on_node.pods])
    return Smallest(count, exact=False)


def _lacking(place: Mapping[str, Any], queue_short: Mapping[str, float]) -> Amounts:
    """Return the amounts that must be freed on a node, or in a queue that lacks more."""
    lacking = {name: amount - place["room"].get(name, 0.0) for name, amount in place["needed"].items()}
    for name, missing in queue_short.items():
        lacking[name] = max(lacking.get(name, missing), missing)
    return lacking


def _amounts(view: CycleView, pods: Iterable[str]) -> dict[str, Amounts]:
    return {pod: view.request(pod) for pod in pods}
