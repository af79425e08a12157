"""Image pulls, pods of StatefulSets, failing containers, aborted Jobs and JobFlows in replays."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.replay import replay_document
from tests.builders import Object, conf, node, pod, podgroup, queue
from tests.scheduler_core.test_situations import RECLAIMS, cluster, submit, task

PLAIN = conf("enqueue, allocate", ["gang"], ["predicates", "proportion"])


def plain(
    at: float, name: str, *, image: str = "app", owner: str = "", to: str = "default", **fields: Any
) -> Object:
    """Return the event of a pod with its PodGroup."""
    group = podgroup(name, queue=to, min_resources={"cpu": 1}, phase="Pending",
                     annotations={"queuecast/run-seconds": str(fields.pop("seconds", 50))})  # fmt: skip
    member = pod(f"{name}-0", group=name, cpu=fields.pop("cpu", 1), **fields)
    member["spec"]["containers"][0]["image"] = image
    if owner:
        member["metadata"]["ownerReferences"] = [
            {"kind": owner, "name": name, "uid": name, "controller": True}
        ]
    for thing in (group, member):
        thing["metadata"].pop("creationTimestamp", None)
    return {"at": at, "create": {"podgroups": [group], "pods": [member]}}


def waits(result: Object) -> dict[str, float]:
    return {name.partition("/")[2]: job["started"] - job["submitted"] for name, job in result["jobs"].items()}


# images


def test_only_the_first_pod_of_an_image_on_a_node_waits_for_the_pull() -> None:
    events = [plain(0, "first"), plain(5, "meanwhile"), plain(40, "later"), plain(40, "other", image="none")]
    result = replay_document(cluster(*events, conf=PLAIN, pull_seconds={"app": 20}))
    found = waits(result)
    # bound at 0; a pod that arrives during the pull waits for the rest of it, a later pod does not wait
    assert found == {"first": 20, "meanwhile": 15, "later": 0, "other": 0}


def test_image_listed_by_a_node_is_not_pulled() -> None:
    there = node("n", cpu=8, memory="64Gi")
    there["status"]["images"] = [{"names": ["app"]}]
    result = replay_document(cluster(plain(0, "first"), conf=PLAIN, nodes=[there], pull_seconds={"app": 20}))
    assert waits(result) == {"first": 0}


def test_image_pull_and_start_delay_add_up() -> None:
    result = replay_document(
        cluster(plain(0, "first"), conf=PLAIN, pull_seconds={"app": 20}, start_delay_seconds=3)
    )
    assert waits(result) == {"first": 23}
    assert result["jobs"]["default/first"]["finished"] == 73


def test_deleted_node_loses_its_images() -> None:
    events = [plain(0, "first"), {"at": 30, "delete": {"nodes": ["n"]}}]
    events += [{"at": 40, "create": {"nodes": [node("n", cpu=8, memory="64Gi")]}}, plain(60, "second")]
    result = replay_document(cluster(*events, conf=PLAIN, pull_seconds={"app": 20}, horizon=400))
    # the first pod restarts and pulls from 40 on; the second one finds the image
    assert result["jobs"]["default/first"]["finished"] == 40 + 20 + 50
    assert waits(result)["second"] == 0


# owners


def evicted_of(owner: str) -> tuple[Object, list[Any], list[Any]]:
    """Return a replay in which an owner's pod is evicted, its evictions, and the binds after them."""
    queues = [queue("default", deserved={"cpu": 0}), queue("b", deserved={"cpu": 4})]
    events = [plain(0, "low", owner=owner, cpu=4, seconds=1000), plain(20, "high", to="b", cpu=4, seconds=60)]
    result = replay_document(
        cluster(*events, cpu=4, conf=RECLAIMS, queues=queues, evicted="owner", horizon=300)
    )
    log = [(entry["t"], one) for entry in result["log"] for one in entry["decisions"]]
    evicted = [(time, one["pod"]) for time, one in log if one["op"] == "evict"]
    bound = [
        (time, one["pod"]) for time, one in log if one["op"] == "bind" and "low" in one["pod"] and time > 20
    ]
    return result, evicted, bound


def test_statefulset_recreates_an_evicted_pod_after_termination() -> None:
    _, evicted, bound = evicted_of("StatefulSet")
    assert evicted == [(20, "default/low-0")]
    # gone at 50, when high starts and runs for 60 s
    assert [name for _, name in bound] == ["default/low-0"]
    assert bound[0][0] >= 110


def test_replicaset_immediately_replaces_an_evicted_pod_under_a_new_name() -> None:
    _, evicted, bound = evicted_of("ReplicaSet")
    assert evicted == [(20, "default/low-0")]
    assert [name for _, name in bound] == ["default/low-0-re1"]


def test_evicted_bare_pod_is_not_recreated() -> None:
    result, evicted, bound = evicted_of("")
    assert (len(evicted), bound) == (1, [])
    assert result["jobs"]["default/low"]["lost_seconds"] == 20


# containers that fail


def phases(result: Object, name: str = "j") -> list[list[Any]]:
    found: list[list[Any]] = result["vcjobs"][f"default/{name}"]["phases"]
    return found


