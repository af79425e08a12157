"""The checks of Volcano's webhooks for a new Job or PodGroup.

The checks run on plain objects; all failures are reported at once.

Source: volcano ``pkg/webhooks/admission/jobs/validate/admit_job.go``,
``pkg/webhooks/admission/podgroups/validate/validate_podgroup.go`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from scheduler_core.model.queue import ROOT
from scheduler_core.policy_rules import partition_problems, policy_problems, topology_problems
from scheduler_core.problem import Problem, refused

Object = Mapping[str, Any]
Problems = Iterator[Problem]

DEFAULT_QUEUE = "default"
_INT32 = 2**31 - 1
_LEAST = {"minAvailable": 0, "maxRetry": 0, "ttlSecondsAfterFinished": 0, "minSuccess": 1}
"""The smallest value of numbers of a Job's spec: the webhook's, or the CRD's."""


class WorkloadAdmission:
    """The webhooks' view of a cluster: its queues.

    Parameters
    ----------
    queues : iterable
        Queue objects with names.
    made : iterable of str
        Queues that the scheduler creates if they are missing; they are open.

    """

    def __init__(self, queues: Iterable[Object], made: Iterable[str] = ()) -> None:
        self._states: dict[str, str] = dict.fromkeys(made, "Open")
        self._parents = {ROOT}
        for queue in queues:
            self._states[queue["metadata"]["name"]] = (queue.get("status") or {}).get("state") or "Open"
            parent = (queue.get("spec") or {}).get("parent")
            if isinstance(parent, str) and parent:
                self._parents.add(parent)

    def on_create_job(self, job: Object) -> list[Problem]:
        """Return why a new Job would be refused."""
        spec = job.get("spec") or {}
        tasks = tasks_of(spec)
        found = [*_number_problems(spec, ("spec",)), *self._job_queue_problems(spec)]
        if not tasks:
            found.append(refused("job.no_task", ("spec", "tasks"), "has no entry", fix="add a task"))
        names = [task.get("name") or f"default{index}" for index, task in tasks]
        for index, task in tasks:
            found += _task_problems(task, names, ("spec", "tasks", index))
            found += policy_problems(task.get("policies"), ("spec", "tasks", index))
            found += partition_problems(task, ("spec", "tasks", index))
            found += topology_problems(task, ("spec", "tasks", index))
        found += policy_problems(spec.get("policies"), ("spec",))
        found += _name_problems(tasks, names)
        found += _circle_problems({str(name): task for name, (_, task) in zip(names, tasks, strict=True)})
        replicas = sum(count(task, "replicas") for _, task in tasks)
        return [*found, *_minimum_problems(spec, replicas, ("spec",))]

    def on_create_podgroup(self, podgroup: Object) -> list[Problem]:
        """Return why a new PodGroup would be refused; it is not checked whether its queue is a leaf."""
        queue = (podgroup.get("spec") or {}).get("queue")
        if not isinstance(queue, str) or not queue:
            return []
        return [*self._open_problems(queue, "podgroup")]

    def _job_queue_problems(self, spec: Object) -> Problems:
        queue = spec.get("queue") or DEFAULT_QUEUE
        if not isinstance(queue, str):
            return
        yield from self._open_problems(queue, "job")
        if queue in self._parents and queue in self._states:
            message = f"uses queue {queue!r}, which is not a leaf"
            fix = "choose a leaf queue"
            yield refused("job.not_leaf", ("spec", "queue"), message, queue, actual=queue, fix=fix)

    def _open_problems(self, queue: str, kind: str) -> Problems:
        at, state = ("spec", "queue"), self._states.get(queue)
        if state is None:
            message = f"names queue {queue!r}, which does not exist"
            yield refused(f"{kind}.queue_missing", at, message, actual=queue, fix="create the queue")
        elif state != "Open":
            message = f"names queue {queue!r}, which is {state}, not Open"
            rule, fix = f"{kind}.queue_closed", "open the queue"
            yield refused(rule, at, message, queue, actual=state, limit="Open", fix=fix)


def tasks_of(spec: Object) -> list[tuple[int, Object]]:
    """Return the tasks of a Job with their positions, without those that are not objects."""
    tasks = spec.get("tasks")
    entries = enumerate(tasks if isinstance(tasks, list) else ())
    return [(index, task) for index, task in entries if isinstance(task, Mapping)]


def count(holder: Object, field: str) -> int:
    """Return a number of pods, 0 if it is absent or invalid."""
    value = holder.get(field)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= _INT32:
        return 0
    return int(value)


def _task_problems(task: Object, names: list[Any], way: tuple[str | int, ...]) -> Problems:
    yield from _number_problems(task, way, {"replicas": 0, "minAvailable": 0})
    yield from _minimum_problems(task, count(task, "replicas"), way)
    wanted, at = _depends_on(task), (*way, "dependsOn")
    for name in wanted:
        if name not in names:
            message, fix = f"waits for task {name!r}, which the job does not have", "name another task"
            yield refused("job.dependency_missing", at, message, actual=name, fix=fix)
    for name in sorted({name for name in wanted if wanted.count(name) > 1}):
        message, fix = f"names task {name!r} twice", "name it once"
        yield refused("job.dependency_repeated", at, message, actual=name, fix=fix)


def _name_problems(tasks: list[tuple[int, Object]], names: list[Any]) -> Problems:
    for place, (index, _) in enumerate(tasks):
        if names[place] in names[:place]:
            message, fix = f"repeats the task name {names[place]!r}", "choose another name"
            yield refused(
                "job.task_repeated", ("spec", "tasks", index, "name"), message, actual=names[place], fix=fix
            )


def _depends_on(task: Object) -> list[str]:
    depends = task.get("dependsOn")
    wanted = depends.get("name") if isinstance(depends, Mapping) else None
    return [name for name in wanted if isinstance(name, str)] if isinstance(wanted, list) else []


def _number_problems(
    holder: Object, way: tuple[str | int, ...], least: Mapping[str, int] = _LEAST
) -> Problems:
    for field, limit in least.items():
        value = holder.get(field)
        if isinstance(value, int) and not isinstance(value, bool) and value < limit:
            message, fix = f"is below {limit}", f"write {limit} or more"
            yield refused("job.negative", (*way, field), message, actual=value, limit=limit, fix=fix)


def _minimum_problems(holder: Object, replicas: int, way: tuple[str | int, ...]) -> Problems:
    minimum = count(holder, "minAvailable")
    if minimum > replicas:
        message = f"is above the replicas ({replicas})"
        at = (*way, "minAvailable")
        fix = f"write at most {replicas}"
        yield refused("job.minimum", at, message, actual=minimum, limit=replicas, fix=fix)


def _circle_problems(tasks: Mapping[str, Object]) -> Problems:
    """Report tasks that depend on each other in a cycle."""
    waits_for = {name: set(_depends_on(task)) & tasks.keys() for name, task in tasks.items()}
    while free := [name for name, others in waits_for.items() if not others]:
        for name in free:
            del waits_for[name]
        for others in waits_for.values():
            others.difference_update(free)
    if waits_for:
        message = f"has tasks that wait for each other: {', '.join(sorted(waits_for))}"
        yield refused(
            "job.dependency_circle", ("spec", "tasks"), message, fix="remove a dependency of one of them"
        )
