"""Preview of a scenario's queues: the core's figures without a run."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import manifests
from planning.amounts import limited_amounts, read_amounts
from planning.deficits import share_of
from planning.queues import QueueFields, queue_manifest
from planning.rows import Amounts, hangs_below
from scheduler_core.conf import parse_conf
from scheduler_core.demand import Demand, QueueDemand, queues_at_open
from scheduler_core.errors import InputError
from scheduler_core.queue_fields import unread_fields
from scheduler_core.release import Release, release_of
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
    """The figures of the queues when a session opens.

    `plugin` is the one that divides the cluster, empty if none does; `obstacle` says why capacity would place
    nothing, `error` why the scenario cannot be simulated. `without_effect` gives the reason why a field is
    not read.
    """

    plugin: str
    obstacle: str
    error: str
    total: Amounts
    queues: Mapping[str, QueueAnswer]
    without_effect: Mapping[str, str]


def queue_preview(
    queues: Sequence[QueueFields], conf_text: str, demand_of_queues: Callable[[], Demand]
) -> Preview:
    """Return the figures of queues under a configuration, given the demand of their jobs.

    The release whose rules apply is that of the demand.
    """
    refused = ""
    try:
        demand = demand_of_queues()
    except InputError as error:
        demand, refused = Demand(Resource(), {}, {}), str(error)
    release = release_of(demand.settings)
    conf, fault = _conf(conf_text, release)
    if refused:
        fault = {"error": refused}
    opened: Json = fault or queues_at_open(demand, [queue_manifest(row) for row in queues], conf)
    found = {queue["name"]: queue for queue in opened.get("queues") or ()}
    sums = _Sums(queues)
    return Preview(
        plugin=opened.get("queue_plugin", ""),
        obstacle=opened.get("obstacle", ""),
        error=opened.get("error", ""),
        total=limited_amounts(demand.total.as_dict()),
        queues={
            row.name: _answer(
                row.name,
                found.get(row.name),
                opened.get("without_jobs", {}).get(row.name),
                demand.queues.get(row.name),
                sums,
            )
            for row in queues
        },
        without_effect=fields_without_effect(conf_text, release),
    )


def fields_without_effect(conf_text: str, release: Release) -> Mapping[str, str]:
    """Return the fields of queues that a configuration does not read, each with the reason."""
    conf, fault = _conf(conf_text, release)
    return {} if conf is None and fault else unread_fields(parse_conf(conf, release))


def preview_from(plain: Json) -> Preview:
    """Return a preview from its plain form (`dataclasses.asdict`), in which it is cached."""
    queues = {name: QueueAnswer(**answer) for name, answer in plain["queues"].items()}
    return Preview(**{**plain, "queues": queues})


def renamed_demand(demand: Demand, renamed: Mapping[str, str]) -> Demand:
    """Return a snapshot's demand by the current names of its queues."""
    if not renamed:
        return demand
    return replace(demand, queues={renamed.get(name, name): held for name, held in demand.queues.items()})


def under_release(demand: Demand, release: str) -> Demand:
    """Return the demand as the release of a scenario reads it; empty: the snapshot's release."""
    return replace(demand, settings={**demand.settings, "release": release}) if release else demand


def _conf(text: str, release: Release) -> tuple[Json | None, Json]:
    """Return the configuration as a structure, and why it cannot be used."""
    try:
        structure = manifests.parse_conf(text) if text.strip() else None
        parse_conf(structure, release)
    except (manifests.Unreadable, InputError) as error:
        return None, {"error": str(error)}
    return structure, {}


def _answer(
    name: str, found: Json | None, reach: Json | None, demand: QueueDemand | None, sums: "_Sums"
) -> QueueAnswer:
    """Return the figures of a queue; one outside the session has only its real capability."""
    opened: Json = found or {"realCapability": reach}
    return QueueAnswer(
        name,
        in_session=found is not None,
        share=share_of(opened),
        deserved=limited_amounts(opened.get("deserved")),
        real_capability=limited_amounts(opened.get("realCapability")),
        allocated=limited_amounts(opened.get("allocated")),
        request=limited_amounts(opened.get("request")),
        guarantee_of_children=sums.guarantee.get(name, {}),
        deserved_of_children=sums.deserved.get(name, {}),
        jobs=demand.jobs if demand else 0,
        running=demand.running if demand else 0,
        pending=demand.pending if demand else 0,
    )


class _Sums:
    """The sums of guarantee and deserved of each queue's children, as specified."""

    def __init__(self, queues: Iterable[QueueFields]) -> None:
        self.guarantee: dict[str, dict[str, float | None]] = {}
        self.deserved: dict[str, dict[str, float | None]] = {}
        for queue in queues:
            parent = hangs_below(queue.name, queue.parent)
            _add(self.guarantee.setdefault(parent, {}), read_amounts(queue.guarantee))
            _add(self.deserved.setdefault(parent, {}), read_amounts(queue.deserved))


def _add(total: dict[str, float | None], more: Amounts) -> None:
    for name, amount in more.items():
        total[name] = (total.get(name) or 0.0) + (amount or 0.0)
