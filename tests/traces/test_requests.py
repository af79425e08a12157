"""Requests of pods in traces equal those that the scheduler counts."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest

from planning.forecasts.trace_texts import csv_of
from scheduler_core.model.pod import pod_request
from scheduler_core.resource_list import read_resource_list
from tests.builders import Object, pod, podgroup
from traces import read_trace
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


def test_a_job_has_the_size_of_most_of_its_pods_and_this_is_noted() -> None:
    selects = {"nodeSelector": {"a": "b"}}
    devices = {"huawei.com/Ascend910": 8, "rdma/hca": 1}
    document = {
        "podgroups": [podgroup("mpi", min_member=3), podgroup("pair"), podgroup("equal")],
        "pods": [
            pod("launcher", group="mpi", cpu=1),
            *(pod(f"worker-{n}", group="mpi", spec=selects, cpu=4, **devices) for n in "12"),
            pod("pair-a", group="pair", cpu=1),
            pod("pair-b", group="pair", cpu=2, **devices),
            pod("equal-a", group="equal", cpu=1),
            pod("equal-b", group="equal", cpu=1),
        ],
    }  # fmt: skip
    trace = read_trace(json.dumps(document))
    jobs = {job.name: job for job in trace.jobs}
    assert jobs["default/mpi"].requests == {
        "cpu": "4", "memory": "0", "huawei.com/Ascend910": "8", "rdma/hca": "1",
    }  # fmt: skip
    assert (jobs["default/mpi"].pods, jobs["default/mpi"].constraints) == (3, {"nodeSelector": {"a": "b"}})
    assert jobs["default/pair"].requests["huawei.com/Ascend910"] == "8"
    assert "Assumed: all pods of 2 jobs request what most of them request." in trace.notes
    again = read_trace(csv_of(trace))
    assert [job.requests for job in again.jobs] == [job.requests for job in trace.jobs]
    assert [job.constraints for job in again.jobs] == [job.constraints for job in trace.jobs]
