"""Requests of pods in traces equal those that the scheduler counts."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest

from planning.forecasts.trace_texts import csv_of
from scheduler_core.model.annotations import MAX_UNAVAILABLE, MIN_AVAILABLE, REVOCABLE_ZONE, WAITING_TIMES
from scheduler_core.model.pod import pod_request
from scheduler_core.model.pod_template import PREEMPTABLE
from scheduler_core.plugins.cdp import COOLDOWN_TIME
from scheduler_core.resource_list import read_resource_list
from tests.builders import GROUP_NAME, Object, pod, podgroup
from tests.traces.builders import trace_job
from traces import Role, Trace, Unreadable, events_of, read_trace, scaled
from traces.annotations import OF_PODGROUPS, OF_PODS
from traces.requests import request_of

RESOURCES: dict[str, list[str]] = {
    "cpu": ["1", "500m", "0.25", "2e0", "0"],
    "memory": ["1Gi", "1.5Mi", "128974848", "129M", "1e9"],
    "nvidia.com/gpu": ["1", "8"],
    "rdma/hca": ["1", "1k"],
    "ephemeral-storage": ["1Gi", "10G"],
}


def resources(random: Random, most: int = 5) -> Object:
    def some() -> Object:
        names = random.sample(sorted(RESOURCES), random.randint(0, min(most, 4)))
        return {name: random.choice(RESOURCES[name]) for name in names}

    requests, limits = some(), some()
    return {"requests": requests, "limits": {**limits, **requests}}


@pytest.mark.parametrize("seed", range(60))
def test_the_request_of_a_pod_is_that_of_the_scheduler(seed: int) -> None:
    random = Random(seed)
    containers = [{"resources": resources(random)} for _ in range(random.randint(1, 3))]
    init: list[Any] = [
        {"resources": resources(random), **({"restartPolicy": "Always"} if random.random() < 0.4 else {})}
        for _ in range(random.randint(0, 3))
    ]
    spec: Object = {"containers": containers, "initContainers": init}
    if random.random() < 0.3:
        spec["overhead"] = {"cpu": "250m", "memory": "120Mi"}
    counted = pod_request(spec, default_requests=True)
    found = read_resource_list(request_of(spec))
    assert {name: amount for name, amount in found.items() if amount} == pytest.approx(
        {name: amount for name, amount in counted.items() if amount and name != "pods"}
    )


def test_pods_of_a_job_that_differ_are_its_roles() -> None:
    selects = {"nodeSelector": {"a": "b"}}
    devices = {"huawei.com/Ascend910": 8, "rdma/hca": 1}
    document = {
        "podgroups": [podgroup("mpi", min_member=3), podgroup("pair"), podgroup("equal")],
        "pods": [
            *(pod(f"worker-{n}", group="mpi", spec=selects, cpu=4, **devices) for n in "12"),
            pod("launcher", group="mpi", cpu=1),
            pod("pair-a", group="pair", cpu=1),
            pod("pair-b", group="pair", cpu=2, **devices),
            pod("equal-a", group="equal", cpu=1),
            pod("equal-b", group="equal", cpu=1),
        ],
    }  # fmt: skip
    trace = read_trace(json.dumps(document))
    roles = {job.name: job.roles for job in trace.jobs}
    counted = {"huawei.com/Ascend910": "8", "rdma/hca": "1"}
    assert roles["default/mpi"] == (
        Role(1, {"cpu": "1", "memory": "0"}, {}),
        Role(2, {"cpu": "4", "memory": "0", **counted}, selects),
    )
    assert [role.pods for role in roles["default/pair"]] == [1, 1]
    assert [role.pods for role in roles["default/equal"]] == [2]
    assert trace.notes == ("Unknown: the run time of 3 unfinished jobs.",)
    assert read_trace(csv_of(trace)).jobs == trace.jobs


ROLES = """\
name,role,queue,submit_seconds,run_seconds,pods,min_member,cpu,gpu
train,master,ml,0,60,1,,1,
train,worker,ml,0,60,4,,8,8
spark,driver,etl,5,,1,1,1,
spark,executor,etl,5,,10,1,4,
"""


def test_lines_with_different_roles_are_one_job() -> None:
    train, spark = read_trace(ROLES).jobs
    assert (train.pods, train.min_member) == (5, 5)
    assert (spark.pods, spark.min_member) == (11, 1)
    events, _ = events_of(Trace((train, spark)))
    groups = [event["create"]["podgroups"][0]["spec"]["minResources"] for event in events]
    assert groups == [
        {"cpu": "33", "memory": str(1024 * 2**30), "nvidia.com/gpu": "32"},
        {"cpu": "1", "memory": "0"},
    ]
    created = [one["metadata"]["name"] for one in events[0]["create"]["pods"]]
    assert created == [f"train-{number}" for number in range(5)]
    cpus = [
        one["spec"]["containers"][0]["resources"]["requests"]["cpu"] for one in events[0]["create"]["pods"]
    ]
    assert cpus == ["1", "8", "8", "8", "8"]


def test_scaled_jobs_have_more_pods_in_each_role() -> None:
    train, spark = scaled(read_trace(ROLES), size=1.5).jobs
    assert [role.pods for role in (*train.roles, *spark.roles)] == [2, 6, 2, 15]
    assert (train.min_member, spark.min_member) == (8, 2)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("train,worker,ml,0,60,1,,8,8", "line 3: the job train occurs twice"),
        ("train,,ml,0,60,1,,8,8", "line 3: the job train occurs twice"),
        ("train,worker-2,cv,0,60,1,,8,8", "line 3, queue: 'cv' differs from 'ml' in line 2 of the same job"),
        ("train,w2,ml,0,60,1,2,8,8", "line 3, min_member: '2' differs from '' in line 2 of the same job"),
        ("train,w2,ml,0,60,1000000,,8,8", "line 2: a job has 1,000,001 pods, more than 1,000,000"),
    ],
)
def test_roles_of_one_job_agree(line: str, problem: str) -> None:
    header = ROLES.splitlines()[0]
    with pytest.raises(Unreadable) as caught:
        read_trace(f"{header}\ntrain,worker,ml,0,60,1,,8,8\n{line}\n")
    assert [str(one).partition(" (")[0] for one in caught.value.problems] == [problem]


def test_other_formats_have_no_roles() -> None:
    line = "p0,{},5,100,vc1,1,8"
    header = "job_id,role,submit_s,duration_s,queue,gang,gpu"
    with pytest.raises(Unreadable, match="occurs twice"):
        read_trace("\n".join([header, line.format("a"), line.format("b")]))


def test_a_job_reserves_what_its_pod_group_states() -> None:
    stated = podgroup("spark", min_resources={"memory": "40Gi", "cpu": 41})
    document = {
        "podgroups": [stated, podgroup("plain")],
        "pods": [
            pod("driver", group="spark", cpu=1),
            pod("plain-0", group="plain", cpu=1),
            pod("ended-0", group="ended", cpu=2),
        ],
    }
    trace = read_trace(json.dumps(document))
    reserved = {job.name: job.min_resources for job in trace.jobs}
    assert reserved == {
        "default/spark": {"cpu": "41", "memory": "40Gi"},
        "default/plain": {},
        "default/ended": None,
    }
    assert read_trace(csv_of(trace)).jobs == trace.jobs
    events, _ = events_of(scaled(trace, size=2))
    groups = [event["create"]["podgroups"][0] for event in events]
    found = {group["metadata"]["name"]: group["spec"].get("minResources") for group in groups}
    assert found == {
        "default-spark": {"cpu": "82", "memory": "80Gi"},
        "default-plain": None,
        "default-ended": {"cpu": "4", "memory": "0"},
    }


@pytest.mark.parametrize(
    ("pods", "size", "reserved"),
    [(1, 0.5, "3"), (1, 1.2, "6"), (3, 0.5, "2"), (3, 0.1, "1"), (7, 0.5, "1.714285715")],
)
def test_a_job_reserves_more_like_its_pods_are_more(pods: int, size: float, reserved: str) -> None:
    job = trace_job("a", "q", 0, 60.0, pods=pods, min_resources={"cpu": "3"})
    assert scaled(Trace((job,)), size=size).jobs[0].min_resources == {"cpu": reserved}


@pytest.mark.parametrize(("amount", "devices"), [("1k", "1000"), (8.0, "8"), ("2e0", "2")])
def test_devices_of_pods_are_whole_numbers_however_they_are_written(
    amount: str | float, devices: str
) -> None:
    one = pod("a", group="job")
    one["spec"]["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": amount}}
    trace = read_trace(json.dumps({"podgroups": [podgroup("job")], "pods": [one]}))
    assert read_trace(csv_of(trace)).jobs == trace.jobs
    created = events_of(trace)[0][0]["create"]["pods"][0]["spec"]["containers"][0]
    assert created["resources"]["requests"]["nvidia.com/gpu"] == devices


@pytest.mark.parametrize(
    ("cell", "problem"),
    [
        ("8 cores", "min_resources: '8 cores' are no amounts"),
        ('{"cpu": null}', "min_resources: '{\"cpu\": null}' are no amounts"),
        ('{"cpu": "many"}', "min_resources: cpu is not an amount such as 8 or 64Gi"),
    ],
)
def test_a_cell_that_is_no_amounts_is_an_error_at_its_place(cell: str, problem: str) -> None:
    quoted = cell.replace('"', '""')
    with pytest.raises(Unreadable) as caught:
        read_trace(f'name,queue,submit_seconds,min_resources\na,q,0,"{quoted}"\n')
    assert [f"{one.column}: {one.message}" for one in caught.value.problems] == [problem]


def test_labels_and_annotations_of_null_are_none() -> None:
    group = podgroup("job", annotations={"sla-waiting-time": None})
    one = pod("a", group="job", labels={"volcano.sh/preemptable": None})
    (job,) = read_trace(json.dumps({"podgroups": [group], "pods": [one]})).jobs
    assert not job.annotations
    assert not job.roles[0].annotations
    one["metadata"]["labels"] = 5
    with pytest.raises(Unreadable, match=r"pods\[0\].metadata.labels: expected an object"):
        read_trace(json.dumps({"podgroups": [group], "pods": [one]}))


def test_a_job_keeps_the_annotations_that_the_scheduler_reads() -> None:
    group = podgroup("job", annotations={"sla-waiting-time": "10m", "team": "a"})
    protected = pod("driver", group="job", cpu=1, labels={"volcano.sh/preemptable": "false"})
    worker = pod("worker", group="job", cpu=1, annotations={"volcano.sh/cooldown-time": "5m", "x": "y"})
    trace = read_trace(json.dumps({"podgroups": [group], "pods": [protected, worker]}))
    (job,) = trace.jobs
    assert job.annotations == {"sla-waiting-time": "10m"}
    assert [role.annotations for role in job.roles] == [
        {"volcano.sh/preemptable": "false"},
        {"volcano.sh/cooldown-time": "5m"},
    ]
    assert read_trace(csv_of(trace)).jobs == trace.jobs
    created = events_of(trace)[0][0]["create"]
    assert created["podgroups"][0]["metadata"]["annotations"]["sla-waiting-time"] == "10m"
    assert created["pods"][0]["metadata"]["annotations"] == {
        "volcano.sh/preemptable": "false",
        GROUP_NAME: "default-job",
    }


def test_annotations_have_the_names_that_the_scheduler_reads() -> None:
    assert set(OF_PODGROUPS) == {*WAITING_TIMES, PREEMPTABLE, MIN_AVAILABLE, MAX_UNAVAILABLE}
    assert set(OF_PODS) == {PREEMPTABLE, COOLDOWN_TIME, REVOCABLE_ZONE}


@pytest.mark.parametrize(
    ("cell", "problem"),
    [
        ("{", "pod_annotations: '{' are no annotations"),
        ('{"team": "a"}', 'pod_annotations: \'{"team": "a"}\' are no annotations'),
        ('{"volcano.sh/preemptable": true}', "pod_annotations: volcano.sh/preemptable is not a text"),
    ],
)
def test_a_cell_that_is_no_annotations_is_an_error_at_its_place(cell: str, problem: str) -> None:
    quoted = cell.replace('"', '""')
    with pytest.raises(Unreadable) as caught:
        read_trace(f'name,queue,submit_seconds,pod_annotations\na,q,0,"{quoted}"\n')
    assert [f"{one.column}: {one.message}" for one in caught.value.problems] == [problem]
