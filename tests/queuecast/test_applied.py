"""The objects of a change arrive as with `kubectl apply`, webhooks and controllers."""

import json
from pathlib import Path
from typing import Any

import pytest

from queuecast.__main__ import main
from queuecast.effects import changes
from tests.builders import (
    GROUP_NAME,
    Object,
    amounts,
    at,
    conf,
    job,
    node,
    pod,
    podgroup,
    pods,
    queue,
    scenario,
)

CAPACITY = conf("enqueue, allocate, backfill", ["gang"], ["predicates", "capacity"])
VERSIONS = {
    "Job": "batch.volcano.sh/v1alpha1",
    "Pod": "v1",
    "PodGroup": "scheduling.volcano.sh/v1beta1",
    "PriorityClass": "scheduling.k8s.io/v1",
    "Queue": "scheduling.volcano.sh/v1beta1",
}
PROPORTION = conf("enqueue, allocate, backfill", ["gang"], ["predicates", "proportion"])


def checked(
    folder: Path, capsys: pytest.CaptureFixture[str], document: Object, changes: list[Object], *rules: Object
) -> Any:
    """Return the report of a check of some objects."""
    contents = {"cluster": document, "changes": listed(changes), "rules": rules or [{"max_evictions": 0}]}
    files = {name: folder / f"{name}.json" for name in contents}
    for name, path in files.items():
        path.write_text(json.dumps(contents[name]))
    against = ["--against", str(files["cluster"]), "--assert", str(files["rules"])]
    main(["check", str(files["changes"]), *against, "--report", "json"])
    return json.loads(capsys.readouterr().out)


def listed(things: list[Object]) -> Object:
    return {"apiVersion": "v1", "kind": "List", "items": things}


def manifest(kind: str, thing: Object, **metadata: Any) -> Object:
    """Return an object as somebody writes it: without status and without what the cluster adds."""
    own = {key: value for key, value in thing.items() if key not in ("metadata", "status")}
    metadata = {"name": thing["metadata"]["name"], **metadata}
    return {"apiVersion": VERSIONS[kind], "kind": kind, "metadata": metadata, **own}


@pytest.mark.parametrize("clock", [{}, {"now": at(7200)}])
def test_a_new_queue_and_its_jobs_are_younger_than_all_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], clock: Object
) -> None:
    """Of two queues with equal shares the older one is served first."""
    document = scenario(
        nodes=[node("n0", cpu=2, memory="8Gi")],
        queues=[queue("zebra", deserved=amounts(cpu=2))],
        podgroups=[podgroup("old", queue="zebra", created=60)],
        pods=pods("old", 1, cpu=2, created=60),
        conf=CAPACITY,
    )
    document = {key: value for key, value in document.items() if key != "now"} | clock
    young = [
        manifest("Queue", queue("ant", deserved=amounts(cpu=2)), creationTimestamp=None),
        {**manifest("PodGroup", podgroup("new", queue="ant")), "status": {"phase": "Inqueue"}},
        manifest("Pod", pod("new-0", cpu=2), annotations={GROUP_NAME: "new"}),
    ]
    rules = [{"job_runs": "default/old"}, {"job_runs": "default/new"}]
    report = checked(tmp_path, capsys, document, young, *rules)
    assert [rule["status"] for rule in report["rules"]] == ["kept", "broken"]


