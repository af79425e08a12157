"""Edits of the configuration that fix findings, as JSON patch operations (RFC 6902)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from scheduler_core.conf import SchedulerConf
from scheduler_core.framework.extension_points import Point
from scheduler_core.lint.dispatch import answering
from scheduler_core.lint.tiers import QUOTAS
from scheduler_core.problem import Problem

Operations = list[dict[str, Any]]

_STEP = re.compile(r'\[(\d+)\]|\["((?:[^"\\]|\\.)*)"\]|\.?([A-Za-z_][A-Za-z0-9_-]*)')


def remedy(problem: Problem, conf: SchedulerConf | None) -> Operations:
    """Return the operations that fix a configuration finding; empty if no single edit does.

    `conf` is None if Volcano rejects the configuration.
    """
    if problem.rule in _TAKEN_AWAY:
        return [_remove(*_steps(problem.field))]
    fix = _FIXES.get(problem.rule)
    return fix(conf, problem) if fix and conf is not None else []


def _steps(field: str) -> list[str | int]:
    """Return the steps of a field such as ``tiers[0].plugins[1]["a.b"]``."""
    return [
        int(index) if index else re.sub(r"\\(.)", r"\1", quoted) or name
        for index, quoted, name in _STEP.findall(field)
    ]


def _pointer(*steps: str | int) -> str:
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)


def _remove(*steps: str | int) -> dict[str, Any]:
    return {"op": "remove", "path": _pointer(*steps)}


def _move(source: tuple[int, int], target: tuple[int, int]) -> dict[str, Any]:
    """Move a plugin, given by tier and position."""
    (tier, place), (to_tier, to_place) = source, target
    return {
        "op": "move",
        "from": _pointer("tiers", tier, "plugins", place),
        "path": _pointer("tiers", to_tier, "plugins", to_place),
    }


def _ordered(actions: list[str]) -> Operations:
    return [{"op": "replace", "path": "/actions", "value": ", ".join(actions)}]


def _begin_with_enqueue(conf: SchedulerConf, _: Problem) -> Operations:
    return _ordered(["enqueue", *(action for action in conf.actions if action != "enqueue")])


def _allocate(conf: SchedulerConf, _: Problem) -> Operations:
    place = conf.actions.index("enqueue") + 1 if "enqueue" in conf.actions else 0
    return _ordered([*conf.actions[:place], "allocate", *conf.actions[place:]])


def _backfill(conf: SchedulerConf, _: Problem) -> Operations:
    return _ordered([*conf.actions, "backfill"])


def _once(conf: SchedulerConf, _: Problem) -> Operations:
    return _ordered(list(dict.fromkeys(conf.actions)))


def _quota_first(conf: SchedulerConf, problem: Problem) -> Operations:
    """Move the quota plugin that is called too late to the end of the deciding tier."""
    late = problem.actual - 1
    place = next(number for number, option in enumerate(conf.tiers[late]) if option.name in QUOTAS)
    return _gathered(conf, [(late, place)], problem.limit - 1)


def _votes_together(conf: SchedulerConf, problem: Problem) -> Operations:
    first = problem.limit - 1
    voting = {(call.tier - 1, call.plugin) for call in answering(conf, Point.JOB_ENQUEUEABLE)}
    later = [
        (tier, place)
        for tier, options in enumerate(conf.tiers)
        for place, option in enumerate(options)
        if tier > first and (tier, option.name) in voting
    ]
    return _gathered(conf, later, first)


def _gathered(conf: SchedulerConf, later: list[tuple[int, int]], tier: int) -> Operations:
    """Move plugins of later tiers to the end of a tier, in order; remove tiers that become empty."""
    moves = [_move(source, (tier, len(conf.tiers[tier]))) for source in reversed(later)]
    left = sorted({other for other, _ in later}, reverse=True)
    emptied = [other for other in left if len(conf.tiers[other]) == sum(one[0] == other for one in later)]
    return [*moves, *(_remove("tiers", other) for other in emptied)]


def _overcommit_first(conf: SchedulerConf, problem: Problem) -> Operations:
    tier = int(_steps(problem.field)[1])
    names = [option.name for option in conf.tiers[tier]]
    quota = next(place for place, name in enumerate(names) if name in QUOTAS)
    return [_move((tier, names.index("overcommit", quota)), (tier, quota))]


def _plugin(name: str, *, last: bool) -> Callable[[SchedulerConf, Problem], Operations]:
    def added(conf: SchedulerConf, _: Problem) -> Operations:
        if not conf.tiers or not all(conf.tiers):
            return []
        tier = len(conf.tiers) - 1 if last else 0
        return [{"op": "add", "path": _pointer("tiers", tier, "plugins", "-"), "value": {"name": name}}]

    return added


_TAKEN_AWAY = frozenset(["conf.empty_tier", "conf.switch_idle", "conf.argument_retired"])
_FIXES: Mapping[str, Callable[[SchedulerConf, Problem], Operations]] = {
    "conf.reclaim_bypasses_quota": _quota_first,
    "conf.votes_hidden": _votes_together,
    "conf.booked_early": _overcommit_first,
    "conf.no_predicates": _plugin("predicates", last=True),
    "conf.no_gang": _plugin("gang", last=False),
    "conf.no_allocate": _allocate,
    "conf.no_backfill": _backfill,
    "conf.no_enqueue": _begin_with_enqueue,
    "conf.enqueue_late": _begin_with_enqueue,
    "conf.enqueue_crashes": _begin_with_enqueue,
    "conf.action_repeated": _once,
}
