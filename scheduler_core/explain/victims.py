"""Stories of victims: why a pod was evicted, and which candidates were not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from scheduler_core.explain.ballots import counts, passed_over
from scheduler_core.explain.cycle_view import CycleView, Object, Unknown, plus
from scheduler_core.explain.enough import fewest, room_before, surplus_of, surplus_reason, total
from scheduler_core.explain.reasons import Reason, reason
from scheduler_core.explain.victim_order import order_reason
from scheduler_core.explain.wording import agreed, capitalised, counted, listed, quantities
from scheduler_core.rendering import plain


def victim_story(document: Object, result: Object, pod: str, *, cycle: int | None = None) -> dict[str, Any]:
    """Return the story of a pod's eviction in the given cycle, else of its first eviction.

    Returns
    -------
    dict
        `pod`, `job`, `queue`, `node`, `cycle`, `step` (its place among the cycle's decisions), `state`,
        `action`, `tier`, `for` (pod, job, queue), `reason`; `votes` (tier, plugin, verdict, whether it counts
        and a reason); `passed_over` (which votes do not count, as a reason; None where all do); `spared`
        (candidates that stayed, each with the plugin that refused it); `left_out` (on how many nodes no
        candidate was considered, as a reason; None if there is none); `order` (what put it first);
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
        view = CycleView(document, result, number)
        for entry in evictions(view):
            if entry["pod"] == view.qualified(pod):
                return story_of(view, entry)
    raise Unknown(f"pod {pod} was not evicted")


def evictions(view: CycleView) -> Iterator[dict[str, Any]]:
    """Yield the recorded evictions of a cycle, with `step` and `state` added."""
    entries = iter(view.explain.get("victims") or ())
    for step, decision in enumerate(view.decisions, start=1):
        if decision["op"] == "evict":
            entry = next(entries, None)
            if entry is not None:
                yield {**entry, "step": step, "state": decision["state"]}


def victim_stories(view: CycleView) -> Iterator[dict[str, Any]]:
    """Yield the stories of all evictions of a cycle, by step, without `spared`: see `spared_candidates`."""
    attempts: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for entry in evictions(view):
        attempts.setdefault(_purpose(entry), []).append(entry)
    stories = [
        _victim(view, entry, together, smallest)
        for together in attempts.values()
        for smallest in [fewest(view, together)]
        for entry in together
    ]
    yield from sorted(stories, key=lambda story: story["step"])


def spared_candidates(view: CycleView) -> Iterator[dict[str, Any]]:
    """Yield the candidates that were not evicted in a cycle, grouped by reason.

    Returns
    -------
    iterator of dict
        `for` (the pod that needed room, empty for a gang), `for_job` (the gang, else empty), `action`,
        `tier`, `plugin`, `reason`, and `nodes`: their names by node.

    """
    groups: dict[tuple[Any, ...], dict[str, Any]] = {}
    node_of = {pod: task.get("node") or "" for pod, task in view.task_of.items()}
    later = _evicted_for(view)
    for entry in view.explain.get("spared") or ():
        pod = entry["pod"]
        by = {
            "for": entry["for"],
            "for_job": entry.get("for_job", ""),
            **{name: entry[name] for name in ("action", "tier", "plugin")},
        }
        key = *by.values(), entry["why"], *map(repr, (entry["numbers"], entry.get("ballots"))), later.get(pod)
        group = groups.get(key)
        if group is None:
            group = groups[key] = {**by, "reason": _why_spared(entry, later), "nodes": {}}
        group["nodes"].setdefault(node_of.get(pod, ""), []).append(pod)
    yield from groups.values()


def story_of(view: CycleView, entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the story of one entry of `evictions`."""
    together = [other for other in evictions(view) if _purpose(other) == _purpose(entry)]
    later = _evicted_for(view)
    return {
        **_victim(view, entry, together, fewest(view, together)),
        "spared": [_spared(view, other, later) for other in _spared_for(view, entry)],
    }


def _victim(
    view: CycleView,
    entry: Mapping[str, Any],
    together: Sequence[Mapping[str, Any]],
    smallest: Mapping[str, Any],
) -> dict[str, Any]:
    freed = total(other["freed"] for other in together)
    for_job = entry.get("for_job") or view.job_of.get(entry["for"], "")
    ballots = entry["ballots"]
    surplus = surplus_of(together, freed)
    room = room_before(together, freed)
    return {
        "pod": entry["pod"],
        "job": entry["job"],
        "queue": entry["queue"],
        "node": entry["node"],
        "cycle": view.number,
        "step": entry["step"],
        "state": entry["state"],
        "action": entry["action"],
        "tier": entry["tier"],
        "for": {"pod": entry["for"], "job": for_job, "queue": view.queue_of_job(for_job)},
        "reason": _headline(view, entry, for_job, len(together)),
        "votes": [_vote(vote, ballots) for vote in entry["votes"]],
        "passed_over": _passed_over(ballots),
        "left_out": _left_out(view, entry["for"]),
        "order": {"place": entry["order"], "reason": order_reason(entry)},
        "freed": entry["freed"],
        "needed": entry["needed"],
        "together": [other["pod"] for other in together],
        "freed_together": plain(freed),
        "surplus": surplus,
        "surplus_reason": surplus_reason(together, freed, surplus),
        "room": None if room is None else plain(room),
        "left": None if room is None else plain(plus(plus(room, freed), entry["needed"], -1.0)),
        "smallest": smallest,
    }


def _purpose(entry: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return a key that victims of one attempt share; a gang's victims are on several nodes."""
    node = entry["node"] if entry["for"] else ""
    return entry["action"], entry["for"], entry.get("for_job"), node


def _headline(view: CycleView, entry: Mapping[str, Any], for_job: str, together: int) -> Reason:
    numbers = {
        "tier": entry["tier"],
        "together": together,
        "freed": entry["freed"],
        "needed": entry["needed"],
    }
    pod = f"pod {entry['pod']} of queue {entry['queue']}"
    did = {
        "committed": f"evicted {pod} from node {entry['node']}",
        "kept": f"selected {pod} on node {entry['node']} but did not evict it",
    }.get(entry["state"], f"failed to evict {pod} from node {entry['node']}")
    accepted = f"{_deciders(entry['ballots'])} accepted it"
    freed = quantities(entry["freed"])
    if not for_job:
        text = f"Action {entry['action']} {did}: {accepted}. It frees {freed}."
        return reason("victim.evicted", text, numbers)
    purpose = f"pod {entry['for']}" if entry["for"] else f"the whole of job {for_job}"
    text = (
        f"Action {entry['action']} {did} to make room for {purpose} of queue {view.queue_of_job(for_job)}: "
        f"{accepted}. It frees {freed}; {quantities(entry['needed'])} requested."
    )
    return reason("victim.evicted", text, numbers)


def _deciders(ballots: Sequence[Mapping[str, Any]]) -> str:
    """Return the tier and the plugins that decided."""
    return f"tier {ballots[-1]['tier']} ({listed(ballots[-1]['plugins'])})"


def _passed_over(ballots: Sequence[Mapping[str, Any]]) -> Reason | None:
    """Return which votes do not count and why; None if the first ballot decided."""
    text = passed_over(ballots)
    if not text:
        return None
    return reason("victims.passed-over", f"{capitalised(text)}.", {"ballots": list(ballots)})


def _vote(vote: Mapping[str, Any], ballots: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    tier, plugin, verdict = vote["tier"], vote["plugin"], vote["verdict"]
    name = "vote.abstain" if verdict == "abstain" else f"vote.{plugin}.{verdict}"
    text = vote["why"] or {"abstain": "no opinion", "permit": "permits it", "refuse": "refuses it"}[verdict]
    return {
        "tier": tier,
        "plugin": plugin,
        "verdict": verdict,
        "counts": counts(ballots, tier, plugin),
        "reason": reason(name, f"{plugin}: {text}", vote["numbers"]),
    }


def _spared_for(view: CycleView, victim: Mapping[str, Any]) -> Iterable[Object]:
    """Return the candidates that the same action did not evict for the same pod or gang."""
    gang = "" if victim["for"] else victim["for_job"]
    purpose = victim["action"], victim["for"], gang
    return (
        entry
        for entry in view.explain.get("spared") or ()
        if (entry["action"], entry["for"], entry.get("for_job", "")) == purpose
    )


def _evicted_for(view: CycleView) -> dict[str, str]:
    """Return the pod or job for which each evicted pod made room."""
    happened = (entry for entry in evictions(view) if entry["state"] == "committed")
    return {entry["pod"]: entry["for"] or entry.get("for_job", "") for entry in happened}


def _spared(view: CycleView, entry: Object, later: Mapping[str, str]) -> dict[str, Any]:
    pod, plugin = entry["pod"], entry["plugin"]
    job = view.job_of.get(pod, "")
    return {
        "pod": pod,
        "job": job,
        "queue": view.queue_of_job(job),
        "node": view.task_of.get(pod, {}).get("node") or "",
        "tier": entry["tier"],
        "plugin": plugin,
        "reason": _why_spared(entry, later),
    }


def _why_spared(entry: Object, later: Mapping[str, str]) -> Reason:
    """Return why a candidate is not evicted: the plugin of the last ballot, and why no earlier one decided.

    A candidate that is spared for one pod may be evicted `later` for another.
    """
    plugin, pod = entry["plugin"], entry["pod"]
    before = passed_over(entry.get("ballots", ()))
    text = f"{plugin}: {entry['why'] or 'refuses it'}" + (f" ({before})" if before else "")
    if pod in later:
        text += f"; evicted later{f' for {later[pod]}' if later[pod] else ''}"
    return reason(f"vote.{plugin}.refuse", text, entry["numbers"])


def _left_out(view: CycleView, pod: str) -> Reason | None:
    nodes = view.explain.get("left_out", {}).get(pod, 0)
    if not nodes:
        return None
    text = (
        f"{counted(nodes, 'more node')} would accept pod {pod} but {agreed(nodes, 'was', 'were')} not "
        "considered: there is no candidate, or evicting every eligible pod would still not free enough."
    )
    return reason("victims.left-out", text, {"nodes": nodes})