def test_failed_container_restarts_in_place_after_10_and_20_seconds() -> None:
    work = task("main", 1, seconds=5, codes="1,1,0", restartPolicy="OnFailure")
    result = replay_document(cluster(submit(0, "j", work), conf=PLAIN))
    (job,) = result["jobs"].values()
    # runs 5, waits 10, runs 5, waits 20, runs 5
    assert job["finished"] - job["started"] == pytest.approx(5 + 10 + 5 + 20 + 5)
    assert job["evictions"] == 0
    binds = [one for entry in result["log"] for one in entry["decisions"] if one["op"] == "bind"]
    assert len(binds) == 1, "the pod stays on its node"


def test_task_fails_after_max_retry_container_restarts() -> None:
    work = task(
        "main", 1, seconds=5, codes="1", restartPolicy="OnFailure", maxRetry=2,
        policies=[{"event": "TaskFailed", "action": "AbortJob"}],
    )  # fmt: skip
    result = replay_document(cluster(submit(0, "j", work), conf=PLAIN))
    names = [phase for _, phase in phases(result)]
    assert names[-1] == "Aborted"
    assert "Completed" not in names


def test_restart_backoff_doubles_up_to_five_minutes() -> None:
    work = task("main", 1, seconds=1, codes="1,1,1,1,1,1,1,0", restartPolicy="OnFailure", maxRetry=100)
    result = replay_document(cluster(submit(0, "j", work), conf=PLAIN, horizon=3000))
    (job,) = result["jobs"].values()
    assert job["finished"] - job["started"] == pytest.approx(8 * 1 + 10 + 20 + 40 + 80 + 160 + 300 + 300)


# commands


def test_aborted_job_has_no_pods_until_resumed_and_then_restarts() -> None:
    events = [
        submit(0, "j", task("main", 2, seconds=50)),
        {"at": 20, "abort": {"jobs": ["default/j"]}},
        {"at": 100, "resume": {"jobs": ["default/j"]}},
    ]
    result = replay_document(cluster(*events, conf=PLAIN, horizon=400))
    names = [phase for _, phase in phases(result)]
    assert "Aborted" in names
    assert names[-1] == "Completed"
    times = {phase: time for time, phase in phases(result)}
    assert 20 <= times["Aborted"] <= 60
    assert times["Completed"] >= 150
    (job,) = result["jobs"].values()
    assert job["lost_seconds"] > 0


def test_resuming_a_job_that_is_not_aborted_has_no_effect() -> None:
    events = [submit(0, "j", task("main", 1, seconds=50)), {"at": 20, "resume": {"jobs": ["default/j"]}}]
    plainly = replay_document(cluster(events[0], conf=PLAIN))
    resumed = replay_document(cluster(*events, conf=PLAIN))
    assert phases(resumed) == phases(plainly)


# flows


def flow(*steps: Object, retain: str = "retain") -> list[Object]:
    """Return the event of a JobFlow of templates that run for ten seconds."""
    templates = [
        {"metadata": {"name": name}, "spec": {"minAvailable": 1, "tasks": [task("main", 1, seconds=10)]}}
        for name in ("load", "train", "report")
    ]
    made = {"metadata": {"name": "night"}, "spec": {"flows": list(steps), "jobRetainPolicy": retain}}
    return [{"at": 0, "create": {"jobtemplates": templates, "jobflows": [made]}}]


LOAD, REPORT = {"name": "load"}, {"name": "report", "dependsOn": {"targets": ["load", "train"]}}
TRAIN = {"name": "train", "dependsOn": {"targets": ["load"]}}


def test_jobflow_step_starts_when_all_its_targets_are_completed() -> None:
    result = replay_document(cluster(*flow(LOAD, TRAIN, REPORT), conf=PLAIN))
    jobs = {name: result["vcjobs"][f"default/night-{name}"] for name in ("load", "train", "report")}
    begins = {name: job["submitted"] for name, job in jobs.items()}
    ends = {name: {phase: time for time, phase in job["phases"]}["Completed"] for name, job in jobs.items()}
    assert begins["load"] == 0
    assert begins["train"] == ends["load"]
    assert begins["report"] == ends["train"]


def test_jobs_of_a_finished_flow_are_deleted_with_retain_policy_delete() -> None:
    kept = replay_document(cluster(*flow(LOAD, TRAIN), conf=PLAIN))
    gone = replay_document(cluster(*flow(LOAD, TRAIN, retain="delete"), conf=PLAIN))
    assert all("deleted" not in job for job in kept["vcjobs"].values())
    assert all("deleted" in job for job in gone["vcjobs"].values())


def test_jobflow_step_never_starts_if_its_target_never_completes() -> None:
    failing = flow(LOAD, TRAIN)
    tasks = failing[0]["create"]["jobtemplates"][0]["spec"]
    tasks["tasks"] = [task("main", 1, seconds=10, codes="1", restartPolicy="Never")]
    tasks["policies"] = [{"event": "PodFailed", "action": "AbortJob"}]
    result = replay_document(cluster(*failing, conf=PLAIN))
    assert "default/night-train" not in result["vcjobs"]
