"""The webhooks' rules for Jobs and PodGroups, one at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import pytest

from scheduler_core.workload_rules import WorkloadAdmission
from tests.builders import queue

QUEUES = [
    queue("default"),
    queue("team"),
    queue("leaf", parent="team"),
    queue("closed", state="Closed"),
    queue("closing", state="Closing"),
    queue("unknown", state="Unknown"),
]


def task(name: str = "", replicas: int = 2, **fields: Any) -> dict[str, Any]:
    return {**({"name": name} if name else {}), "replicas": replicas, **fields}


def job(*tasks: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "j"}, "spec": {"tasks": list(tasks) or [task()], **spec}}


def policy(*events: str, action: str = "RestartJob", **fields: Any) -> dict[str, Any]:
    return {"action": action, **({"events": list(events)} if events else {}), **fields}


def partitions(total: int, size: int, **fields: Any) -> dict[str, Any]:
    return {"totalPartitions": total, "partitionSize": size, **fields}


def numa(policy: str, resources: dict[str, Any] | None = None) -> dict[str, Any]:
    containers = [{"name": "c", "resources": resources or {}}]
    return task("a", topologyPolicy=policy, template={"spec": {"containers": containers}})


class Case(NamedTuple):
    """A job, and the rules that it breaks with their fields."""

    job: dict[str, Any]
    want: Mapping[str, str] = {}


JOBS = {
    "valid job": Case(job(queue="leaf", minAvailable=2)),
    "default queue if none is named": Case(job()),
    "missing queue": Case(job(queue="gone"), {"job.queue_missing": "spec.queue"}),
    "closed queue": Case(job(queue="closed"), {"job.queue_closed": "spec.queue"}),
    "closing queue": Case(job(queue="closing"), {"job.queue_closed": "spec.queue"}),
    "queue in an unknown state": Case(job(queue="unknown"), {"job.queue_closed": "spec.queue"}),
    "queue with children": Case(job(queue="team"), {"job.not_leaf": "spec.queue"}),
    "root": Case(job(queue="root"), {"job.not_leaf": "spec.queue"}),
    "no success needed": Case(job(minSuccess=0), {"job.negative": "spec.minSuccess"}),
    "one success needed": Case(job(minSuccess=1)),
    "whole cores on one NUMA node": Case(job(numa("single-numa-node", {"requests": {"cpu": "2"}}))),
    "whole cores as limits": Case(job(numa("restricted", {"limits": {"cpu": "2000m"}}))),
    "no NUMA policy": Case(job(numa("none", {"requests": {"cpu": "500m"}}))),
    "unknown NUMA policy": Case(job(numa("")), {"job.topology": "spec.tasks[0].topologyPolicy"}),
    "half a core on one NUMA node": Case(
        job(numa("best-effort", {"requests": {"cpu": "1500m"}, "limits": {"cpu": "2"}})),
        {"job.topology": "spec.tasks[0].template.spec.containers[0].resources"},
    ),
    "no core on one NUMA node": Case(
        job(numa("restricted", {"requests": {"memory": "1Gi"}, "limits": {"cpu": "2"}})),
        {"job.topology": "spec.tasks[0].template.spec.containers[0].resources"},
    ),
    "no task": Case({"metadata": {"name": "j"}, "spec": {}}, {"job.no_task": "spec.tasks"}),
    "minAvailable above all replicas": Case(job(minAvailable=3), {"job.minimum": "spec.minAvailable"}),
    "minAvailable equal to all replicas": Case(job(task("a", 1), task("b", 2), minAvailable=3)),
    "task minimum above its replicas": Case(
        job(task("a", 2, minAvailable=3)), {"job.minimum": "spec.tasks[0].minAvailable"}
    ),
    "negative minAvailable": Case(job(minAvailable=-1), {"job.negative": "spec.minAvailable"}),
    "negative replicas": Case(job(task("a", -1)), {"job.negative": "spec.tasks[0].replicas"}),
    "negative retries": Case(job(maxRetry=-1), {"job.negative": "spec.maxRetry"}),
    "negative time to live": Case(
        job(ttlSecondsAfterFinished=-1), {"job.negative": "spec.ttlSecondsAfterFinished"}
    ),
    "task that depends on another": Case(job(task("a"), task("b", dependsOn={"name": ["a"]}))),
    "task that depends on an unknown task": Case(
        job(task("a", dependsOn={"name": ["x"]})), {"job.dependency_missing": "spec.tasks[0].dependsOn"}
    ),
    "tasks that depend on each other": Case(
        job(task("a", dependsOn={"name": ["b"]}), task("b", dependsOn={"name": ["a"]})),
        {"job.dependency_circle": "spec.tasks"},
    ),
    "task that depends twice on another": Case(
        job(task("a"), task("b", dependsOn={"name": ["a", "a"]})),
        {"job.dependency_repeated": "spec.tasks[1].dependsOn"},
    ),
    "two tasks of one name": Case(job(task("a"), task("a")), {"job.task_repeated": "spec.tasks[1].name"}),
    "a given name equals a default one": Case(
        job(task(), task("default0")), {"job.task_repeated": "spec.tasks[1].name"}
    ),
    "policies": Case(
        job(policies=[policy("PodFailed", "PodEvicted"), policy(exitCode=3), policy("TaskCompleted")])
    ),
    "policies of a task and the job may be alike": Case(
        job(task("a", policies=[policy("PodFailed")]), policies=[policy("PodFailed")])
    ),
    "policy with an event and an exit code": Case(
        job(policies=[policy("PodFailed", exitCode=3)]), {"job.policy": "spec.policies[0]"}
    ),
    "policy without an event": Case(job(policies=[policy()]), {"job.policy": "spec.policies[0]"}),
    "unknown event": Case(
        job(task("a", policies=[policy("PodRunning")])), {"job.policy": "spec.tasks[0].policies[0]"}
    ),
    "unknown action": Case(
        job(policies=[policy("PodFailed", action="SyncJob")]), {"job.policy": "spec.policies[0]"}
    ),
    "any action with an exit code": Case(job(policies=[policy(exitCode=3, action="SyncJob")])),
    "event of two policies": Case(
        job(policies=[policy("PodFailed"), policy("PodFailed")]), {"job.policy": "spec.policies[1]"}
    ),
    "empty event in a list": Case(job(policies=[policy("")]), {"job.policy": "spec.policies[0]"}),
    "exit code of two policies": Case(
        job(policies=[policy(exitCode=3), policy(exitCode=3)]), {"job.policy": "spec.policies[1]"}
    ),
    "exit code 0": Case(job(policies=[policy(exitCode=0)]), {"job.policy": "spec.policies[0]"}),
    "any event and another one": Case(
        job(policies=[policy("*"), policy("PodFailed")]), {"job.policy": "spec.policies"}
    ),
    "partitions": Case(job(task("a", 4, partitionPolicy=partitions(2, 2, minPartitions=1)))),
    "no partition": Case(
        job(task("a", 2, partitionPolicy=partitions(0, 2))),
        {"job.partition": "spec.tasks[0].partitionPolicy"},
    ),
    "partitions of other pods than the task has": Case(
        job(task("a", 3, partitionPolicy=partitions(2, 2))),
        {"job.partition": "spec.tasks[0].partitionPolicy"},
    ),
    "partitions with another minimum": Case(
        job(task("a", 4, minAvailable=4, partitionPolicy=partitions(2, 2, minPartitions=1))),
        {"job.partition": "spec.tasks[0].partitionPolicy"},
    ),
    "more partitions needed than there are": Case(
        job(task("a", 2, partitionPolicy=partitions(1, 2, minPartitions=2))),
        {"job.partition": "spec.tasks[0].partitionPolicy"},
    ),
    "partitions without a minimum": Case(job(task("a", 4, minAvailable=3, partitionPolicy=partitions(2, 2)))),
}


@pytest.mark.parametrize("case", JOBS.values(), ids=JOBS.keys())
def test_on_create_job_reports_broken_rules_with_their_fields(case: Case) -> None:
    found = WorkloadAdmission(QUEUES, made=["root"]).on_create_job(case.job)
    assert {problem.rule: problem.field for problem in found} == case.want
    assert all(problem.severity == "error" and problem.fix for problem in found)


PODGROUPS = {
    "open queue": ("leaf", ""),
    "queue with children is accepted": ("team", ""),
    "nor is root": ("root", ""),
    "no queue": ("", ""),
    "missing queue": ("gone", "podgroup.queue_missing"),
    "closed queue": ("closed", "podgroup.queue_closed"),
    "closing queue": ("closing", "podgroup.queue_closed"),
    "queue in an unknown state": ("unknown", "podgroup.queue_closed"),
}


@pytest.mark.parametrize(("name", "want"), PODGROUPS.values(), ids=PODGROUPS.keys())
def test_on_create_podgroup_reports_the_broken_rule(name: str, want: str) -> None:
    found = WorkloadAdmission(QUEUES, made=["root"]).on_create_podgroup(
        {"metadata": {"name": "g"}, "spec": {"queue": name}}
    )
    assert [problem.rule for problem in found] == ([want] if want else [])
