"""Dispatch of the extension points: which plugins are called in which order, and which tier decides.

Source: volcano ``pkg/scheduler/framework/session_plugins.go`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scheduler_core.conf import PluginOption, SchedulerConf
from scheduler_core.framework.extension_points import Point
from scheduler_core.lint.names import EXTENDER_VERBS, ONLY_WITH_HIERARCHY, POINTS

_ALL = "every plugin votes; all must agree"
_ANY = "every plugin votes; one yes is enough"
_FIRST = "the first plugin that orders the two decides, tier by tier"
_VOTE = "tier by tier: the first rejection decides; a tier that permits ends the vote"
_VICTIMS = (
    "the first tier that picks victims decides: the pods on which its plugins agree; later tiers do not run"
)
_SUM = "every plugin scores; the scores are added"

RULES: Mapping[Point, str] = {
    Point.JOB_ORDER: _FIRST,
    Point.QUEUE_ORDER: _FIRST,
    Point.TASK_ORDER: _FIRST,
    Point.VICTIM_QUEUE_ORDER: f"{_FIRST}; without an answer the reverse queue order",
    Point.JOB_VALID: _ALL,
    Point.JOB_READY: _ALL,
    Point.JOB_STARVING: "the first tier with an answer decides; all its plugins must agree",
    Point.JOB_PIPELINED: _VOTE,
    Point.JOB_ENQUEUEABLE: _VOTE,
    Point.JOB_ENQUEUED: "every plugin is notified",
    Point.OVERUSED: _ANY,
    Point.PREEMPTIVE: _ALL,
    Point.ALLOCATABLE: _ALL,
    Point.PRE_PREDICATE: _ALL,
    Point.PREDICATE: _ALL,
    Point.NODE_ORDER: _SUM,
    Point.BATCH_NODE_ORDER: _SUM,
    Point.PREEMPTABLE: _VICTIMS,
    Point.RECLAIMABLE: _VICTIMS,
    Point.UNIFIED_EVICTABLE: _VICTIMS,
    Point.VICTIM_TASKS: "all victims of the plugins of a tier; the first tier with victims decides",
    Point.SIMULATE_ADD_TASK: _ALL,
    Point.SIMULATE_REMOVE_TASK: _ALL,
    Point.SIMULATE_ALLOCATABLE: _ALL,
    Point.SIMULATE_PREDICATE: _ALL,
}

WITHOUT: Mapping[Point, str] = {
    Point.JOB_STARVING: "no job preempts or reclaims",
    Point.JOB_ORDER: "the older job first, then by name",
    Point.QUEUE_ORDER: "the older queue first, then by name",
    Point.TASK_ORDER: "by the number at the end of the pod's name, then the older one, then by uid",
    Point.VICTIM_QUEUE_ORDER: "the reverse order of queues",
    Point.OVERUSED: "no queue is overused",
    Point.PREEMPTIVE: "every queue may reclaim",
    Point.ALLOCATABLE: "no queue has a limit",
    Point.JOB_ENQUEUEABLE: "every job is enqueued",
    Point.PREEMPTABLE: "no victims",
    Point.RECLAIMABLE: "no victims",
    Point.UNIFIED_EVICTABLE: "no victims",
    Point.VICTIM_TASKS: "no victims",
    Point.NODE_ORDER: "all nodes score the same",
    Point.BATCH_NODE_ORDER: "all nodes score the same",
    Point.JOB_ENQUEUED: "no plugin is notified",
}

_TIER_DECIDES = (_VICTIMS, RULES[Point.JOB_STARVING], RULES[Point.VICTIM_TASKS])


@dataclass(frozen=True)
class PluginCall:
    """A plugin with a callback at an extension point, its tier counted from 1; `on` unless switched off."""

    tier: int
    plugin: str
    on: bool


@dataclass(frozen=True)
class Question:
    """One extension point under a configuration.

    Attributes
    ----------
    switches : tuple of str
        The switches that disable a callback if all of them are false; empty if there are none.
    plugins : tuple of PluginCall
        In the order of the session.
    rule : str
        How the results are combined.
    without : str
        The result without any plugin.
    decides : int or None
        The first tier that is called, if a single tier can decide; None if all are called.

    """

    point: str
    switches: tuple[str, ...]
    plugins: tuple[PluginCall, ...]
    rule: str
    without: str
    decides: int | None


def questions(conf: SchedulerConf) -> list[Question]:
    """Return every extension point with its calls under a configuration."""
    return [_question(conf, point) for point in Point]


def answering(conf: SchedulerConf, point: Point) -> list[PluginCall]:
    """Return the plugins that are called at a point, in order."""
    return [call for call in _able(conf, point) if call.on]


def _question(conf: SchedulerConf, point: Point) -> Question:
    able = _able(conf, point)
    first = next((call.tier for call in able if call.on), None)
    return Question(
        point.label,
        tuple(point.switches),
        tuple(able),
        RULES[point],
        WITHOUT.get(point, "yes"),
        first if RULES[point] in (*_TIER_DECIDES, _VOTE) else None,
    )


def _able(conf: SchedulerConf, point: Point) -> list[PluginCall]:
    return [
        PluginCall(number, option.name, _is_on(option, point))
        for number, tier in enumerate(conf.tiers, 1)
        for option in tier
        if _answers(conf, option, point)
    ]


def _answers(conf: SchedulerConf, option: PluginOption, point: Point) -> bool:
    """Return whether a plugin has a callback, given its arguments and hierarchy."""
    if point not in POINTS.get(option.name, ()):
        return False
    if option.name == "extender":
        return bool(option.arguments.get_str(EXTENDER_VERBS[point]))
    return (option.name, point) not in ONLY_WITH_HIERARCHY or conf.hierarchy_enabled(option.name)


def _is_on(option: PluginOption, point: Point) -> bool:
    return not point.switches or any(option.enabled(switch) for switch in point.switches)
