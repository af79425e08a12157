"""Configurations that the scheduler accepts, and the parsing of arguments: ``spec/session.md`` 1."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.reference.pods import FALSE, TRUE

KNOWN_ACTIONS = (
    *("enqueue", "allocate", "backfill", "preempt", "reclaim", "gangpreempt", "gangreclaim", "shuffle"),
)


DEFAULT = {
    "actions": "enqueue, allocate, backfill",
    "tiers": [
        {"plugins": [{"name": name} for name in ("priority", "gang", "conformance")]},
        {
            "plugins": [
                {"name": name} for name in ("overcommit", "drf", "predicates", "proportion", "nodeorder")
            ]
        },
    ],
}


class Refused(Exception):
    """The scheduler refuses the configuration."""


def accepted(conf: Any) -> Mapping[str, Any]:
    """Return a configuration that the scheduler accepts."""
    conf = DEFAULT if conf is None else conf
    if not isinstance(conf, Mapping) or not isinstance(conf.get("actions", ""), str):
        raise Refused("actions are not a text")
    metrics = conf.get("metrics") or {}
    if not isinstance(metrics, Mapping) or any(isinstance(value, (dict, list)) for value in metrics.values()):
        raise Refused("metrics are not a map of texts")
    for name in conf.get("actions", "").split(","):
        if name.strip() not in KNOWN_ACTIONS:
            raise Refused(f"action {name}")
    for tier in conf.get("tiers") or ():
        names = {entry.get("name") for entry in tier.get("plugins") or ()}
        trees = [entry for entry in tier.get("plugins") or () if entry.get("enableHierarchy") is True]
        if "proportion" in names and any(entry["name"] == "drf" for entry in trees):
            raise Refused("proportion and a hierarchy of drf in one tier")
    return {**conf, "tiers": conf.get("tiers") or []}


def as_bool(value: Any, default: bool) -> bool:
    """Return a boolean argument, given as a boolean or a string."""
    if isinstance(value, bool):
        return value
    return value in TRUE if isinstance(value, str) and value in (*TRUE, *FALSE) else default


def as_int(value: Any, default: int) -> int:
    """Return an argument that is a whole number."""
    return value if isinstance(value, int) and not isinstance(value, bool) else default
