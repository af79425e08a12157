"""What does each queue of a scenario get, as the scenario stands now? The core's answer without a run."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.cache import cache

import manifests
from planner.engine.quantities import amounts as read_amounts
from planner.engine.queues import queue_manifest
from planner.engine.unlimited import amounts
from planner.models import Queue, Scenario
from planner.rows import Amounts, hangs_below
from scheduler_core import ENGINE_VERSION
from scheduler_core.conf import parse_conf
from scheduler_core.demand import Demand, QueueDemand, demand_of, queues_at_open
from scheduler_core.errors import InputError
from scheduler_core.queue_fields import unread_fields

Json = Mapping[str, Any]


@dataclass(frozen=True)
class QueueAnswer:
    """What one queue gets when a session opens, and how many jobs and pods are in it."""

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
    """Return the preview of a scenario; `queues` are its rows where they are at hand."""
    rows = list(scenario.queues.all()) if queues is None else queues
    demand = demand_in(scenario)
    conf, fault = _conf(scenario.conf_text)
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
        without_effect={} if fault else unread_fields(parse_conf(conf)),
    )


def demand_in(scenario: Scenario) -> Demand:
    """Return what the jobs of a scenario hold and ask for, by the name of their queue.

    Counting takes seconds for a large cluster, so its outcome is kept under what it was counted from.
    """
    key = f"demand-{ENGINE_VERSION}-{scenario.snapshot.content_id}"
    demand: Demand | None = cache.get(key)
    if demand is None:
        demand = demand_of(scenario.snapshot.content.document())
        cache.set(key, demand, timeout=None)
    return demand


def _conf(text: str) -> tuple[Json | None, Json]:
    """Return the configuration as a structure, and why it cannot be used."""
    try:
        structure = manifests.parse_conf(text) if text.strip() else None
        parse_conf(structure)
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
