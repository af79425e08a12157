"""A search for settings under which a forecast no longer has the harm that its verdict states."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from planning.amounts import read_amounts
from planning.conf_structure import parsed_conf
from planning.experiments.work import OPTIONS
from planning.forecasts.causes import CauseRow
from planning.forecasts.estimate import EVICTING
from planning.forecasts.options import DEFAULTS
from planning.forecasts.verdict import Finding
from scheduler_core.conf import parse_conf
from scheduler_core.errors import InputError
from scheduler_core.resource_list import quantities, read_resource_list

Json = Mapping[str, Any]
MOST_QUEUES = 3
"""The most queues whose settings are tried: those of the first findings."""


def goals_of(findings: Sequence[Finding], others: int) -> list[Json]:
    """Return the goals that a forecast misses: wait targets, and no evictions beyond those outside of loops.

    `others` is how many evictions are outside of loops.
    """
    missed = [one for one in findings if one.kind == "target" and one.figures["status"] == "missed"]
    goals: list[Json] = [
        {"figure": "wait_p95", "queue": one.queue, "at_most": f"{one.figures['target_seconds']:.15g}s"}
        for one in missed
    ]
    has_loops = any(one.kind == "loop" for one in findings)
    return [*goals, {"figure": "evictions", "at_most": others}] if has_loops else goals


def node_for(devices_of: Mapping[str, Collection[str]], requested: Collection[str]) -> str:
    """Return the node of which copies serve some requests best; empty without nodes.

    Parameters
    ----------
    devices_of : mapping
        The devices that each candidate offers, by its name.
    requested : collection of str
        The devices that jobs request.

    >>> nodes = {"gpu": ["nvidia.com/gpu"], "cpu": []}
    >>> node_for(nodes, []), node_for(nodes, ["nvidia.com/gpu"])
    ('cpu', 'gpu')
    """
    wanted = set(requested)

    def unsuitable(name: str) -> tuple[int, int]:
        offered = set(devices_of[name])
        return len(wanted - offered), len(offered - wanted)

    return min(devices_of, key=unsuitable, default="")


def larger_capabilities(
    causes: Sequence[CauseRow], stated: Mapping[str, Mapping[str, Any] | None]
) -> dict[str, Json]:
    """Return twice and four times the capability of queues at which jobs waited, in the resource concerned.

    `stated` is the capability of each queue; twice nothing is nothing, so such a one is left out.
    """
    found: dict[str, Json] = {}
    for row in causes:
        resource, capability = row.resources.get("at_capability", ""), stated.get(row.queue) or {}
        if read_amounts(capability).get(resource):
            setting = {"queue": row.queue, "field": "capability", "resource": resource}
            larger = [read_resource_list({resource: capability[resource]}).multi(factor) for factor in (2, 4)]
            found[row.queue] = {**setting, "values": [quantities(amount)[resource] for amount in larger]}
    return found


def search_of(
    findings: Sequence[Finding],
    others: int,
    *,
    scenario: str,
    forecast: Json,
    of_queue: Mapping[str, Json],
    capabilities: Mapping[str, Json],
    node: str,
    conf_text: str,
) -> Json | None:
    """Return the document of a search; None if the forecast misses no goal or nothing can be varied.

    Parameters
    ----------
    findings : sequence of Finding
        The verdict on the forecast.
    others : int
        How many of its evictions are outside of loops.
    scenario : str
        The scenario to vary.
    forecast : mapping
        The trace and the options of the forecast; options with their default value are left out.
    of_queue : mapping
        The setting to vary of each queue, with values.
    capabilities : mapping
        Larger capabilities of queues that have one, for those that miss a wait target.
    node : str
        The node to add copies of; empty for none.
    conf_text : str
        The scheduler configuration.

    """
    goals = goals_of(findings, others)
    concerned = [one for one in findings if one.kind == "loop" or one.figures.get("status") == "missed"]
    queues = list(dict.fromkeys(one.queue for one in concerned if one.queue in of_queue))[:MOST_QUEUES]
    settings: list[Json] = [{**of_queue[queue], "price": 1} for queue in queues]
    late = [goal["queue"] for goal in goals if goal["figure"] == "wait_p95" and goal["queue"] in queues]
    settings += [{**capabilities[queue], "price": 2} for queue in late if queue in capabilities]
    if late and node:
        settings.append({"like": node, "range": {"from": 1, "to": 4, "step": 1}, "price": 5})
    if any(goal["figure"] == "evictions" for goal in goals) and (calm := _without_evictions(conf_text)):
        settings.append({"actions": True, "values": [calm], "price": 3})
    if not goals or not settings:
        return None
    options = {
        name: forecast[name]
        for name in OPTIONS
        if name != "seeds" and name in forecast and forecast[name] != DEFAULTS[name]
    }
    return {
        "name": f"what helps {scenario}"[:253],
        "scenario": scenario,
        "settings": settings,
        "goals": goals,
        "forecast": {"trace": forecast["trace"], **options},
    }


def _without_evictions(conf_text: str) -> str:
    """Return the actions of a configuration without those that evict.

    Empty if none or all of them do, and for a configuration that v1.15.1 cannot read.
    """
    try:
        actions = parse_conf(parsed_conf(conf_text) or None).actions
    except InputError:
        return ""
    calm = [action for action in actions if action not in EVICTING]
    return ", ".join(calm) if len(calm) < len(actions) else ""
