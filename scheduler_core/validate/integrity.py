"""Checks for duplicate objects, and for jobs whose pods cannot be created."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.problem import Place
from scheduler_core.validate.listed import Listed, spec_of
from scheduler_core.validate.report import Report
from scheduler_core.workload_rules import count, tasks_of

Object = Mapping[str, Any]

MOST_PODS_OF_JOBS = 1_000_000


def check_integrity(objects: Mapping[str, Listed], report: Report) -> None:
    """Report duplicates, and jobs whose pods cannot be created."""
    for listed in objects.values():
        _check_duplicates(listed, report)
    _check_uids(objects["pods"], report)
    _check_pods_of_jobs(objects["jobs"], report)


def _check_duplicates(listed: Listed, report: Report) -> None:
    if not listed.has_twice:
        return
    seen = set()
    for key, (place, thing) in zip(listed.keys, listed, strict=True):
        if key in seen:
            listed.set_subject(place, thing, report)
            where = ((place, "metadata"), "name")
            name = thing["metadata"]["name"]
            report.add(
                "name.duplicate", "error", where, "is used by another one", actual=name, fix="rename one"
            )
        seen.add(key)


def _check_uids(pods: Listed, report: Report) -> None:
    if not pods.has_uid_twice:
        return
    seen: dict[str, str] = {}
    for place, pod in pods:
        uid, name = pod["metadata"].get("uid"), pod["metadata"]["name"]
        if not isinstance(uid, str) or not uid:
            continue
        if uid in seen:
            pods.set_subject(place, pod, report)
            where = ((place, "metadata"), "uid")
            message = f"is also that of pod {seen[uid]}"
            report.add(
                "name.duplicate", "error", where, message, actual=uid, fix="give every pod its own uid"
            )
        seen[uid] = name


def _check_pods_of_jobs(jobs: Listed, report: Report) -> None:
    """Report jobs whose pods cannot be created: too many, or two of the same name."""
    total = 0
    for place, job in jobs:
        jobs.set_subject(place, job, report)
        at_tasks = ((place, "spec"), "tasks")
        tasks = tasks_of(spec_of(job))
        total += sum(count(task, "replicas") for _, task in tasks)
        if total > MOST_PODS_OF_JOBS:
            message = f"brings the pods of all jobs above {MOST_PODS_OF_JOBS}"
            report.add(
                "job.too_many_pods",
                "error",
                at_tasks,
                message,
                limit=MOST_PODS_OF_JOBS,
                fix="reduce the replicas",
            )
            return
        _check_task_names(at_tasks, tasks, report)


def _check_task_names(at_tasks: Place, tasks: list[tuple[int, Object]], report: Report) -> None:
    seen: set[str] = set()
    for index, task in tasks:
        name = task.get("name") or f"default{index}"
        if isinstance(name, str):
            if name in seen:
                message = "is used by another task of the job"
                at: Place = ((at_tasks, index), "name")
                report.add("job.task_twice", "error", at, message, actual=name, fix="rename it")
            seen.add(name)
