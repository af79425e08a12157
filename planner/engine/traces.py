"""Which parts of a result do the pages that say why need, so that none reads the whole of it?"""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from planner.engine.requests import requests_of
from planner.engine.unlimited import bounded
from planner.models import Trace

Json = Mapping[str, Any]

_SESSION = ("queue_plugin", "queues", "total_resource")


def traces_of(result: Json, document: Json) -> Iterator[Trace]:
    """Return the unsaved parts of a result, which the core made of the scenario `document`.

    Those of its explanations are missing when it holds none.
    """
    yield Trace.of(Trace.PODS, _pods(result["cycles"][-1]))
    yield Trace.of(Trace.NODES, [cycle["nodes"] for cycle in result["cycles"]])
    yield Trace.of(Trace.REQUESTS, _requests(result["cycles"], document))
    cycles = [cycle for cycle in result["cycles"] if "explain" in cycle]
    if not cycles:
        return
    yield Trace.of(Trace.SESSIONS, bounded([_session(cycle) for cycle in cycles]))
    yield Trace.of(Trace.VICTIMS, bounded(list(_victims(cycles))))
    for pod, spared in _spared(cycles):
        yield Trace.of(Trace.SPARED, bounded(spared), key=pod)


def _session(cycle: Json) -> dict[str, Any]:
    return {
        "cycle": cycle["cycle"],
        **{moment: {name: cycle[moment].get(name) for name in _SESSION} for moment in ("at_open", "at_end")},
        "deserved": cycle["explain"]["deserved"],
    }


def _pods(cycle: Json) -> dict[str, list[list[str]]]:
    """Return, by job, where its pods stand at the end of a cycle: pod, status, node, why it waits."""
    return {
        job["name"]: [
            [
                task["pod"],
                task["status"],
                task.get("node") or "",
                task.get("message") or task.get("reason") or "",
            ]
            for task in job["tasks"]
        ]
        for job in cycle["podgroups"]
    }


def _requests(cycles: Sequence[Json], document: Json) -> dict[str, Any]:
    """Return what the pods take about which something was decided: kinds of requests, and a kind per pod."""
    decided = {step["pod"] for cycle in cycles for step in cycle["decisions"] if step.get("pod")}
    kinds: dict[str, int] = {}
    pods = {
        pod: kinds.setdefault(json.dumps(request, sort_keys=True), len(kinds))
        for pod, request in requests_of(document, decided).items()
    }
    return {"kinds": [json.loads(kind) for kind in kinds], "pods": pods}


def _victims(cycles: Sequence[Json]) -> Iterator[dict[str, Any]]:
    """Return what was said of each victim, under its place among the decisions of all cycles."""
    before = 0
    for cycle in cycles:
        told = iter(cycle["explain"]["victims"])
        for number, step in enumerate(cycle["decisions"], before + 1):
            if step["op"] == "evict":
                entry = next(told)
                yield {**entry, "cycle": cycle["cycle"], "place": entry["order"], "order": number}
        before += len(cycle["decisions"])


def _spared(cycles: Sequence[Json]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Return the candidates that were spared, by the pod for which room was sought."""
    told = [entry for cycle in cycles for entry in _spared_in(cycle)]
    told.sort(key=lambda entry: entry["for"])
    for pod, entries in groupby(told, key=lambda entry: entry["for"]):
        yield pod, [{name: value for name, value in entry.items() if name != "for"} for entry in entries]


def _spared_in(cycle: Json) -> Iterator[dict[str, Any]]:
    """Return the candidates spared in a cycle, each with its job, queue and node."""
    where = {
        task["pod"]: {"job": job["name"], "queue": job["queue"], "node": task.get("node") or ""}
        for job in cycle["podgroups"]
        for task in job["tasks"]
    }
    for entry in cycle["explain"]["spared"]:
        yield {"cycle": cycle["cycle"], **where.get(entry["pod"], {}), **entry}
