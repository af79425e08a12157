"""Why was this pod evicted, who was spared, and were there more victims than needed?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from scheduler_core.explain.picture import Amounts, Object, Picture, Unknown, plus
from scheduler_core.explain.reasons import Reason, reason
from scheduler_core.explain.smallest import Smallest, smallest_set
from scheduler_core.explain.wording import counted, listed, said_all
from scheduler_core.result import plain

_TIES = {
    "uid": "the larger uid",
    "creation": "the younger",
    "index": "the larger index",
    "name": "the later name",
}


def victim_story(document: Object, result: Object, pod: str, *, cycle: int | None = None) -> dict[str, Any]:
    """Return the story of one eviction of a pod: in the given cycle, else in the first in which it happened.

    Returns
    -------
    dict
        `pod`, `job`, `queue`, `node`, `cycle`, `step` (its place among the cycle's decisions), `state`,
        `action`, `tier`, `for` (pod, job, queue), `reason`; `votes` (tier, plugin, verdict and a reason);
        `spared` (candidates refused for the same pod, with the plugin); `left_out` (on how many nodes nobody
        was asked, as a reason; None where all were); `order` (what put it first);
        `freed`, `needed`; `together` (all victims for the same pod and node), `freed_together`, `surplus` and
        `surplus_reason`; `room` (what was free there before the first of them) and `left` (room and freed
        together, less what was needed), both None for a gang, whose victims are on several nodes;
        `smallest` (count, exact, pods, and a reason).

    Raises
    ------
    Unknown
        If the pod was not evicted.

    """
    cycles = [cycle] if cycle is not None else range(1, len(result.get("cycles") or ()) + 1)
    for number in cycles:
        picture = Picture(document, result, number)
        for entry in evictions(picture):
            if entry["pod"] == picture.spelled(pod):
                return story_of(picture, entry)
    raise Unknown(f"pod {pod} was not evicted")


def evictions(picture: Picture) -> Iterator[dict[str, Any]]:
    """Yield the evictions of a cycle with what was kept of each, `step` and `state` added."""
    told = iter(picture.explain.get("victims") or ())
    for step, decision in enumerate(picture.decisions, start=1):
        if decision["op"] == "evict":
            entry = next(told, None)
            if entry is not None:
                yield {**entry, "step": step, "state": decision["state"]}


def victim_stories(picture: Picture) -> Iterator[dict[str, Any]]:
    """Yield the stories of all evictions of a cycle, by step, without `spared`: see `spared_candidates`."""
    attempts: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for entry in evictions(picture):
        attempts.setdefault(_purpose(entry), []).append(entry)
    stories = [
        _told(picture, entry, together, smallest)
        for together in attempts.values()
        for smallest in [_smallest(picture, together)]
        for entry in together
    ]
    yield from sorted(stories, key=lambda story: story["step"])


def spared_candidates(picture: Picture) -> Iterator[dict[str, Any]]:
    """Yield the candidates that were refused in a cycle, those refused for the same reason together.

    Returns
    -------
    iterator of dict
        `for` (the pod for which they were asked about, empty for a gang), `for_job` (the gang, else empty),
        `plugin`, `reason`, and `nodes`: their names by node.

    """
    told: dict[tuple[str, str, str, str, str], dict[str, Any]] = {}
    node_of = {pod: task.get("node") or "" for pod, task in picture.task_of.items()}
    for entry in picture.explain.get("spared") or ():
        whom = {"for": entry["for"], "for_job": entry.get("for_job", "")}
        key = entry["for"], whom["for_job"], entry["plugin"], entry["why"], repr(entry["numbers"])
        group = told.get(key)
        if group is None:
            why = _spared(picture, entry)["reason"]
            group = told[key] = {**whom, "plugin": entry["plugin"], "reason": why, "nodes": {}}
        group["nodes"].setdefault(node_of.get(entry["pod"], ""), []).append(entry["pod"])
    yield from told.values()


def story_of(picture: Picture, entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the story of one eviction that `evictions` gave."""
    together = [other for other in evictions(picture) if _purpose(other) == _purpose(entry)]
    return {
        **_told(picture, entry, together, _smallest(picture, together)),
        "spared": [_spared(picture, other) for other in _spared_for(picture, entry)],
    }


def _told(
    picture: Picture,
    entry: Mapping[str, Any],
    together: Sequence[Mapping[str, Any]],
    smallest: Mapping[str, Any],
) -> dict[str, Any]:
    freed = _sum(other["freed"] for other in together)
    for_job = entry.get("for_job") or picture.job_of.get(entry["for"], "")
    votes = [_vote(vote) for vote in entry["votes"]]
    surplus = _surplus(together, freed)
    room = _room_before(together, freed)
    return {
        "pod": entry["pod"],
        "job": entry["job"],
        "queue": entry["queue"],
        "node": entry["node"],
        "cycle": picture.number,
        "step": entry["step"],
        "state": entry["state"],
        "action": entry["action"],
        "tier": entry["tier"],
        "for": {"pod": entry["for"], "job": for_job, "queue": picture.queue_of_job(for_job)},
        "reason": _headline(picture, entry, for_job, votes, len(together)),
        "votes": votes,
        "left_out": _left_out(picture, entry["for"]),
        "order": {"place": entry["order"], "reason": _order(entry)},
        "freed": entry["freed"],
        "needed": entry["needed"],
        "together": [other["pod"] for other in together],
        "freed_together": plain(freed),
        "surplus": surplus,
        "surplus_reason": _said_surplus(freed, surplus),
        "room": None if room is None else plain(room),
        "left": None if room is None else plain(plus(plus(room, freed), entry["needed"], -1.0)),
        "smallest": smallest,
    }


def _purpose(entry: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return what victims of one attempt have in common; a gang's are on several nodes."""
    node = entry["node"] if entry["for"] else ""
    return entry["action"], entry["for"], entry.get("for_job"), node


def _headline(
    picture: Picture,
    entry: Mapping[str, Any],
    for_job: str,
    votes: Sequence[Mapping[str, Any]],
    together: int,
) -> Reason:
    permits = [
        vote["plugin"] for vote in votes if vote["verdict"] == "permit" and vote["tier"] == entry["tier"]
    ]
    whom = entry["for"] or f"the whole of job {for_job}"
    let_go = f"{listed(permits)} of tier {entry['tier']} let it go" if permits else "no plugin was asked"
    return reason(
        "victim.evicted",
        f"Action {entry['action']} evicted {entry['pod']} of queue {entry['queue']} "
        f"from node {entry['node']} for {whom} of queue {picture.queue_of_job(for_job) or 'nobody'}: "
        f"{let_go}; it frees {said_all(entry['freed'])} of {said_all(entry['needed'])} that are asked for.",
        {"tier": entry["tier"], "together": together, "freed": entry["freed"], "needed": entry["needed"]},
    )


def _vote(vote: Mapping[str, Any]) -> dict[str, Any]:
    verdict = vote["verdict"]
    name = "vote.abstain" if verdict == "abstain" else f"vote.{vote['plugin']}.{verdict}"
    text = (
        vote["why"]
        or {"abstain": "it has no opinion", "permit": "it permits", "refuse": "it refuses"}[verdict]
    )
    told = reason(name, f"{vote['plugin']}: {text}", vote["numbers"])
    return {"tier": vote["tier"], "plugin": vote["plugin"], "verdict": verdict, "reason": told}


def _spared_for(picture: Picture, victim: Mapping[str, Any]) -> Iterable[Object]:
    """Return who was spared when room was sought for the same pod, or for the same gang, as by a victim."""
    gang = "" if victim["for"] else victim["for_job"]
    return (
        entry
        for entry in picture.explain.get("spared") or ()
        if (entry["for"], entry.get("for_job", "")) == (victim["for"], gang)
    )


def _spared(picture: Picture, entry: Object) -> dict[str, Any]:
    pod, plugin = entry["pod"], entry["plugin"]
    job = picture.job_of.get(pod, "")
    return {
        "pod": pod,
        "job": job,
        "queue": picture.queue_of_job(job),
        "node": picture.task_of.get(pod, {}).get("node") or "",
        "plugin": plugin,
        "reason": reason(
            f"vote.{plugin}.refuse", f"{plugin}: {entry['why'] or 'it refuses'}", entry["numbers"]
        ),
    }


def _left_out(picture: Picture, pod: str) -> Reason | None:
    nodes = picture.explain.get("left_out", {}).get(pod, 0)
    if not nodes:
        return None
    text = (
        f"On {counted(nodes, 'other node')} that would take pod {pod} nobody was asked: even if all had left "
        "there whom plugins might let go, too little would have been free."
    )
    return reason("victims.left-out", text, {"nodes": nodes})


def _order(entry: Mapping[str, Any]) -> Reason:
    if "room" not in entry and "first" not in entry and not entry["for"]:
        return reason("order.bundle", "It left with the bundle of its gang that costs least.")
    first = entry.get("first")
    if first is None:
        return reason("order.last", "It was the last one that might have gone.")
    numbers = {name: first[name] for name in ("mine", "theirs") if name in first}
    plugin = first["plugin"]
    if plugin in _TIES:
        key = f"all else being equal {_TIES[plugin]} goes first"
    else:
        key = f"{plugin} decides" + _said_keys(plugin, numbers)
    compared = "queues" if first["compared"] == "none" else first["compared"]
    before = first["before"]
    goes = {
        "queues": f"Its queue loses before that of {before}",
        "jobs": f"Its job loses before that of {before}",
        "tasks": f"It goes before {before}",
    }
    return reason(f"order.{compared}", f"{goes[compared]}: {key}.", {"before": before, **numbers})


def _said_keys(plugin: str, numbers: Mapping[str, Any]) -> str:
    if len(numbers) < 2 or None in numbers.values():
        return ""
    mine, theirs = numbers["mine"], numbers["theirs"]
    if plugin == "gang":
        return " (its gang is complete, the other's is not)" if mine else " (its gang is incomplete)"
    if plugin == "priority":
        return f" (priority {abs(mine)} before {abs(theirs)})"
    return f" ({mine:.4g} against {theirs:.4g})"


# how many


def _surplus(together: Sequence[Mapping[str, Any]], freed: Amounts) -> Amounts:
    """Return what was freed above what was needed beside the room that there was."""
    needed: Object = together[0]["needed"]
    room = _room_before(together, freed) or {}
    told: Amounts = plain(
        {
            name: max(0.0, min(freed[name], room.get(name, 0.0) + freed[name] - needed.get(name, 0.0)))
            for name in freed
        }
    )
    return told


def _room_before(together: Sequence[Mapping[str, Any]], freed: Amounts) -> Amounts | None:
    """Return what the node had free before the first victim left, of all that is needed or freed."""
    room = next((other["room"] for other in together if "room" in other), None)
    if room is None:
        return None
    return {name: room.get(name, 0.0) for name in {**freed, **together[0]["needed"]}}


def _said_surplus(freed: Amounts, surplus: Amounts) -> Reason:
    return reason(
        "victims.surplus",
        f"Together they free {said_all(freed)}; {said_all(surplus)} of it is more than needed.",
        {"freed": freed, "surplus": surplus},
    )


def _smallest(picture: Picture, together: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return how few victims would have been enough on the chosen node or nodes."""
    found = _fewest(picture, together)
    name = "victims.smallest" if found.exact else "victims.lower-bound"
    text = (
        f"{found.count} would have been enough"
        if found.exact
        else f"{found.count} or more would have been needed (a lower bound)"
    )
    return {
        "count": found.count,
        "exact": found.exact,
        "pods": list(found.pods),
        "evicted": len(together),
        "reason": reason(
            name,
            f"{counted(len(together), 'pod')} left for this purpose; {text}.",
            {"evicted": len(together), "smallest": found.count},
        ),
    }


def _fewest(picture: Picture, together: Sequence[Mapping[str, Any]]) -> Smallest:
    """Return how few would have been enough; of pods that were moved for nobody, all of them."""
    for entry in together:
        if "room" in entry:
            return _on_one_node(picture, entry)
        if "chosen" in entry:
            return _for_a_gang(picture, entry)
    return Smallest(len(together), exact=True, pods=[entry["pod"] for entry in together])


def _on_one_node(picture: Picture, start: Mapping[str, Any]) -> Smallest:
    """Return how few of those that were allowed to go would have been enough.

    Where the preemptor's queue was full as well, what its ancestors lacked is not known: a lower bound.
    """
    found = smallest_set(_lacking(start, start.get("queue_short", {})), _amounts(picture, start["allowed"]))
    return Smallest(found.count, exact=False) if "queue_short" in start else found


def _for_a_gang(picture: Picture, start: Mapping[str, Any]) -> Smallest:
    """Return how few of those that were allowed to go would have been enough on the chosen nodes.

    Each node is looked at by itself, pods of one bundle one by one. Where the queue was full as well, at
    least one had to leave it, wherever: a lower bound.
    """
    nodes = start["chosen"].values()
    found = [smallest_set(_lacking(node, {}), _amounts(picture, node["allowed"])) for node in nodes]
    count = sum(on_node.count for on_node in found)
    if "queue_short" in start:
        return Smallest(max(count, 1), exact=False)
    if all(on_node.exact for on_node in found):
        return Smallest(count, exact=True, pods=[pod for on_node in found for pod in on_node.pods])
    return Smallest(count, exact=False)


def _lacking(place: Mapping[str, Any], queue_short: Mapping[str, float]) -> Amounts:
    """Return what must become free on a node, or in a queue that lacks more."""
    lacking = {name: amount - place["room"].get(name, 0.0) for name, amount in place["needed"].items()}
    for name, missing in queue_short.items():
        lacking[name] = max(lacking.get(name, missing), missing)
    return lacking


def _amounts(picture: Picture, pods: Iterable[str]) -> dict[str, Amounts]:
    return {pod: picture.request(pod) for pod in pods}


def _sum(vectors: Iterable[Mapping[str, float]]) -> Amounts:
    total: Amounts = {}
    for vector in vectors:
        total = plus(total, vector)
    return total


# between queues


def flow(document: Object, result: Object, *, cycle: int | None = None) -> list[dict[str, Any]]:
    """Return what went from queue to queue by evictions, the largest number of pods first.

    Returns
    -------
    list of dict
        `from`, `to`, `action`, `pods`, `amounts` and a reason; over all cycles unless one is given. Only
        evictions that took place count; what was `kept` (neither committed nor undone) is counted apart.

    """
    moved: dict[tuple[str, str, str], list[tuple[str, Object]]] = {}
    for number in [cycle] if cycle is not None else range(1, len(result.get("cycles") or ()) + 1):
        picture = Picture(document, result, number)
        for entry in evictions(picture):
            for_job = entry.get("for_job") or picture.job_of.get(entry["for"], "")
            link = entry["queue"], picture.queue_of_job(for_job), entry["action"]
            moved.setdefault(link, []).append((entry["state"], entry["freed"]))
    links = [_link(*link, evicted) for link, evicted in moved.items()]
    return sorted(links, key=lambda link: (-link["pods"], link["from"], link["to"], link["action"]))


def _link(giver: str, taker: str, action: str, evicted: Sequence[tuple[str, Object]]) -> dict[str, Any]:
    states = Counter(state for state, _ in evicted)
    amounts = _sum(freed for state, freed in evicted if state == "committed")
    pods = states["committed"]
    return {
        "from": giver,
        "to": taker,
        "action": action,
        "pods": pods,
        "kept": states["kept"],
        "amounts": plain(amounts),
        "reason": reason(
            "flow.moved",
            f"Action {action} took {counted(pods, 'pod')} of queue {giver} for queue {taker}: "
            f"{said_all(amounts)}.",
            {"pods": pods, "amounts": amounts},
        ),
    }
