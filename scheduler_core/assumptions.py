"""Notes on the assumptions of a result, under which it may differ from the real cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.conf import MODELLED_PLUGINS, UNMODELLED_PLUGINS, SchedulerConf
from scheduler_core.cycles import ClusterTransition
from scheduler_core.model.unmodelled import NOT_MODELLED
from scheduler_core.release import release_of

SAMPLED_ABOVE = 100
"""The number of nodes above which Volcano samples (minimum-feasible-nodes)."""


def release_notes(document: Mapping[str, Any]) -> list[str]:
    """Return the note that the nearest known release is simulated, none if the release itself is known."""
    named, release = document.get("release"), release_of(document)
    if named is None or named == release.name:
        return []
    return [f"Assumed: Volcano {named} decides as {release.name} does, the nearest known release."]


def plugin_notes(conf: SchedulerConf) -> list[str]:
    """Return the notes on configured plugins that are not modelled."""
    notes = []
    for name in sorted({option.name for option in conf.options()}):
        if name in MODELLED_PLUGINS:
            continue
        if name in UNMODELLED_PLUGINS:
            notes.append(f'{NOT_MODELLED}plugin "{name}": {UNMODELLED_PLUGINS[name]}.')
        else:
            notes.append(f'Ignored: plugin "{name}". It does not exist in Volcano {conf.release.name}.')
    return notes


def shuffle_may_crash(conf: SchedulerConf) -> bool:
    """Return whether shuffle may evict a pod that tdm picked, which crashes Volcano by default."""
    evicts = any(option.name == "tdm" and option.enabled("enabledVictim") for option in conf.options())
    return evicts and "shuffle" in conf.actions


def crash_notes(conf: SchedulerConf) -> list[str]:
    """Return the note that a crash of Volcano is not simulated, if the configuration may cause it."""
    if not shuffle_may_crash(conf):
        return []
    return [
        "Assumed: the scheduler runs with PANIC_ON_ERROR=false. By default it crashes when shuffle evicts a"
        " pod that tdm picked."
    ]


def node_notes(nodes: int) -> list[str]:
    """Return the note that Volcano samples the nodes of a cluster that large, if it does."""
    if nodes <= SAMPLED_ABOVE:
        return []
    percentage = max(5, 50 - nodes // 125)
    enough = max(SAMPLED_ABOVE, nodes * percentage // 100)
    return [
        f"Assumed: every pod may use any of the {nodes:,} nodes. By default Volcano stops looking once it has"
        f" found {enough:,} feasible ones, so it may choose another node."
    ]


def cycle_notes(cycles: int, after: ClusterTransition) -> list[str]:
    """Return the notes on assumptions about the time between cycles."""
    if cycles == 1:
        return []
    late = after.termination_cycles
    gone = f"terminate for {late} cycle{'s' if late > 1 else ''}" if late else "are gone at the next cycle"
    again = "come back as pending pods" if after.requeue else "are not created again"
    return [
        f"Assumed: {after.cycle_seconds:g} s between cycles. Placed pods run from the next cycle on and"
        f" do not finish; evicted pods {gone} and {again}; no other pod is created."
    ]
