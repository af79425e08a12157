"""Remedies in the scheduler configuration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scheduler_core.conf import OFF_BY_DEFAULT
from scheduler_core.explain.remedies.remedy import Remedy, configured
from scheduler_core.explain.remedies.waiting import Waiting

_EVICTING = ("preempt", "reclaim", "gangpreempt", "gangreclaim")
_VOTERS = frozenset({"capacity", "cdp", "conformance", "drf", "gang", "pdb", "priority", "proportion", "tdm"})

# The switches that can block a job, the actions that read them (none: all), and the plugins concerned.
_SWITCHES: tuple[tuple[str, frozenset[str], frozenset[str]], ...] = (
    (
        "enableJobEnqueued",
        frozenset({"enqueue"}),
        frozenset({"capacity", "overcommit", "proportion", "resourcequota", "sla"}),
    ),
    ("enabledOverused", frozenset({"allocate", "reclaim"}), frozenset({"capacity", "proportion"})),
    ("enabledAllocatable", frozenset(), frozenset({"capacity", "proportion"})),
    (
        "enableReclaimable",
        frozenset({"reclaim"}),
        frozenset({"capacity", "cdp", "conformance", "drf", "gang", "pdb", "proportion"}),
    ),
    (
        "enablePreemptable",
        frozenset({"preempt"}),
        frozenset({"cdp", "conformance", "drf", "gang", "pdb", "priority", "tdm"}),
    ),
    ("enablePreemptive", frozenset({"reclaim"}), frozenset({"capacity", "proportion"})),
    ("enableJobStarving", frozenset({"preempt", "reclaim"}), frozenset({"gang", "priority"})),
)


def action_remedies(waiting: Waiting) -> Iterator[Remedy]:
    """Yield remedies that add a missing action or remove enqueue."""
    conf, actions = waiting.conf, list(waiting.view.actions)
    others = {
        **{
            f"action {name} added": _with(actions, name)
            for name in ("allocate", "reclaim", "preempt", "backfill")
        },
        "action enqueue left out": [name for name in actions if name != "enqueue"],
    }
    for what, after in others.items():
        if after and after != actions:
            yield configured("unblock.actions", what, conf, {**conf, "actions": ", ".join(after)})


def _with(actions: Sequence[str], name: str) -> list[str]:
    """Return actions with one more: allocate after enqueue, the others at the end."""
    if name in actions:
        return list(actions)
    if name == "allocate":
        place = actions.index("enqueue") + 1 if "enqueue" in actions else 0
        return [*actions[:place], name, *actions[place:]]
    return [*actions, name]


def switch_remedies(waiting: Waiting) -> Iterator[Remedy]:
    """Yield remedies that turn off a switch with which a plugin blocks jobs or protects pods."""
    conf, actions = waiting.conf, set(waiting.view.actions)
    tiers: list[Any] = list(conf.get("tiers") or ())
    for switch, readers, plugins in _SWITCHES:
        if readers and not readers & actions:
            continue
        for number, tier in enumerate(tiers):
            for plugin in tier.get("plugins") or ():
                if plugin.get("name") in plugins and _is_on(plugin, switch):
                    after = {**plugin, switch: False}
                    yield configured(
                        "unblock.switches",
                        f"switch {plugin['name']}.{switch} off",
                        conf,
                        {**conf, "tiers": _replaced(tiers, number, plugin, after)},
                    )


def _is_on(plugin: Mapping[str, Any], switch: str) -> bool:
    value = plugin.get(switch)
    return switch not in OFF_BY_DEFAULT if value is None else bool(value)


def _replaced(tiers: Sequence[Any], number: int, plugin: Any, after: Any) -> list[Any]:
    changed = [after if entry is plugin else entry for entry in tiers[number]["plugins"]]
    return [*tiers[:number], {**tiers[number], "plugins": changed}, *tiers[number + 1 :]]


def tier_remedies(waiting: Waiting) -> Iterator[Remedy]:
    """Yield remedies that move a plugin that votes on victims to another tier."""
    if not set(_EVICTING) & set(waiting.view.actions):
        return
    conf = waiting.conf
    tiers: list[Any] = list(conf.get("tiers") or ())
    for number, tier in enumerate(tiers):
        for plugin in tier.get("plugins") or ():
            if plugin.get("name") not in _VOTERS:
                continue
            for target in range(len(tiers) + 1):
                if target != number and (target < len(tiers) or len(tier["plugins"]) > 1):
                    what = f"plugin {plugin['name']} in tier {target + 1} instead of {number + 1}"
                    if len(tier["plugins"]) == 1:
                        what += ", which is then empty and left out"
                    moved = {**conf, "tiers": _moved(tiers, number, target, plugin)}
                    yield configured("unblock.tiers", what, conf, moved)


def _moved(tiers: Sequence[Any], number: int, target: int, plugin: Any) -> list[Any]:
    plugins = [[entry for entry in tier.get("plugins") or () if entry is not plugin] for tier in tiers]
    if target == len(tiers):
        plugins.append([plugin])
    else:
        plugins[target] = [*plugins[target], plugin]
    return [{"plugins": entries} for entries in plugins if entries]
