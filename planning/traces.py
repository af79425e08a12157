"""The parts of a result that pages with explanations read, so that none reads the whole result."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count, islice
from typing import Any

from planning.amounts import bounded
from planning.documents import items
from planning.nodes import pool_name
from planning.pods import requests_of
from planning.rows import Decision
from planning.rows.stored import (
    DECISIONS,
    DECISIONS_IN_A_PART,
    DESERVED,
    LOOPS,
    NODES,
    PENDING,
    PODS,
    POOLS,
    REQUESTS,
    SESSIONS,
    SPARED,
    VICTIMS,
    Part,
    preemptor_key,
)
from scheduler_core.explain.cycle_view import CycleView
from scheduler_core.explain.deserved import derived
from scheduler_core.explain.loops import loops
from scheduler_core.explain.pending import diagnosis
from scheduler_core.explain.victims import spared_candidates, victim_stories

Json = Mapping[str, Any]

_SESSION = ("queue_plugin", "queues", "total_resource")


def parts_of(result: Json, document: Json) -> Iterator[Part]:
    """Return the parts of the core's result for the scenario `document`.

    Those of its explanations are missing when it holds none.
    """
    yield Part.of(PODS, _pods(result["cycles"][-1]))
    yield Part.of(NODES, [cycle["nodes"] for cycle in result["cycles"]])
    yield Part.of(POOLS, _pools(document))
    yield Part.of(REQUESTS, _requests(result["cycles"], document))
    yield Part.of(SESSIONS, bounded([_session(cycle) for cycle in result["cycles"]]))
    if any("explain" in cycle for cycle in result["cycles"]):
        pictures = [CycleView(document, result, cycle["cycle"]) for cycle in result["cycles"]]
        yield Part.of(DESERVED, bounded(_deserved(pictures[-1])))
        yield Part.of(PENDING, bounded(_pending(pictures[-1])))
        yield Part.of(VICTIMS, bounded(list(_victims(pictures))))
        if "loops" in result:
            yield Part.of(LOOPS, bounded(_loops(result, document)))
        for pod, spared in _spared(pictures):
            yield Part.of(SPARED, spared, key=pod)


def packed_decisions(decisions: Iterable[Decision]) -> Iterator[Part]:
    """Yield the parts with the decisions of a run, in order and of fixed size."""
    taken = iter(decisions)
    for number in count():
        some = list(islice(taken, DECISIONS_IN_A_PART))
        if not some:
            return
        yield Part.of(DECISIONS, some, key=f"{number:06}")


def _loops(result: Json, document: Json) -> list[dict[str, Any]]:
    """Return the eviction loops, with the changes that end them."""
    pairs = zip(loops(document, result), result["loops"], strict=True)
    return [{"changes": [], "complete": False, **story, **found} for story, found in pairs]


def _session(cycle: Json) -> dict[str, Any]:
    return {
        "cycle": cycle["cycle"],
        **{moment: {name: cycle[moment].get(name) for name in _SESSION} for moment in ("at_open", "at_end")},
    }


def _pods(cycle: Json) -> dict[str, list[list[str]]]:
    """Return, by job, its pods at the end of a cycle: pod, status, node, why it waits."""
    return {
        job["name"]: [
            [
                task["pod"],
                task["status"],
                task.get("node") or "",
                task.get("message") or "",
            ]
            for task in job["tasks"]
        ]
        for job in cycle["podgroups"]
    }


def _pools(document: Json) -> dict[str, list[str]]:
    """Return the names of the nodes by pool."""
    pools: dict[str, list[str]] = {}
    for node in items(document.get("nodes")):
        pools.setdefault(pool_name(node), []).append(node["metadata"]["name"])
    return pools


def _requests(cycles: Sequence[Json], document: Json) -> dict[str, Any]:
    """Return the requests of pods that decisions are about: kinds of requests, and a kind per pod."""
    decided = {step["pod"] for cycle in cycles for step in cycle["decisions"] if step.get("pod")}
    kinds: dict[str, int] = {}
    pods = {
        pod: kinds.setdefault(json.dumps(request, sort_keys=True), len(kinds))
        for pod, request in requests_of(document, decided).items()
    }
    return {"kinds": [json.loads(kind) for kind in kinds], "pods": pods}


def _deserved(picture: CycleView) -> dict[str, Any]:
    """Return how each queue's deserved amount was calculated."""
    return {queue: derived(picture, queue) for queue in picture.explain["deserved"]}


def _pending(picture: CycleView) -> dict[str, Any]:
    """Return the first obstacle of each waiting job."""
    return {job: found for job in picture.jobs if (found := diagnosis(picture, job)) is not None}


def _victims(pictures: Sequence[CycleView]) -> Iterator[dict[str, Any]]:
    """Return the stories of all victims, by their position among the decisions of all cycles."""
    before = 0
    for picture in pictures:
        for story in victim_stories(picture):
            yield {**story, "order_in_run": before + story["step"]}
        before += len(picture.decisions)


def _spared(pictures: Sequence[CycleView]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Return the spared candidates, by the preemptor (see `preemptor_key`)."""
    spared: dict[str, list[dict[str, Any]]] = {}
    for picture in pictures:
        for entry in spared_candidates(picture):
            reason = bounded(entry["reason"])
            whom = preemptor_key(entry.pop("for"), entry.pop("for_job"))
            spared.setdefault(whom, []).append({"cycle": picture.number, **entry, "reason": reason})
    yield from spared.items()
