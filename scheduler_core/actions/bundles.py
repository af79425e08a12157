"""Bundles of a job's tasks: those evictable without breaking its gang, and the rest.

Source: volcano ``pkg/scheduler/actions/utils/bundle.go`` at v1.15.1.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cmp_to_key
from typing import NamedTuple

from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.model.status import READY_STATUSES, TaskStatus
from scheduler_core.resource import Resource, total_of


class Bundle(NamedTuple):
    """Tasks of one job that are evicted together.

    Attributes
    ----------
    tasks : list
        The less important ones first.
    safe : bool
        Whether the job's gang remains as ready without them.
    cost : Resource
        The amount that their eviction wastes: nothing, or all that the job has allocated and requests.

    """

    job: JobInfo
    tasks: list[TaskInfo]
    safe: bool
    cost: Resource

    def return_on(self, need: Resource) -> float:
        """Return the part of the need met per cost, both relative to the need; infinite without cost."""
        cost = sum(self.cost.get(name) / need.get(name) for name in need.names())
        if cost == 0:
            return math.inf
        benefit = total_of(task.request for task in self.tasks)
        return sum(min(benefit.get(name), need.get(name)) / need.get(name) for name in need.names()) / cost


def bundles_of(job: JobInfo, candidates: Iterable[TaskInfo]) -> list[Bundle]:
    """Return a job's candidates as a safe bundle and a bundle that would break the gang, if not empty.

    A task is safe as long as the job, and its role if minimums per role apply, has more than its minimum. In
    a job below its minimum all tasks are safe.
    """
    tasks = sorted(candidates, key=lambda task: (task.priority, task.uid))
    surplus = job.ready_count - job.min_available
    if surplus < 0:
        return [Bundle(job, tasks, safe=True, cost=Resource())]
    role_surplus = _role_surplus(job)
    safe, rest = [], []
    for task in tasks:
        if surplus > 0 and role_surplus.get(task.role, 1) > 0:
            surplus -= 1
            if task.role in role_surplus:
                role_surplus[task.role] -= 1
            safe.append(task)
        else:
            rest.append(task)
    bundles = [Bundle(job, safe, safe=True, cost=Resource())] if safe else []
    if rest:
        bundles.append(Bundle(job, rest, safe=False, cost=job.total_request()))
    return bundles


def _role_surplus(job: JobInfo) -> dict[str, int]:
    """Return how many tasks each role has above its minimum; empty if minimums per role do not apply."""
    if not job.role_minimums_apply:
        return {}
    ready = Counter(task.role for task in job.tasks_in(READY_STATUSES))
    ready.update(task.role for task in job.by_status[TaskStatus.PENDING].values() if task.best_effort)
    return {role: ready[role] - minimum for role, minimum in job.task_min_available.items()}


def allowed_part(bundles: Iterable[Bundle], allowed: Collection[str]) -> list[Bundle]:
    """Return the bundles reduced to the tasks with these uids.

    A safe bundle is reduced; the other kind is kept whole or dropped.
    """
    left = []
    for bundle in bundles:
        tasks = [task for task in bundle.tasks if task.uid in allowed]
        if tasks and (bundle.safe or len(tasks) == len(bundle.tasks)):
            left.append(bundle._replace(tasks=tasks))
    return left


def in_order_of_loss(
    bundles: Sequence[Bundle], need: Resource, loses_first: Callable[[JobInfo, JobInfo], bool]
) -> list[Bundle]:
    """Return the bundles in the order of eviction.

    Safe ones are first, then those whose job `loses_first`, then those with a higher return on the need; ties
    are broken by job key, uid of the first task, number of tasks.
    """
    ranks = {id(bundle): _rank(bundle, need) for bundle in bundles}

    def compare(left: Bundle, right: Bundle) -> int:
        if left.safe != right.safe:
            return -1 if left.safe else 1
        first, second = loses_first(left.job, right.job), loses_first(right.job, left.job)
        if first != second:
            return -1 if first else 1
        mine, theirs = ranks[id(left)], ranks[id(right)]
        return (mine > theirs) - (mine < theirs)

    return sorted(bundles, key=cmp_to_key(compare))


def _rank(bundle: Bundle, need: Resource) -> tuple[float, str, str, int]:
    return -bundle.return_on(need), bundle.job.key, bundle.tasks[0].uid, len(bundle.tasks)
