"""Resource requests of a pod: containers, init containers, sidecars, pod-level requests, overhead."""

from __future__ import annotations

from typing import Any

from scheduler_core.model.pod import ShapeTable, pod_request
from scheduler_core.resource import Resource


def container(cpu: str, **more: Any) -> dict[str, Any]:
    return {"resources": {"requests": {"cpu": cpu}}, **more}


SPEC: dict[str, Any] = {
    "containers": [container("1"), container("1")],
    "initContainers": [
        container("4"),
        container("2", restartPolicy="Always"),
        container("3"),
        container("1", restartPolicy="Always"),
    ],
    "overhead": {"cpu": "250m"},
}


def request(spec: dict[str, Any], *, default_requests: bool = False) -> Resource:
    return pod_request(spec, default_requests=default_requests)


def test_sidecars_add_up_and_init_containers_count_once() -> None:
    assert request(SPEC).as_dict() == {"cpu": 5250, "memory": 0, "pods": 1}


def test_before_1_15_overhead_is_not_added_to_init_containers_and_pod_level_requests_are_ignored() -> None:
    spec = {
        "containers": [container("1")],
        "initContainers": [container("2")],
        "resources": {"requests": {"cpu": "10"}},
        "overhead": {"cpu": "250m"},
    }
    assert pod_request(spec, default_requests=False, pod_level=False).cpu == 2000
    assert request(spec).cpu == 10250


def test_pod_level_requests_replace_and_overhead_is_added() -> None:
    assert request({**SPEC, "resources": {"requests": {"cpu": "10"}}}).cpu == 10250


def test_limits_count_as_requests_only_with_default_requests() -> None:
    spec = {"containers": [{"resources": {"limits": {"cpu": "2"}}}]}
    assert request(spec).cpu == 0
    assert request(spec, default_requests=True).cpu == 2000


def test_pods_that_differ_only_in_ignored_fields_share_a_shape() -> None:
    shapes = ShapeTable(default_requests=True)
    one = {"containers": [{"name": "a", "env": [{"name": "INDEX", "value": "0"}], "resources": {}}]}
    two = {"containers": [{"name": "b", "env": [{"name": "INDEX", "value": "1"}], "resources": {}}]}
    assert shapes.shape_of(one) is shapes.shape_of(two)
    assert shapes.shape_of({**one, "nodeSelector": {"zone": "a"}}) is not shapes.shape_of(one)


def test_scheduling_gates_of_volcano_and_of_others_are_distinguished() -> None:
    shapes = ShapeTable(default_requests=True)
    own = [{"name": "scheduling.volcano.sh/queue-allocation-gate"}]
    assert shapes.shape_of({"schedulingGates": own}).gated
    assert not shapes.shape_of({"schedulingGates": own}).gated_by_others
    assert shapes.shape_of({"schedulingGates": [*own, {"name": "other"}]}).gated_by_others
