"""Which parts of a result do the pages that say why need, so that none reads the whole of it?"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from planner.engine.unlimited import bounded
from planner.models import Trace

Json = Mapping[str, Any]

_SESSION = ("queue_plugin", "queues", "total_resource")


def traces_of(result: Json) -> Iterator[Trace]:
    """Return the unsaved parts of a result's explanations; none when it holds no explanations."""
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
