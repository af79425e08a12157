"""What the controllers create from Jobs and plain pods."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core import simulate_document
from scheduler_core.admission import Admission
from scheduler_core.model.snapshot import Cluster
from scheduler_core.resource import Resource
from scheduler_core.resource_list import read_resource_list
from tests.builders import amounts, conf, decided, job, last_cycle, node, pod, priority_class, scenario

GPU = "nvidia.com/gpu"


def task(name: str, replicas: int, *, limits_only: bool = False, **fields: Any) -> dict[str, Any]:
    """Return a task; resources by name, the rest as in the CRD."""
    known = ("minAvailable", "dependsOn", "partitionPolicy", "priorityClassName", "topologyPolicy")
    extra = {key: fields.pop(key) for key in known if key in fields}
    spec: dict[str, Any] = {
        "containers": [
            {"name": "main", "resources": {"limits" if limits_only else "requests": amounts(**fields)}}
        ]
    }
    if "priorityClassName" in extra:
        spec["priorityClassName"] = extra.pop("priorityClassName")
    return {"name": name, "replicas": replicas, "template": {"spec": spec}, **extra}


def cluster(document: dict[str, Any]) -> Cluster:
    return Admission(document).cluster()


MASTER = {"cpu": 1, "memory": "1Gi"}
WORKER = {"cpu": 2, "memory": "4Gi"}
GI = 2.0**30

# The worked examples of the job controller: a master of 1 cpu / 1Gi and three workers of 2 cpu / 4Gi.
MINIMUMS = {
    "all members": (
        [task("master", 1, minAvailable=1, **MASTER), task("worker", 3, minAvailable=3, **WORKER, gpu=1)],
        4,
        Resource(7000.0, 13 * GI, {GPU: 3000.0, "pods": 4.0}),
    ),
    "minAvailable below the replicas fills task by task": (
        [task("master", 1, minAvailable=1, **MASTER), task("worker", 3, minAvailable=3, **WORKER, gpu=1)],
        2,
        Resource(3000.0, 5 * GI, {GPU: 1000.0, "pods": 2.0}),
    ),
    "task minimums are counted first": (
        [task("master", 1, minAvailable=1, **MASTER), task("worker", 3, minAvailable=1, **WORKER)],
        3,
        Resource(5000.0, 9 * GI, {"pods": 3.0}),
    ),
    "tasks of higher priority class first": (
        [task("master", 1, **MASTER), task("worker", 3, priorityClassName="high", **WORKER)],
        2,
        Resource(4000.0, 8 * GI, {"pods": 2.0}),
    ),
    "limits without requests are ignored": (
        [task("worker", 3, limits_only=True, cpu=2, memory="1Gi")],
        2,
        Resource(0.0, 0.0, {"pods": 2.0}),
    ),
}


@pytest.mark.parametrize(("tasks", "minimum", "want"), MINIMUMS.values(), ids=MINIMUMS.keys())
def test_min_resources_and_min_member_of_a_jobs_podgroup(
    tasks: list[dict[str, Any]], minimum: int, want: Resource
) -> None:
    document = scenario(
        jobs=[job("train", tasks=tasks, minAvailable=minimum)], priorityclasses=[priority_class("high", 100)]
    )
    (podgroup,) = cluster(document).podgroups.values()
    assert read_resource_list(podgroup["spec"]["minResources"]).as_dict() == want.as_dict()
    assert podgroup["spec"]["minMember"] == minimum


def test_min_resources_include_the_resource_names_of_quotas() -> None:
    document = scenario(jobs=[job("train", tasks=[task("worker", 2, cpu="500m", gpu=1)])])
    (podgroup,) = cluster(document).podgroups.values()
    assert podgroup["spec"]["minResources"] == {
        "count/pods": "2",
        "cpu": "1",
        GPU: "2",
        "pods": "2",
        "requests.cpu": "1",
        f"requests.{GPU}": "2",
    }


def test_default_min_available_is_the_sum_of_task_minimums() -> None:
    tasks = [task("a", 3, minAvailable=1, cpu=1), task("b", 2, cpu=1)]
    (podgroup,) = cluster(scenario(jobs=[job("train", tasks=tasks)])).podgroups.values()
    assert podgroup["spec"]["minMember"] == 3
    assert podgroup["spec"]["minTaskMember"] == {"a": 1, "b": 2}


def test_partition_policy_sets_the_task_minimum() -> None:
    partitions = {"totalPartitions": 3, "partitionSize": 2, "minPartitions": 2}
    made = cluster(scenario(jobs=[job("train", tasks=[task("w", 6, partitionPolicy=partitions, cpu=1)])]))
    (podgroup,) = made.podgroups.values()
    assert podgroup["spec"]["minTaskMember"] == {"w": 4}
    partition = [pod["metadata"]["labels"]["volcano.sh/partition-id"] for pod in made.pods.values()]
    assert partition == ["0", "0", "1", "1", "2", "2"]


def test_pod_inherits_annotations_and_priority_from_its_job() -> None:
    entry = job("train", tasks=[task("worker", 1, cpu=1)], priorityClassName="high")
    entry["metadata"]["annotations"] = {
        "volcano.sh/preemptable": "false",
        "volcano.sh/jdb-min-available": "1",
        "volcano.sh/jdb-max-unavailable": "2",
        "mine": "x",
    }
    made = cluster(scenario(jobs=[entry], priorityclasses=[priority_class("high", 100)]))
    pod = made.pods["default/train-worker-0"]
    annotations = pod["metadata"]["annotations"]
    assert pod["spec"]["priority"] == 100
    assert annotations["volcano.sh/preemptable"] == "false"
    assert annotations["volcano.sh/jdb-min-available"] == "1"
    assert "volcano.sh/jdb-max-unavailable" not in annotations
    assert "mine" not in annotations
    assert annotations["scheduling.k8s.io/group-name"] == "train-default-train"
    assert made.podgroups["default/train-default-train"]["metadata"]["annotations"]["mine"] == "x"


def test_pods_of_a_vcjob_are_bound() -> None:
    cycle = last_cycle(
        scenario(
            nodes=[node("n0", cpu=4, memory="8Gi")],
            jobs=[job("train", tasks=[task("worker", 3, cpu=1)])],
            conf=conf("enqueue, allocate", ["gang"]),
        )
    )
    assert decided(cycle, "bind") == [f"default/train-worker-{index}" for index in range(3)]


def test_existing_podgroups_and_pods_are_not_recreated() -> None:
    entry = job("train", tasks=[task("worker", 2, cpu=1)])
    first = cluster(scenario(jobs=[entry]))
    again = cluster(
        scenario(
            jobs=[entry],
            podgroups=[{**group, "status": {"phase": "Running"}} for group in first.podgroups.values()],
            pods=[first.pods["default/train-worker-0"]],
        )
    )
    assert list(again.pods) == list(first.pods)
    assert [group["status"]["phase"] for group in again.podgroups.values()] == ["Running"]


def test_finished_job_creates_no_pods() -> None:
    entry = {**job("train", tasks=[task("w", 1, cpu=1)]), "status": {"state": {"phase": "Completed"}}}
    assert not cluster(scenario(jobs=[entry])).pods


def test_task_waits_for_the_tasks_it_depends_on() -> None:
    tasks = [task("first", 1, cpu=1), task("then", 1, cpu=1, dependsOn={"name": ["first"]})]
    entry = job("train", tasks=tasks)
    assert list(cluster(scenario(jobs=[entry])).pods) == ["default/train-first-0"]
    ran = pod("train-first-0", group="train-default-train", node="n0", phase="Succeeded", cpu=1)
    assert "default/train-then-0" in cluster(scenario(jobs=[entry], pods=[ran])).pods


def test_namespace_annotation_sets_the_queue_of_its_jobs() -> None:
    namespace = {
        "metadata": {"name": "default", "annotations": {"scheduling.volcano.sh/queue-name": "research"}}
    }
    train = scenario(jobs=[job("train", tasks=[task("w", 1, cpu=1)])], namespaces=[namespace])
    alone = scenario(pods=[pod("alone", cpu=1)], namespaces=[namespace], controllers=True)
    for document in (train, alone):
        admission = Admission(document)
        assert [group["spec"]["queue"] for group in admission.cluster().podgroups.values()] == ["research"]
        assert any("1 PodGroup in the queue that an annotation" in note for note in admission.notes())
    assert not any(
        "annotation of the namespace" in note for note in Admission({**train, "namespaces": []}).notes()
    )


def owned(name: str, **facts: Any) -> dict[str, Any]:
    plain = pod(name, cpu=1, **facts)
    plain["metadata"]["ownerReferences"] = [{"uid": "rs-1", "controller": True}]
    return plain


def test_plain_pods_with_one_owner_share_a_podgroup() -> None:
    document = scenario(pods=[owned("web-1"), owned("web-2"), pod("alone", cpu=2)], controllers=True)
    made = cluster(document)
    assert sorted(made.podgroups) == ["default/podgroup-default-alone", "default/podgroup-rs-1"]
    shared = made.podgroups["default/podgroup-rs-1"]["spec"]
    assert (shared["minMember"], shared["queue"], shared["minResources"]["cpu"]) == (1, "default", "1")


def test_plain_pods_get_no_podgroup_when_controllers_are_off() -> None:
    assert not cluster(scenario(pods=[pod("alone", cpu=2)])).podgroups


def test_input_order_does_not_change_the_result() -> None:
    jobs = [job(name, tasks=[task("w", 1, cpu=1)]) for name in ("a", "b")]
    plain = [owned("web-2", annotations={"scheduling.volcano.sh/queue-name": "x"}), owned("web-1")]
    fields = {"nodes": [node("n0", cpu=4)], "controllers": True, "conf": conf("enqueue, allocate", ["gang"])}
    assert simulate_document(scenario(jobs=jobs, pods=plain, **fields)) == simulate_document(
        scenario(jobs=jobs[::-1], pods=plain[::-1], **fields)
    )


def test_finished_jobs_and_those_of_another_scheduler_are_counted_in_one_note_each() -> None:
    tasks = [{"name": "t", "replicas": 1, "template": {"spec": {"containers": [{"name": "c"}]}}}]
    over = [
        {**job(f"over-{number}", tasks=tasks), "status": {"state": {"phase": "Completed"}}}
        for number in range(3)
    ]
    other = [job("other", tasks=tasks, schedulerName="default-scheduler")]
    notes = simulate_document(scenario(jobs=[*over, *other]))["notes"]
    left = [note for note in notes if note.startswith("Left out: ")]
    assert left == ["Left out: 1 job of scheduler default-scheduler.", "Left out: 3 jobs that had finished."]
