"""The configurations and clusters under which a session may be calm."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.conf import SchedulerConf
from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.session import Session

PLUGINS = frozenset(
    {
        "binpack",
        "capacity",
        "conformance",
        "drf",
        "gang",
        "nodeorder",
        "overcommit",
        "predicates",
        "priority",
        "proportion",
    }
)
"""Plugins that read only queues, nodes and the kind of a job in a calm session."""
ACTIONS = frozenset({"enqueue", "allocate", "preempt", "reclaim", "backfill"})
EXACT = 2.0**52


def may_be_calm(document: Mapping[str, Any], conf: SchedulerConf) -> bool:
    """Return whether a replay of simple jobs has calm sessions under a configuration."""
    return places_at_once(document) and _has_simple_plugins(conf)


def places_at_once(document: Mapping[str, Any]) -> bool:
    """Return whether pods run as soon as they are bound, and only the scheduler acts on them."""
    replay = document["replay"]
    delays = float(replay.get("start_delay_seconds") or 0) or replay.get("pull_seconds")
    return not delays and document.get("controllers") is not True


def _has_simple_plugins(conf: SchedulerConf) -> bool:
    names = {option.name for option in conf.options()}
    return (
        names <= PLUGINS
        and "predicates" in names
        and set(conf.actions) <= ACTIONS
        and conf.actions[:2] == ("enqueue", "allocate")
    )


def is_simple(session: Session) -> bool:
    """Return whether all plugins and actions read only queues, nodes and kinds of jobs in a calm session.

    All amounts must be whole numbers, which add up exactly in any order; pods must count on their nodes by
    number and amounts alone.
    """
    nodes = session.nodes
    return (
        _has_simple_plugins(session.conf)
        and session.is_renewable
        and not session.reasons
        and session.has_sound_parents
        and session.functions.classes_are_shapes
        and session.functions.same_for_equal_jobs(Point.JOB_VALID, Point.ALLOCATABLE, Point.PREEMPTIVE)
        and session.k8s_nodes.counts_amounts
        and session.snapshot.sums.are_exact()
        and all(nodes.names_scalars)
        and bool((nodes.allocatable % 1 == 0).all() and (nodes.allocatable < EXACT).all())
    )
