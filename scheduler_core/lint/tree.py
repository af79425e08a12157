"""Lint of queue hierarchies that the webhook admits.

Source: volcano ``pkg/scheduler/plugins/capacity/capacity.go``, ``plugins/drf/drf.go``,
``pkg/controllers/queue``, ``pkg/webhooks/admission/queues`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Iterator

from scheduler_core.admission_rules.written import shown
from scheduler_core.framework.extension_points import Point
from scheduler_core.lint.dispatch import answering
from scheduler_core.lint.plan import Plan
from scheduler_core.lint.tiers import QUOTAS
from scheduler_core.model.queue import HIERARCHY, ROOT, QueueInfo
from scheduler_core.problem import Problem, spell_steps
from scheduler_core.queue_fields import unread_fields

Problems = Iterator[Problem]

_WRITTEN = {
    "weight": ("spec", "weight"),
    "priority": ("spec", "priority"),
    "reclaimable": ("spec", "reclaimable"),
    "parent": ("spec", "parent"),
    "guarantee": ("spec", "guarantee"),
    "deserved": ("spec", "deserved"),
    "capability": ("spec", "capability"),
    "affinity": ("spec", "affinity"),
    "dequeueStrategy": ("spec", "dequeueStrategy"),
    "hierarchy": ("metadata", "annotations"),
}


def tree_problems(plan: Plan) -> list[Problem]:
    """Return problems with the effects of queues on sessions and controllers."""
    found = [*_without_effect(plan)]
    for queue in plan.queues.values():
        found += [*_closed(plan, queue), *_path_below_leaf(plan, queue)]
        if plan.conf.first_option("capacity") is not None:
            found += _of_capacity(plan, queue)
        if plan.conf.first_option("proportion") is not None and queue.names_capability:
            found += _of_proportion(plan, queue)
    return found


def _of_capacity(plan: Plan, queue: QueueInfo) -> Problems:
    if plan.conf.hierarchy_enabled("capacity") and queue.name == ROOT:
        yield from _root_of_capacity(plan, queue)
    elif (
        plan.is_leaf(queue)
        and queue.name != ROOT
        and queue.deserved.is_empty()
        and queue.guarantee.is_empty()
        and plan.waiting.get(queue.name)
    ):
        message = "has no deserved amount: its share is always 1"
        if queue.reclaimable:
            message += ", and everything allocated to it may be reclaimed"
        yield plan.problem(
            queue, "queue.deserves_nothing", "warning", ("spec", "deserved"), message,
            limit=plan.waiting[queue.name], fix="set its deserved amount",
        )  # fmt: skip


def _root_of_capacity(plan: Plan, root: QueueInfo) -> Problems:
    named = root.capability
    if not named.is_empty():
        missing = [name for name in plan.total.names() if name != "pods" and named.get(name) <= 0]
        if missing:
            message = (
                f"does not list {', '.join(missing)}: the whole tree then has 0 of it, and any pod that "
                "requests it is rejected"
            )
            fix = f"set {', '.join(missing)}, too, or remove the capability of root"
            yield plan.problem(
                root, "queue.root_partial", "warning", ("spec", "capability"), message, fix=fix
            )
    for part in ("deserved", "guarantee"):
        if not getattr(root, part).is_empty():
            message = "is replaced by the sum of its children"
            yield plan.problem(
                root, "queue.root_replaced", "remark", ("spec", part), message, fix="remove it"
            )


def _of_proportion(plan: Plan, queue: QueueInfo) -> Problems:
    if queue.name == ROOT:
        return
    for resource in ("cpu", "memory"):
        if (
            resource in ((queue.queue.get("spec") or {}).get("capability") or {})
            and queue.capability.get(resource) <= 0
        ):
            message = f"{shown(queue.queue, 'capability', resource)} means no limit here, as if it were unset"
            way = ("spec", "capability", resource)
            fix = "close the queue to reject jobs"
            yield plan.problem(queue, "queue.zero_is_unlimited", "warning", way, message, actual=0, fix=fix)


def _closed(plan: Plan, queue: QueueInfo) -> Problems:
    is_shut = bool(queue.state) and not queue.is_open
    is_read = any(one.plugin in QUOTAS for one in answering(plan.conf, Point.ALLOCATABLE))
    if is_shut and is_read and (waiting := plan.waiting.get(queue.name, 0)):
        jobs = "the job that has not started" if waiting == 1 else f"the {waiting} jobs that have not started"
        message = f"is {queue.state}: allocate places no pod of {jobs}"
        at = ("status", "state")
        yield plan.problem(
            queue, "queue.closed_with_jobs", "warning", at, message, actual=waiting, limit=0, fix="open it"
        )
    if is_shut and queue.name == ROOT:
        message = f"is {queue.state}: Volcano does not close root"
        fix = "open it, and close its children"
        yield plan.problem(queue, "queue.root_closed", "warning", ("status", "state"), message, fix=fix)
    parent = plan.queues.get(queue.parent)
    if parent is not None and queue.is_open and parent.state in ("Closed", "Closing"):
        message = f"is Open below {parent.name}, which is {parent.state}: the controller closes it, too"
        fix = "open the parent, or move the queue"
        yield plan.problem(queue, "queue.parent_closed", "warning", ("status", "state"), message, fix=fix)


def _path_below_leaf(plan: Plan, queue: QueueInfo) -> Problems:
    """Report a drf path that continues below the leaf of another queue, which the webhook admits."""
    if not queue.hierarchy or not plan.conf.hierarchy_enabled("drf"):
        return
    above = next(
        (
            other.name
            for other in plan.queues.values()
            if other is not queue and other.hierarchy and queue.hierarchy.startswith(f"{other.hierarchy}/")
        ),
        "",
    )
    if above:
        message = f"continues below the path of queue {above}: drf then compares a queue with its own node"
        way = ("metadata", "annotations", HIERARCHY)
        yield plan.problem(
            queue, "queue.path_below_leaf", "warning", way, message, fix="end it next to that path"
        )


def _without_effect(plan: Plan) -> Problems:
    """Report, once each, the fields that queues set and nothing reads."""
    for field, reason in unread_fields(plan.conf).items():
        if field not in _WRITTEN:
            continue
        setting = [queue for queue in plan.queues.values() if _sets(queue, field)]
        if setting:
            way = _WRITTEN[field]
            names = ", ".join(queue.name for queue in setting[:3]) + (", …" if len(setting) > 3 else "")
            subject = "1 queue sets" if len(setting) == 1 else f"{len(setting)} queues set"
            message = f"{subject} {spell_steps(*way)} ({names}). {reason}"
            fix = "enable a plugin that reads it, or remove it"
            rule, at = "queue.without_effect", spell_steps(*way)
            yield Problem(rule, "remark", "queues", message, "", at, len(setting), None, fix)


def _sets(queue: QueueInfo, field: str) -> bool:
    """Return whether a queue sets a field to something other than its default."""
    spec = queue.queue.get("spec") or {}
    if field == "hierarchy":
        return bool(queue.hierarchy)
    if field == "parent":
        return queue.parent not in ("", ROOT)
    silent = {"weight": (None, 0, 1), "reclaimable": (None, True), "priority": (None, 0)}
    return spec.get(field) not in silent.get(field, (None, {}, "", "traverse"))