def test_a_pod_keeps_its_node_and_its_podgroup(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    running = pod("web", group="podgroup-1", node="n0", cpu=2)
    document = scenario(
        nodes=[node("n0", cpu=2, memory="8Gi")],
        queues=[queue("a")],
        podgroups=[podgroup("podgroup-1", queue="a", phase="Running")],
        pods=[running],
        conf=PROPORTION,
    )
    spec = {key: value for key, value in running["spec"].items() if key != "nodeName"}
    change = manifest("Pod", {**running, "spec": spec}, labels={"team": "x"})
    report = checked(tmp_path, capsys, document, [change], {"job_runs": "default/podgroup-1"})
    assert report["passed"]
    changed = [(one["field"], one["before"], one["after"]) for one in report["changes"]]
    assert ("metadata.labels.team", None, "x") in changed
    assert not any("nodeName" in field or "annotations" in field for field, _, _ in changed)


def test_a_node_keeps_labels_taints_and_amounts_of_the_cluster(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = scenario(nodes=[node("n0", cpu=2, unschedulable=True)], conf=PROPORTION)
    change = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n0", "labels": {"zone": "a"}}}
    change["status"] = {"allocatable": {"cpu": "4"}}
    report = checked(tmp_path, capsys, document, [change])
    changed = [(one["field"], one["before"], one["after"]) for one in report["changes"]]
    assert changed == [("status.allocatable.cpu", "2", "4"), ("metadata.labels.zone", None, "a")]


def test_a_queue_keeps_the_mark_of_its_controller(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mark = {"volcano.sh/closed-by-parent": "false"}
    document = scenario(queues=[queue("a", annotations=mark)], conf=PROPORTION)
    report = checked(tmp_path, capsys, document, [manifest("Queue", queue("a", weight=2))])
    assert [one["field"] for one in report["changes"]] == ["spec.weight"]


def test_what_a_snapshot_never_keeps_is_neither_compared_nor_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """So the output of kubectl and a stored snapshot of it are checked alike, and no secret is printed."""
    notes = {"kubectl.kubernetes.io/last-applied-configuration": "{}"}
    closing = {**queue("a", annotations=notes), "status": {"state": "Closing"}}
    document = scenario(queues=[closing, queue("b", annotations=notes)], conf=PROPORTION)
    secret = manifest("Pod", pod("web", spec={"containers": [{"env": [{"name": "KEY", "value": "hidden"}]}]}))
    same = [manifest("Queue", queue("a")), manifest("Queue", queue("b"))]
    report = checked(tmp_path, capsys, document, [*same, secret])
    assert report["passed"], report["problems"]
    assert report["steps"] == []
    assert [one["kind"] for one in report["changes"]] == ["pods"]
    assert "hidden" not in json.dumps(report)


def test_closing_a_queue_keeps_the_rest_of_its_status(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = scenario(queues=[queue("a")], conf=PROPORTION)
    document["queues"][0]["status"]["allocated"] = {"pods": "3"}
    change = {**manifest("Queue", queue("a")), "status": {"state": "Closed"}}
    report = checked(tmp_path, capsys, document, [change, manifest("Queue", queue("b", parent="a"))])
    assert [one["rule"] for one in report["problems"] if one["severity"] == "error"] == [
        "queue.parent_has_pods"
    ]
    assert [one["field"] for one in report["changes"]] == ["status.state", ""]


def test_a_problem_of_the_snapshot_has_its_file_and_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = scenario(nodes=[node("n0", cpu="lots")], queues=[queue("a")], conf=PROPORTION)
    report = checked(tmp_path, capsys, document, [manifest("Queue", queue("a", weight=2))])
    assert [(one["field"], one["document"], one["line"]) for one in report["problems"]] == [
        ("status.allocatable.cpu", str(tmp_path / "cluster.json"), 1),
        ("status.capacity.cpu", str(tmp_path / "cluster.json"), 1),
    ]


def test_an_emptied_configuration_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    metadata = {"name": "volcano-scheduler-configmap", "namespace": "volcano-system"}
    data = {"volcano-scheduler.conf": ""}
    change = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
    report = checked(tmp_path, capsys, scenario(queues=[queue("a")], conf=PROPORTION), [change])
    assert [(one["rule"], one["line"]) for one in report["problems"]] == [("conf.rejected", 1)]


@pytest.mark.parametrize("field", ["metadata.annotations", "spec.parent", "spec.deserved"])
def test_a_malformed_change_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], field: str
) -> None:
    document = scenario(queues=[queue("a", annotations={"volcano.sh/closed-by-parent": "true"})])
    change = manifest("Queue", queue("a"))
    part, _, name = field.partition(".")
    change[part][name] = 1.5
    report = checked(tmp_path, capsys, document, [change])
    assert [one["field"] for one in report["problems"]] == [field]


def job_of_queue(name: str, **fields: Any) -> Object:
    template = {"spec": {"containers": [{"name": "main", "resources": {"requests": amounts(cpu=1)}}]}}
    return job("train", queue=name, tasks=[{"name": "w", "replicas": 1, "template": template}], **fields)


def running_job() -> Object:
    return {**job_of_queue("a"), "status": {"state": {"phase": "Running"}}}


@pytest.mark.parametrize(("there", "written"), [(True, {}), (False, {"namespace": "default"})])
def test_an_object_without_a_namespace_is_that_of_the_default_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], there: bool, written: Object
) -> None:
    present = running_job()
    if not there:
        del present["metadata"]["namespace"]
    document = scenario(nodes=[node("n0", cpu=4)], queues=[queue("a")], jobs=[present], conf=PROPORTION)
    change = manifest("Job", job_of_queue("a", priorityClassName="high"), **written)
    report = checked(tmp_path, capsys, document, [change])
    assert [one["field"] for one in report["changes"]] == ["spec.priorityClassName"]


