"""The release of Volcano is read from the image of the scheduler, and from nothing else."""

import json
from typing import Any

import pytest

import manifests


def workload(image: str, *, kind: str = "Deployment", name: str = "volcano-scheduler") -> dict[str, Any]:
    spec: dict[str, Any] = {
        "containers": [{"name": "proxy", "image": "proxy:v9.9.9"}, {"name": "s", "image": image}]
    }
    metadata = {"name": name, "namespace": "volcano-system"}
    if kind == "Pod":
        return {"apiVersion": "v1", "kind": kind, "metadata": metadata, "spec": spec}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": metadata, "spec": {"template": {"spec": spec}}}


QUEUE = {
    "apiVersion": "scheduling.volcano.sh/v1beta1",
    "kind": "Queue",
    "metadata": {"name": "q"},
    "spec": {},
}


def read(*objects: dict[str, Any]) -> manifests.Reading:
    text = "\n---\n".join(json.dumps(thing) for thing in objects)
    return manifests.read([("cluster.yaml", text.encode())])


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet", "Pod"])
@pytest.mark.parametrize(
    ("image", "release"),
    [
        ("docker.io/volcanosh/vc-scheduler:v1.14.4", "v1.14.4"),
        ("registry.example:5000/mirror/vc-scheduler:1.15.0-rc.1", "1.15.0-rc.1"),
        ("volcanosh/vc-scheduler:v1.16.0-alpha.1@sha256:00", "v1.16.0-alpha.1"),
    ],
)
def test_the_release_is_the_tag_of_the_scheduler_image(kind: str, image: str, release: str) -> None:
    reading = read(QUEUE, workload(image, kind=kind))
    assert reading.document["release"] == release
    (problem,) = reading.problems
    assert (problem.rule, problem.severity) == ("release.found", "remark")
    assert release in problem.message
    assert reading.line_of("release") == ("cluster.yaml#2", 3)


@pytest.mark.parametrize(
    "image", ["volcanosh/vc-controller-manager:v1.14.4", "example/my-vc-scheduler-tools:v1"]
)
def test_other_images_name_no_release(image: str) -> None:
    assert "release" not in read(QUEUE, workload(image)).document


@pytest.mark.parametrize("image", ["volcanosh/vc-scheduler:latest", "volcanosh/vc-scheduler"])
def test_a_tag_without_a_version_is_reported_with_its_document(image: str) -> None:
    reading = read(QUEUE, workload(image))
    assert "release" not in reading.document
    (problem,) = reading.problems
    assert (problem.rule, problem.severity, problem.document) == (
        "release.unknown",
        "warning",
        "cluster.yaml#2",
    )
    assert image in problem.message


def test_schedulers_of_two_releases_are_reported() -> None:
    reading = read(
        QUEUE, workload("x/vc-scheduler:v1.14.4"), workload("x/vc-scheduler:v1.15.1", kind="Pod", name="s-0")
    )
    assert reading.document["release"] == "v1.14.4"
    problem = next(problem for problem in reading.problems if problem.rule == "release.several")
    assert "Pod volcano-system/s-0 runs Volcano v1.15.1" in problem.message


def test_the_scheduler_deployment_is_not_listed_as_an_ignored_kind() -> None:
    assert read(QUEUE, workload("x/vc-scheduler:v1.14.4")).unknown_kinds == {}
    assert read(QUEUE, workload("x/web:v1")).unknown_kinds == {"apps/v1 Deployment": 1}


def test_a_scenario_keeps_its_own_release() -> None:
    pod = workload("x/vc-scheduler:v1.14.4", kind="Pod")
    reading = read({"nodes": [], "queues": [QUEUE], "podgroups": [], "pods": [pod], "release": "v1.15.1"})
    assert reading.document["release"] == "v1.15.1"


@pytest.mark.parametrize(
    "broken", [None, [], "text", {"containers": "none"}, {"containers": [None, {"image": 3}]}]
)
def test_broken_specifications_are_ignored(broken: Any) -> None:
    thing = workload("x")
    thing["spec"]["template"]["spec"] = broken
    assert "release" not in read(QUEUE, thing).document
