"""What does each queue of a scenario get, as the scenario stands now? The core's answer without a run."""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.core.cache import cache

import manifests
from planner.scenarios.models import Queue, Scenario
from planning.contents import content_of
from planning.demands import demand_from, plain
from planning.frozen import renamed_queues, scenario_objects
from planning.quantities import amounts as read_amounts
from planning.queues import queue_manifest
from planning.releases import release_used
from planning.rows import Amounts, hangs_below
from planning.unlimited import amounts
from planning.version import ENGINE_VERSION
from scheduler_core.conf import parse_conf
from scheduler_core.demand import Demand, QueueDemand, demand_of, queues_at_open
from scheduler_core.errors import InputError
from scheduler_core.queue_fields import unread_fields
from scheduler_core.release import Release
from scheduler_core.resource import Resource

Json = Mapping[str, Any]


@dataclass(frozen=True)
class QueueAnswer:
    """The figures of one queue at the start of a session, and its jobs and pods."""

    queue: str
    in_session: bool
    share: float | None
    deserved: Amounts
    real_capability: Amounts
    allocated: Amounts
    request: Amounts
    guarantee_of_children: Amounts
    deserved_of_children: Amounts
    jobs: int
    running: int
    pending: int


@dataclass(frozen=True)
class Preview:
    """What the queues of a scenario get when a session opens.

    `plugin` is the one that divides, empty when none does; `obstacle` says why capacity would place nothing,
    `error` why the scenario cannot be simulated. `without_effect` gives the reason why a field is not read.
    """

    plugin: str
    obstacle: str
    error: str
    total: Amounts
    queues: Mapping[str, QueueAnswer]
    without_effect: Mapping[str, str]


def figures(scenario: Scenario, queues: Sequence[Queue] | None = None) -> Preview:
    """Return the preview of a scenario (1 query, 1 more for its rows unless `queues` are at hand)."""
    rows = list(scenario.queues.all()) if queues is None else queues
    release = release_used(scenario)
    conf, fault = _conf(scenario.conf_text, release)
    try:
        demand = _under_release(_demand(scenario, rows), scenario.release)
    except InputError as error:
        demand, fault = Demand(Resource(), {}, {}), {"error": str(error)}
    opened: Json = fault or queues_at_open(demand, [queue_manifest(row) for row in rows], conf)
    told = {queue["name"]: queue for queue in opened.get("queues") or ()}
    sums = _Sums(rows)
    return Preview(
        plugin=opened.get("queue_plugin", ""),
        obstacle=opened.get("obstacle", ""),
        error=opened.get("error", ""),
        total=amounts(demand.total.as_dict()),
        queues={
            row.name: _answer(
                row.name,
                told.get(row.name),
                opened.get("without_jobs", {}).get(row.name),
                demand.queues.get(row.name),
                sums,
            )
            for row in rows
        },
        without_effect={} if conf is None and fault else unread_fields(parse_conf(conf, release)),
    )


def demand_keep(content_id: str, demand: Json) -> None:
    """Keep what the jobs of a new snapshot hold and ask for, so that its first page need not count it."""
    cache.set(_key(content_id, ""), demand)


def _demand(scenario: Scenario, rows: Sequence[Queue]) -> Demand:
    """Return what the jobs of a scenario hold and ask for, by the present name of their queue (1 query)."""
    overlay = {(row.kind, row.key): row.manifest for row in scenario.object_changes.all()}
    renamed = renamed_queues(rows)
    if overlay:
        changes = json.dumps([sorted(overlay.items()), renamed], sort_keys=True)
        return _counted(
            _key(scenario.snapshot.content_id, changes),
            lambda: scenario_objects(content_of(scenario.snapshot).document, queues=rows, overlay=overlay),
        )
    demand = _counted(_key(scenario.snapshot.content_id, ""), lambda: content_of(scenario.snapshot).document)
    if not renamed:
        return demand
    return replace(demand, queues={renamed.get(name, name): held for name, held in demand.queues.items()})


def _under_release(demand: Demand, release: str) -> Demand:
    """Return a demand that the release of a scenario reads; empty: the snapshot's."""
    return replace(demand, settings={**demand.settings, "release": release}) if release else demand


def _counted(key: str, document: Callable[[], Json]) -> Demand:
    """Return the demand of a document, which is kept: counting takes seconds for a large cluster."""
    if (kept := cache.get(key)) is not None:
        return demand_from(kept)
    demand = demand_of(document())
    cache.set(key, plain(demand))
    return demand


def _key(content_id: str, changes: str) -> str:
    """Return the name of what is counted from these bytes by this engine."""
    digest = hashlib.sha256(f"{ENGINE_VERSION} {content_id} {changes}".encode()).hexdigest()
    return f"demand-{digest}"


def _conf(text: str, release: Release) -> tuple[Json | None, Json]:
    """Return the configuration as a structure, and why it cannot be used."""
    try:
        structure = manifests.parse_conf(text) if text.strip() else None
        parse_conf(structure, release)
    except (manifests.Unreadable, InputError) as error:
        return None, {"error": str(error)}
    return structure, {}


def _answer(
    name: str, told: Json | None, reach: Json | None, demand: QueueDemand | None, sums: "_Sums"
) -> QueueAnswer:
    """Return the answer of a queue; one that takes no part has nothing but what it could reach."""
    opened: Json = told or {"realCapability": reach}
    return QueueAnswer(
        name,
        in_session=told is not None,
        share=opened.get("share"),
        deserved=amounts(opened.get("deserved")),
        real_capability=amounts(opened.get("realCapability")),
        allocated=amounts(opened.get("allocated")),
        request=amounts(opened.get("request")),
        guarantee_of_children=sums.guarantee.get(name, {}),
        deserved_of_children=sums.deserved.get(name, {}),
        jobs=demand.jobs if demand else 0,
        running=demand.running if demand else 0,
        pending=demand.pending if demand else 0,
    )


class _Sums:
    """What the children of each queue are guaranteed and deserve together, as they state it."""

    def __init__(self, queues: Iterable[Queue]) -> None:
        self.guarantee: dict[str, dict[str, float | None]] = {}
        self.deserved: dict[str, dict[str, float | None]] = {}
        for queue in queues:
            parent = hangs_below(queue.name, queue.parent)
            _add(self.guarantee.setdefault(parent, {}), read_amounts(queue.guarantee))
            _add(self.deserved.setdefault(parent, {}), read_amounts(queue.deserved))


def _add(total: dict[str, float | None], more: Amounts) -> None:
    for name, amount in more.items():
        total[name] = (total.get(name) or 0.0) + (amount or 0.0)