def test_an_existing_job_does_not_refuse_children_of_its_queue(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The webhook looks for a leaf when a job is created."""
    document = scenario(queues=[queue("a")], jobs=[running_job()], conf=PROPORTION)
    report = checked(tmp_path, capsys, document, [manifest("Queue", queue("b", parent="a"))])
    assert report["passed"], report["problems"]


@pytest.mark.parametrize(
    ("kind", "change", "field"),
    [
        ("Job", job_of_queue("b"), "spec.queue"),
        ("Job", job_of_queue("a") | {"spec": {"tasks": [{"name": "x"}, {"name": "y"}]}}, "spec.tasks"),
        ("Job", job_of_queue("a", schedulerName="mine"), "spec.schedulerName"),
        ("Pod", pod("web", cpu=2), "spec.containers[0].resources.requests.cpu"),
        ("Pod", pod("web", node="n1", cpu=1), "spec.nodeName"),
        ("PriorityClass", {"metadata": {"name": "high"}, "value": 2}, "value"),
    ],
)
def test_the_cluster_refuses_changes_of_fixed_fields(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str, change: Object, field: str
) -> None:
    document = scenario(
        nodes=[node("n0", cpu=4), node("n1", cpu=4)],
        queues=[queue("a"), queue("b")],
        jobs=[running_job()],
        pods=[pod("web", node="n0", cpu="1000m")],
        priorityclasses=[{"metadata": {"name": "high"}, "value": 1}],
        conf=PROPORTION,
    )
    report = checked(tmp_path, capsys, document, [manifest(kind, change)])
    refused = [one for one in report["problems"] if one["severity"] == "error"]
    assert [(one["field"], one["line"] is not None) for one in refused] == [(field, True)]
    assert not report["passed"]


def test_equal_amounts_and_what_may_change_are_accepted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = scenario(
        nodes=[node("n0", cpu=4)],
        queues=[queue("a")],
        jobs=[running_job()],
        pods=[pod("web", node="n0", cpu="1000m")],
        conf=PROPORTION,
    )
    grown = job_of_queue("a", minAvailable=1)
    grown["spec"]["tasks"] = [{**grown["spec"]["tasks"][0], "replicas": 2}]
    report = checked(tmp_path, capsys, document, [manifest("Job", grown), manifest("Pod", pod("web", cpu=1))])
    assert report["passed"], report["problems"]


def test_podgroup_and_pods_follow_a_changed_job(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The job controller updates the podgroup, and deletes the pods beyond the replicas."""
    task = {**job_of_queue("a")["spec"]["tasks"][0], "replicas": 3}
    present = {**job_of_queue("a", minAvailable=1), "status": {"state": {"phase": "Running"}}}
    present["spec"]["tasks"] = [task]
    document = scenario(
        nodes=[node("n0", cpu=3, memory="8Gi")],
        queues=[queue("a")],
        jobs=[present],
        podgroups=[podgroup("train", queue="a", phase="Running")],
        pods=[pod(f"train-w-{index}", group="train", node="n0", cpu=1) for index in range(3)],
        conf=PROPORTION,
    )

    def changed(minimum: int, replicas: int) -> Object:
        spec = {**present["spec"], "minAvailable": minimum, "tasks": [{**task, "replicas": replicas}]}
        return manifest("Job", {**present, "spec": spec})

    runs = {"job_runs": "default/train"}
    fewer = checked(tmp_path, capsys, document, [changed(1, 1)], runs)
    assert fewer["passed"]
    assert [one["name"] for one in fewer["changes"] if one["kind"] == "pods"] == [
        "default/train-w-1", "default/train-w-2"
    ]  # fmt: skip
    more = checked(tmp_path, capsys, document, [changed(4, 4)], runs, {"no_new_pending": True})
    assert [rule["status"] for rule in more["rules"]] == ["broken", "broken"]


@pytest.mark.parametrize("rule", [
    {"deserved_at_least": {"queue": "a", "resources": {"cpu": 1}}},
    {"share_within": {"queue": "a", "min": 0.5}},
])  # fmt: skip
def test_a_rule_about_figures_that_no_plugin_computes_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], rule: Object
) -> None:
    document = scenario(
        nodes=[node("n0", cpu=4)],
        queues=[queue("a")],
        podgroups=[podgroup("run", queue="a")],
        pods=pods("run", 1, cpu=1),
        conf=conf("allocate", ["gang"], ["predicates"]),
    )
    (found,) = checked(tmp_path, capsys, document, [manifest("Queue", queue("a", weight=2))], rule)["rules"]
    assert (found["status"], found["why"]) == (
        "skipped", "no plugin computes deserved and share of queues: add proportion or capacity"
    )  # fmt: skip


def test_creation_times_are_no_difference_as_only_the_cluster_sets_them() -> None:
    stamped = {"metadata": {"name": "n0", "creationTimestamp": "2026-01-01T00:00:01Z"}}
    assert changes({"nodes": [stamped]}, {"nodes": [{"metadata": {"name": "n0"}}]}) == []
