"""Lint of the total amounts of all queues against the cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from scheduler_core.lint.plan import Plan
from scheduler_core.model.queue import ROOT, QueueInfo
from scheduler_core.problem import Problem
from scheduler_core.resource import Resource, total_of
from scheduler_core.units import compared_texts

Problems = Iterator[Problem]

_PARTS = {
    "guarantee": ("spec", "guarantee", "resource"),
    "deserved": ("spec", "deserved"),
    "capability": ("spec", "capability"),
}


def total_problems(plan: Plan) -> list[Problem]:
    """Return where queues are guaranteed more than the nodes have; nothing without nodes."""
    if plan.total.is_empty():
        return []
    return [*_sums(plan), *_of_each(plan)]


def _sums(plan: Plan) -> Problems:
    quotas = {option.name for option in plan.conf.options()} & {"proportion", "capacity"}
    if quotas:
        yield from _over(
            plan, _counted(plan), "guarantee", "are guaranteed", "lower the guarantees, or add nodes"
        )
    if "capacity" in quotas:
        yield from _over(
            plan, _counted(plan), "deserved", "deserve", "lower the sum to what the cluster has, or add nodes"
        )


def _counted(plan: Plan) -> list[QueueInfo]:
    """Return the queues whose amounts are summed: those below root in a hierarchy, else all."""
    if plan.conf.hierarchy_enabled("capacity"):
        return plan.children.get(ROOT, [])
    return [queue for queue in plan.queues.values() if queue.name != ROOT]


def _over(plan: Plan, queues: Iterable[QueueInfo], part: str, verb: str, fix: str) -> Problems:
    amount: Resource = total_of(getattr(queue, part) for queue in queues)
    for resource in amount.names():
        requested, there = amount.get(resource), plan.total.get(resource)
        if resource != "pods" and there > 0 and requested > there:
            total, whole = compared_texts(resource, requested, there)
            message = f"the queues {verb} {total} in total, but the cluster has {whole}"
            field = ".".join((*_PARTS[part], resource))
            yield Problem(f"total.{part}", "warning", "queues", message, "", field, requested, there, fix)


def _of_each(plan: Plan) -> Problems:
    for queue in plan.queues.values():
        for part, way in _PARTS.items():
            amounts: Resource = getattr(queue, part)
            for resource in amounts.names():
                requested, there = amounts.get(resource), plan.total.get(resource)
                at = (*way, resource)
                if requested > 0 and there <= 0:
                    message = f"no node has any {resource}"
                    fix = "check the spelling, or add nodes that have it"
                    yield plan.problem(
                        queue,
                        "total.resource_unknown",
                        "warning",
                        at,
                        message,
                        actual=requested,
                        limit=0,
                        fix=fix,
                    )
                elif requested > there and queue.name != ROOT and resource != "pods":
                    mine, whole = compared_texts(resource, requested, there)
                    message = f"{mine}; the cluster has {whole}"
                    yield _above(plan, queue, part, at, message, requested, there)


def _above(
    plan: Plan, queue: QueueInfo, part: str, at: tuple[str, ...], message: str, requested: float, there: float
) -> Problem:
    if part == "capability":
        fix = "set at most what the cluster has, or remove it for no limit"
        return plan.problem(
            queue, "total.capability_above", "remark", at, message, actual=requested, limit=there, fix=fix
        )
    fix = "set at most what the cluster has, or add nodes"
    return plan.problem(
        queue, f"total.{part}_above", "warning", at, message, actual=requested, limit=there, fix=fix
    )
