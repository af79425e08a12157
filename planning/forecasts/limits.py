"""The limits of the queues of a forecast over time, and when they are closed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from planning.amounts import UNLIMITED, read_amounts
from planning.documents import items
from planning.forecasts.demand import events_of
from planning.forecasts.steps import Steps, product
from scheduler_core.conf import SchedulerConf, parse_conf
from scheduler_core.errors import InputError
from scheduler_core.lint.tiers import QUOTAS
from scheduler_core.release import release_of
from scheduler_core.replay.queues import closed, opened
from scheduler_core.replay.timeline import Timeline
from scheduler_core.resource import CPU, MEMORY
from scheduler_core.transitions import replaced

Json = Mapping[str, Any]

RECLAIMING = frozenset({"reclaim", "gangreclaim"})
_OF_QUEUES = ("create", "replace", "close", "open")
"""What an event may do to queues, in the order in which it does."""


def counted_of(document: Json, end: float) -> Steps:
    """Return 1 while a plugin counts the amounts of queues, which limits them, and 0 while none does."""
    return Steps.of((at, float(_counts_queues(conf))) for at, conf in _confs(document, end))


def decided_by_deserved(document: Json, end: float) -> Steps:
    """Return 1 while deserved amounts decide which jobs get room, and 0 while nothing follows from them.

    Plugin proportion places no job that takes its queue above deserved; with capacity such a job only cannot
    reclaim room from others, if an action does so.
    """
    return Steps.of((at, float(_follows_deserved(conf))) for at, conf in _confs(document, end))


def count_notes(document: Json, end: float) -> list[str]:
    """Return a note if no plugin counts queues at a time of a forecast.

    None for a configuration that Volcano rejects, which is an error of the scenario.
    """
    try:
        counted = counted_of(document, end).pairs()
    except InputError:
        return []
    if counted == [(0.0, 1.0)]:
        return []
    when = "While neither" if counted else "As neither"
    return [
        f"{when} plugin capacity nor proportion is configured, nothing counts what queues have: their"
        " deserved, allocated and requested amounts, and what is allocated of the nodes, are 0."
    ]


def _confs(document: Json, end: float) -> Iterator[tuple[float, SchedulerConf]]:
    """Yield the configurations until the end, each with the time of the first session that has it."""
    given = [(0.0, document.get("scheduler_conf"))]
    given += [
        (at, event["scheduler_conf"]) for at, event in _events(document, end) if "scheduler_conf" in event
    ]
    release = release_of(document)
    yield from ((at, parse_conf(conf or None, release)) for at, conf in given)


def _counts_queues(conf: SchedulerConf) -> bool:
    return any(option.name in QUOTAS for option in conf.options())


def _follows_deserved(conf: SchedulerConf) -> bool:
    return conf.first_option("proportion") is not None or not RECLAIMING.isdisjoint(conf.actions)


def capabilities_of(document: Json, end: float, counted: Steps) -> dict[str, dict[str, Steps]]:
    """Return the capability of each queue that has one at any time, by resource, as sessions find it.

    Infinite amounts stand for times without a limit: none is stated, or nothing of cpu or memory, which
    Volcano reads as no limit, or no plugin counts queues. Those of queues above it are not included.
    """
    found: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for time, queue in _specs(document, end):
        stated = read_amounts((queue.get("spec") or {}).get("capability") or {})
        history = found.setdefault(queue["metadata"]["name"], {})
        for resource in {*history, *stated}:
            amount = stated.get(resource)
            is_limit = amount is not None and (amount > 0 or resource not in (CPU, MEMORY))
            limit = amount if amount is not None and is_limit else UNLIMITED
            history.setdefault(resource, [(0.0, UNLIMITED)]).append((time, limit))
    return {
        name: {resource: _while(counted, Steps.of(changes)) for resource, changes in sorted(history.items())}
        for name, history in sorted(found.items())
        if history
    }


def closures_of(document: Json, end: float, counted: Steps) -> dict[str, Steps]:
    """Return 1 while a queue is not open and a plugin counts queues, which then gets none of its jobs a node.

    Only queues that are closed at some time; closing a queue closes those below it.
    """
    queues: list[Json] = [dict(queue) for queue in items(document.get("queues"))]
    history = {name: [(0.0, 1.0)] for name in _shut(queues)}
    for at, event in _events(document, end):
        of_queues = {verb: things for verb in _OF_QUEUES if (things := (event.get(verb) or {}).get("queues"))}
        if not of_queues:
            continue  # an arrival, as most
        was = _shut(queues)
        queues += [{**queue, "status": {}} for queue in items(of_queues.get("create"))]
        for new in items(of_queues.get("replace")):
            queues = replaced(queues, new)
        queues = closed(queues, of_queues.get("close", ()), in_use=())
        queues = opened(queues, of_queues.get("open", ()))
        for name in sorted(was ^ (now := _shut(queues))):
            history.setdefault(name, []).append((at, float(name in now)))
    return {name: product(Steps.of(changes), counted) for name, changes in sorted(history.items())}


def _shut(queues: Iterable[Json]) -> set[str]:
    """Return the queues that are not open; one without a state is."""
    return {
        queue["metadata"]["name"]
        for queue in queues
        if (queue.get("status") or {}).get("state") not in (None, "", "Open")
    }


def _while(counted: Steps, limit: Steps) -> Steps:
    """Return a limit while a plugin counts queues, infinite otherwise."""
    times = np.unique(np.concatenate([[0.0], counted.times, limit.times]))
    return Steps.from_changes(times, np.where(counted.at(times) > 0, limit.at(times), UNLIMITED))


def _specs(document: Json, end: float) -> Iterator[tuple[float, Json]]:
    """Yield each queue at the beginning, and when an event creates or replaces it, in order of time."""
    yield from ((0.0, queue) for queue in items(document.get("queues")))
    for at, event in _events(document, end):
        for verb in ("create", "replace"):
            yield from ((at, queue) for queue in items((event.get(verb) or {}).get("queues")))


def _events(document: Json, end: float) -> Iterator[tuple[float, Json]]:
    """Yield each event until the end with the time of the first session that finds it, in order of time."""
    timeline = Timeline.read(document)
    for event in sorted(events_of(document), key=lambda event: float(event["at"])):
        at = timeline.session_at_or_after(float(event["at"]), 0) * timeline.period
        if at <= end:
            yield at, event
