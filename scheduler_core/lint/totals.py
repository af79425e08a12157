"""Do the amounts of all queues together fit the cluster?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from scheduler_core.lint.plan import Plan, amount_text
from scheduler_core.model.queue import ROOT, QueueInfo
from scheduler_core.problem import Problem
from scheduler_core.resource import Resource, total_of

Problems = Iterator[Problem]

_PARTS = {
    "guarantee": ("spec", "guarantee", "resource"),
    "deserved": ("spec", "deserved"),
    "capability": ("spec", "capability"),
}


def total_problems(plan: Plan) -> list[Problem]:
    """Return where queues are promised more than the nodes have; nothing while there is no node."""
    if plan.total.is_empty():
        return []
    return [*_sums(plan), *_of_each(plan)]


def _sums(plan: Plan) -> Problems:
    quotas = {option.name for option in plan.conf.options()} & {"proportion", "capacity"}
    if quotas:
        says = "is guaranteed in total: nothing is left for queues without a guarantee"
        yield from _over(plan, _counted(plan), "guarantee", says, "lower the guarantees, or add nodes")
    if "capacity" in quotas:
        says = "is deserved in total: queues cannot all have it and keep reclaiming it from each other"
        yield from _over(
            plan, _counted(plan), "deserved", says, "lower the sum to what the cluster has, or add nodes"
        )


def _counted(plan: Plan) -> list[QueueInfo]:
    """Return the queues whose amounts add up: those below root in a tree, else all."""
    if plan.conf.hierarchy_enabled("capacity"):
        return plan.children.get(ROOT, [])
    return [queue for queue in plan.queues.values() if queue.name != ROOT]


def _over(plan: Plan, queues: Iterable[QueueInfo], part: str, says: str, fix: str) -> Problems:
    amount: Resource = total_of(getattr(queue, part) for queue in queues)
    for resource in amount.names():
        asked, there = amount.get(resource), plan.total.get(resource)
        if resource != "pods" and there > 0 and asked > there:
            message = (
                f"{amount_text(resource, asked)} of {amount_text(resource, there)} in the cluster {says}"
            )
            field = ".".join((*_PARTS[part], resource))
            yield Problem(f"total.{part}", "warning", "queues", message, "", field, asked, there, fix)


def _of_each(plan: Plan) -> Problems:
    for queue in plan.queues.values():
        for part, way in _PARTS.items():
            amounts: Resource = getattr(queue, part)
            for resource in amounts.names():
                asked, there = amounts.get(resource), plan.total.get(resource)
                at = (*way, resource)
                if asked > 0 and there <= 0:
                    says = f"no node has any {resource}"
                    fix = "check the spelling, or add nodes that have it"
                    yield plan.problem(
                        queue, "total.resource_unknown", "warning", at, says, actual=asked, limit=0, fix=fix
                    )
                elif asked > there and queue.name != ROOT and resource != "pods":
                    says = f"{amount_text(resource, asked)}; the cluster has {amount_text(resource, there)}"
                    yield _above(plan, queue, part, at, says, asked, there)


def _above(
    plan: Plan, queue: QueueInfo, part: str, at: tuple[str, ...], says: str, asked: float, there: float
) -> Problem:
    if part == "capability":
        fix = "set at most what the cluster has, or remove it for no limit"
        return plan.problem(
            queue, "total.capability_above", "remark", at, says, actual=asked, limit=there, fix=fix
        )
    fix = "set at most what the cluster has, or add nodes"
    return plan.problem(queue, f"total.{part}_above", "warning", at, says, actual=asked, limit=there, fix=fix)
