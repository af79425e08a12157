"""Lint of actions, tiers and plugin order: effects that users do not expect.

Source: volcano ``pkg/scheduler/framework/session_plugins.go``, ``actions/*``, ``plugins/*`` at v1.15.1;
the order of tiers and reclaim: Volcano issue 5896.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import groupby

from scheduler_core.assumptions import shuffle_may_crash
from scheduler_core.conf import SchedulerConf
from scheduler_core.framework.extension_points import Point
from scheduler_core.lint.dispatch import PluginCall, answering
from scheduler_core.lint.finding import conf_finding
from scheduler_core.problem import Problem

Problems = Iterator[Problem]

QUOTAS = ("proportion", "capacity")
EVICTING = ("preempt", "reclaim", "gangpreempt", "gangreclaim")
_RECLAIMING = {"reclaim": Point.RECLAIMABLE, "gangreclaim": Point.UNIFIED_EVICTABLE}
_PREEMPTING = {"preempt": Point.PREEMPTABLE, "gangpreempt": Point.UNIFIED_EVICTABLE}


def tier_problems(conf: SchedulerConf) -> list[Problem]:
    """Return the unexpected effects of the tiers of a configuration that Volcano accepts."""
    return [
        *_plugin_problems(conf),
        *_quota_problems(conf),
        *_reclaim_problems(conf),
        *_victim_problems(conf),
        *_enqueue_problems(conf),
        *_action_problems(conf),
    ]


def _plugin_problems(conf: SchedulerConf) -> Problems:
    counts = Counter(option.name for option in conf.options())
    for name, count in sorted(counts.items()):
        if count > 1:
            message = f"plugin {name} is configured {count} times: the last entry answers each call"
            yield conf_finding(
                "conf.plugin_twice", "warning", ("tiers",), message, actual=count, limit=1, fix="keep one"
            )
    if not counts:
        message = "no plugin is configured: pods go to any node that has room, queues have no limits"
        yield conf_finding(
            "conf.no_plugin", "warning", ("tiers",), message, fix="write the tiers of Volcano's default"
        )
        return
    if "predicates" not in counts:
        message = "plugin predicates is missing: node selectors, affinity, taints and ports are ignored"
        yield conf_finding("conf.no_predicates", "warning", ("tiers",), message, fix="add predicates")
    elif all(one.plugin != "predicates" for one in answering(conf, Point.PRE_PREDICATE)):
        message = "plugin predicates undoes each placement of allocate, as enablePredicate is false"
        fix = "remove enablePredicate"
        yield conf_finding("conf.predicates_off", "warning", ("tiers",), message, fix=fix)
    if "gang" not in counts:
        message = "plugin gang is missing: a job starts with fewer pods than its minMember"
        yield conf_finding("conf.no_gang", "warning", ("tiers",), message, fix="add gang")


def _quota_problems(conf: SchedulerConf) -> Problems:
    entries = [option.name for option in conf.options() if option.name in QUOTAS]
    if len(set(entries)) == 2:
        message = (
            "proportion and capacity are both configured: both limits apply, and their queue orders compete"
        )
        yield conf_finding("conf.two_quotas", "warning", ("tiers",), message, fix="keep one of them")
    if not entries:
        message = "neither proportion nor capacity is configured: queue amounts and states are ignored"
        yield conf_finding(
            "conf.no_quota", "remark", ("tiers",), message, fix="add one of them to limit queues"
        )
    if conf.hierarchy_enabled("drf") and "proportion" in entries:
        message = (
            "drf with hierarchy and proportion are in different tiers, which Volcano accepts (in one tier it "
            "would not): proportion ignores the hierarchy"
        )
        yield conf_finding(
            "conf.tree_and_proportion", "warning", ("tiers",), message, fix="remove proportion"
        )
    if conf.hierarchy_enabled("drf") and conf.hierarchy_enabled("capacity"):
        message = "drf uses the hierarchy of annotations, capacity that of spec.parent: both order the queues"
        yield conf_finding(
            "conf.two_trees", "warning", ("tiers",), message, fix="set enableHierarchy for one of them"
        )


def _reclaim_problems(conf: SchedulerConf) -> Problems:
    for action, point in _RECLAIMING.items():
        if action not in conf.actions:
            continue
        calls = answering(conf, point)
        yield from _bypassed(action, calls)
        if action == "reclaim" and not any(one.plugin in QUOTAS for one in answering(conf, Point.PREEMPTIVE)):
            message = "no queue plugin limits reclaim: every queue may reclaim without a limit"
            fix = "add capacity or proportion"
            yield conf_finding("conf.reclaim_unlimited", "warning", ("actions",), message, fix=fix)


def _bypassed(action: str, calls: list[PluginCall]) -> Problems:
    """Report a quota plugin that is called only where earlier tiers accept no candidate (issue 5896)."""
    quota = next((one for one in calls if one.plugin in QUOTAS and one.tier > calls[0].tier), None)
    if quota is not None:
        before = [one for one in calls if one.tier < quota.tier]
        names = " and ".join(dict.fromkeys(one.plugin for one in before))
        message = (
            f"tier {before[0].tier} ({names}) picks the victims of {action}: {quota.plugin} in tier "
            f"{quota.tier} is called only where no earlier tier accepts a candidate; elsewhere deserved "
            "protects no queue"
        )
        fix = f"put {quota.plugin} into tier {before[0].tier} with {names}"
        yield conf_finding(
            "conf.reclaim_bypasses_quota", "warning", ("tiers", quota.tier - 1), message,
            actual=quota.tier, limit=before[0].tier, fix=fix,
        )  # fmt: skip


def _victim_problems(conf: SchedulerConf) -> Problems:
    for action, point in (_RECLAIMING | _PREEMPTING).items():
        if action not in conf.actions:
            continue
        calls = answering(conf, point)
        if not calls:
            message = f"{action} is configured, but no plugin picks victims for it: it evicts no pods"
            yield conf_finding(
                "conf.no_victims", "warning", ("actions",), message, actual=action, fix="add gang"
            )
            continue
        yield from _passed_on(action, calls)
        yield from _started_again(action, calls)


def _passed_on(action: str, calls: list[PluginCall]) -> Problems:
    gang = next((one for one in calls if one.plugin == "gang"), None)
    later = [one for one in calls if gang and one.tier > gang.tier]
    if gang and later:
        names = ", ".join(dict.fromkeys(one.plugin for one in later))
        message = (
            f"where gang in tier {gang.tier} rejects every candidate, {action} uses the next tier ({names}), "
            "which may break the minMember of a job"
        )
        fix = f"put gang and {names} into one tier, or switch {names} off there"
        at = ("tiers", gang.tier - 1)
        yield conf_finding("conf.gang_passed_over", "remark", at, message, fix=fix)


def _started_again(action: str, calls: list[PluginCall]) -> Problems:
    for tier, together in groupby(calls, key=lambda one: one.tier):
        plugins = [one.plugin for one in together]
        if (count := len(plugins)) > 2:
            names = ", ".join(plugins)
            message = (
                f"{count} plugins of tier {tier} pick victims for {action} ({names}): where the first two "
                "agree on no pod, the choice of the third counts alone"
            )
            fix = "use at most two of these plugins in one tier"
            yield conf_finding(
                "conf.third_opinion", "remark", ("tiers", tier - 1), message, actual=count, limit=2, fix=fix
            )


def _enqueue_problems(conf: SchedulerConf) -> Problems:
    calls = answering(conf, Point.JOB_ENQUEUEABLE)
    if "enqueue" not in conf.actions:
        if calls and "allocate" in conf.actions:
            names = ", ".join(one.plugin for one in calls)
            message = f"action enqueue is missing: allocate takes every job, and {names} do not run"
            yield conf_finding("conf.no_enqueue", "remark", ("actions",), message, fix="start with enqueue")
        return
    yield from _hidden_votes(calls)
    yield from _reserving_votes(calls)
    if "allocate" in conf.actions and conf.actions.index("enqueue") > conf.actions.index("allocate"):
        message = "enqueue runs after allocate: an enqueued job is placed one cycle later"
        yield conf_finding("conf.enqueue_late", "remark", ("actions",), message, fix="put enqueue first")
    yield from _crashing_votes(conf, calls)


def _crashing_votes(conf: SchedulerConf, calls: list[PluginCall]) -> Problems:
    """Report evictions before enqueue if a quota plugin votes, which Volcano may not survive."""
    before = conf.actions[: conf.actions.index("enqueue")]
    evicting = list(dict.fromkeys(action for action in before if action in (*EVICTING, "shuffle")))
    quotas = list(dict.fromkeys(one.plugin for one in calls if one.plugin in QUOTAS))
    if evicting and quotas:
        message = (
            f"enqueue runs after {' and '.join(evicting)}: {' and '.join(quotas)} subtracts what a queue has "
            "above the minMembers of its jobs, evicted pods included, and the scheduler crashes if the "
            "queue has less left"
        )
        at = ("actions",)
        yield conf_finding("conf.enqueue_crashes", "warning", at, message, fix="put enqueue first")


def _hidden_votes(calls: list[PluginCall]) -> Problems:
    """Report votes that a permit in an earlier tier makes irrelevant."""
    first = [one.plugin for one in calls if one.tier == calls[0].tier]
    hidden = [one for one in calls if one.tier > calls[0].tier and one.plugin not in first]
    if not hidden:
        return
    names = " and ".join(dict.fromkeys(one.plugin for one in hidden))
    message = (
        f"a permit of {' and '.join(first)} in tier {calls[0].tier} enqueues a job: the limits of {names} in "
        f"tier {hidden[0].tier} do not apply to enqueue"
    )
    fix = f"put {names} into tier {calls[0].tier}"
    at = ("tiers", hidden[0].tier - 1)
    yield conf_finding(
        "conf.votes_hidden", "warning", at, message, actual=hidden[0].tier, limit=calls[0].tier, fix=fix
    )


def _reserving_votes(calls: list[PluginCall]) -> Problems:
    """Report a quota plugin that makes a reservation for a job that a later plugin rejects."""
    last = {one.tier: position for position, one in enumerate(calls) if one.plugin == "overcommit"}
    for position, quota in enumerate(calls):
        if quota.plugin in QUOTAS and position < last.get(quota.tier, -1):
            message = (
                f"{quota.plugin} runs before overcommit and reserves the job's resources at once: a job that "
                "overcommit then rejects still counts against its queue until the end of the cycle"
            )
            fix = f"put overcommit before {quota.plugin}"
            yield conf_finding("conf.booked_early", "warning", ("tiers", quota.tier - 1), message, fix=fix)


def _action_problems(conf: SchedulerConf) -> Problems:
    evicting = [action for action in conf.actions if action in EVICTING]
    if "allocate" not in conf.actions:
        message = "action allocate is missing: no pod with requests gets a node"
        yield conf_finding("conf.no_allocate", "warning", ("actions",), message, fix="add allocate")
    if "backfill" not in conf.actions:
        message = "action backfill is missing: pods without requests never get a node"
        yield conf_finding("conf.no_backfill", "remark", ("actions",), message, fix="add backfill")
    for action, count in Counter(conf.actions).items():
        if count > 1:
            message = f"action {action} runs {count} times in every cycle"
            yield conf_finding(
                "conf.action_repeated", "remark", ("actions",), message, actual=count, limit=1, fix="keep one"
            )
    if {"preempt", "reclaim"} & set(evicting):
        yield from _starving_problems(conf)
    if "shuffle" in conf.actions and not answering(conf, Point.VICTIM_TASKS):
        message = "shuffle evicts the pods that tdm, pdb or rescheduling picks, and none is active: no effect"
        if not any(option.name == "rescheduling" for option in conf.options()):
            yield conf_finding(
                "conf.shuffle_idle", "warning", ("actions",), message, fix="add tdm or rescheduling"
            )
    if shuffle_may_crash(conf):
        message = (
            "the scheduler crashes when shuffle evicts a pod that tdm picked: it subtracts the pod's "
            "requests from the releasing amounts of the node, which do not contain them"
        )
        fix = (
            "set PANIC_ON_ERROR=false in the environment of the scheduler: it then logs the error and evicts"
        )
        yield conf_finding("conf.shuffle_crashes", "warning", ("actions",), message, fix=fix)


def _starving_problems(conf: SchedulerConf) -> Problems:
    starving = answering(conf, Point.JOB_STARVING)
    if not starving:
        message = "no plugin reports starving jobs: preempt and reclaim do nothing"
        fix = "add priority or gang with enableJobStarving"
        yield conf_finding("conf.nobody_starves", "warning", ("actions",), message, fix=fix)
        return
    together = [one.plugin for one in starving if one.tier == starving[0].tier]
    if "gang" in together and len(together) > 1:
        others = " and ".join(name for name in together if name != "gang")
        message = (
            f"gang and {others} must both report a job as starving: a job that runs with its minMember never "
            "preempts or reclaims for its other pods"
        )
        fix = "set enableJobStarving: false for gang to allow it"
        yield conf_finding(
            "conf.gang_never_starves", "remark", ("tiers", starving[0].tier - 1), message, fix=fix
        )
