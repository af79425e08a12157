"""Workloads of a scenario: listed as a run reads them; added, copied, changed and removed."""

import re
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from rest_framework.response import Response
from rest_framework.test import APIClient

from planner.accounts.models import Role
from planner.scenarios.models import Scenario
from planner.scenarios.selectors.scenarios import objects_in, state_of
from planner.scenarios.services.history import undo
from planner.scenarios.services.objects import objects_write
from planner.scenarios.services.queues import queue_update
from planner.scenarios.services.workloads import workload_copy, workload_update
from planning.nodes import node_rows
from planning.workloads import WorkloadRow, Workloads
from scheduler_core.controllers import expand_jobs
from tests import factories
from tests.planner.pages import text_of

JOB = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: train, namespace: ml}
spec:
  minAvailable: 2
  queue: busy
  tasks:
  - name: worker
    replicas: 3
    template:
      spec:
        containers:
        - name: c
          image: busybox
          resources: {requests: {cpu: "2"}}
"""


QUEUE = "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: a}\n"


@pytest.fixture
def scenario(db: None) -> Scenario:
    document = factories.cluster()
    document["priorityclasses"] = [
        {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": "high"},
            "value": 9,
        }
    ]
    return factories.scenario(document=document)


def workloads(scenario: Scenario) -> Workloads:
    return Workloads(objects_in(scenario, state_of(scenario)))


def row(scenario: Scenario, kind: str, key: str) -> WorkloadRow:
    found = workloads(scenario).row(kind, key)
    assert found is not None
    return found


def post(browser: Client, scenario: Scenario, rest: str, revision: int = 1, **typed: object) -> HttpResponse:
    return browser.post(f"/scenarios/{scenario.pk}/workloads/{rest}", {"revision": str(revision), **typed})


def page(browser: Client, scenario: Scenario, rest: str = "") -> str:
    content = text_of(browser.get(f"/scenarios/{scenario.pk}/workloads/{rest}"))
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", content))


def test_workloads_are_listed_as_a_run_reads_them(browser: Client, scenario: Scenario) -> None:
    actual = page(browser, scenario)
    assert "default/run PodGroup busy – 1 16 16 0 1 core 1 GiB" in actual
    assert "default/wait PodGroup waits – 1 4 0 4 1 core 1 GiB" in actual
    assert "default/run" not in page(browser, scenario, "?waits=yes")
    assert "1 to 1 of 1 workload, 2 in total" in page(browser, scenario, "?queue=busy")


def test_finished_pods_neither_run_nor_wait(db: None) -> None:
    document = factories.cluster(nodes=1, waiting=0)
    owner = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "name": "train"}
    group = factories.podgroup("train-1", "busy", phase="Running")
    group["metadata"]["ownerReferences"] = [owner]
    members = [factories.pod(f"train-{number}", "train-1", node="n0", cpu="1m") for number in range(3)]
    members[0]["status"]["phase"] = members[1]["status"]["phase"] = "Succeeded"
    alone = factories.pod("alone", "", node="n0", cpu="1m")
    alone["metadata"]["annotations"], alone["status"]["phase"] = {}, "Succeeded"
    template = {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1m"}}}]}}
    job = {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": "train", "namespace": "default"},
        "spec": {"queue": "busy", "tasks": [{"name": "w", "replicas": 4, "template": template}]},
    }
    document["podgroups"].append(group)
    document["pods"] += [*members, alone]
    scenario = factories.scenario(document={**document, "jobs": [job]})
    found = row(scenario, "jobs", "default/train")
    assert (found.replicas, found.running, found.pending) == (4, 1, 1)
    single = row(scenario, "pods", "default/alone")
    assert (single.running, single.pending) == (0, 0)
    (node,) = node_rows(objects_in(scenario, state_of(scenario)))
    assert node.pods == 8 + 1
    job["status"] = {"state": {"phase": "Completed"}}
    over = factories.scenario("over", document={**document, "jobs": [job]})
    assert row(over, "jobs", "default/train").pending == 0


def test_the_page_of_a_waiting_workload_asks_how_many_pods_to_place(
    browser: Client, scenario: Scenario
) -> None:
    shown = text_of(browser.get(f"/scenarios/{scenario.pk}/workloads/podgroups/default/wait/"))
    assert re.search(r'<input[^>]* name="at_least"', shown)


def test_workloads_follow_a_renamed_queue(browser: Client, scenario: Scenario) -> None:
    queue_update(scenario=scenario, name="waits", patch={"name": "team"}, expected_revision=1)
    assert "default/wait PodGroup team" in page(browser, scenario)


def test_job_and_node_forms_have_fields_for_the_devices_of_the_cluster(browser: Client) -> None:
    document = factories.cluster()
    document["nodes"].append(factories.node("n2", **{"example.com/npu": "8", "hugepages-2Mi": "1Gi"}))
    scenario = factories.scenario(document=document)
    for tab, prefix in (("workloads", "requests"), ("nodes", "capacity")):
        shown = text_of(browser.get(f"/scenarios/{scenario.pk}/{tab}/"))
        assert re.findall(f'name="{prefix}[.]([^"]*)"', shown) == ["cpu", "memory", "example.com/npu"]
    typed = {"name": "sweep", "namespace": "ml", "queue": "waits", "replicas": "1", "minMember": "1"}
    amounts = {"requests.example.com/npu": "2", "requests.amd.com/gpu": "1"}
    assert post(browser, scenario, "add/", **typed, **amounts).status_code == 302
    assert row(scenario, "jobs", "ml/sweep").requests == {"example.com/npu": "2", "amd.com/gpu": "1"}


def test_a_job_is_added_by_its_form(browser: Client, scenario: Scenario) -> None:
    typed = {
        "name": "sweep", "namespace": "ml", "queue": "waits", "replicas": "6", "minMember": "2",
        "priorityClassName": "high", "requests.cpu": "500m", "requests.nvidia.com/gpu": "",
    }  # fmt: skip
    assert post(browser, scenario, "add/", **typed).status_code == 302
    added = row(scenario, "jobs", "ml/sweep")
    assert (added.queue, added.replicas, added.min_member, added.pending) == ("waits", 6, 2, 6)
    assert (added.requests, added.priority_class, added.origin) == ({"cpu": "500m"}, "high", "added")
    assert post(browser, scenario, "add/", 2, **typed).status_code == 422
    answer = text_of(post(browser, scenario, "add/", 2, name="Sweep", replicas="9" * 5000, amount="1"))
    assert 'id="job-resource_error"><li>Name the resource of this amount.' in answer
    answer = text_of(post(browser, scenario, "add/", 2, name="Sweep", replicas="9" * 5000))
    assert all(f'id="job-{name}_error"' in answer for name in ("name", "replicas"))


def test_a_new_job_runs_on_the_nodes_of_its_queue_unless_it_has_no_constraints(
    browser: Client, api: APIClient
) -> None:
    document = factories.cluster()
    constraints: Any = {"nodeSelector": {"disk": "ssd"}, "tolerations": [{"operator": "Exists"}]}
    for pod in document["pods"]:
        pod["spec"] |= constraints
    scenario = factories.scenario(document=document)
    at, fields = f"/scenarios/{scenario.pk}/workloads/", {"queue": "waits", "replicas": 1}
    call = f"/api/v1{at}"
    browser.post(f"{at}add/", {"revision": "1", "name": "typed", **fields, "requests.cpu": "1"})
    api.post(call, {"job": {"name": "sent", **fields, "requests": {"cpu": "1"}}}, headers={"If-Match": "2"})
    for revision, name, chosen in (("3", "free", "none"), ("4", "wrong", "all")):
        job = {"name": name, **fields, "node_constraints": chosen}
        answer = api.post(call, {"job": job}, headers={"If-Match": revision})
        assert answer.status_code == (201 if chosen == "none" else 422)
    wrong = browser.post(f"{at}add/", {"revision": "4", "name": "x", **fields, "node_constraints": "all"})
    assert wrong.status_code == 422
    jobs = objects_in(scenario, state_of(Scenario.objects.get())).of_kind("jobs")
    templates = {key: job["spec"]["tasks"][0]["template"]["spec"] for key, job in jobs.items()}
    found = {key: {name: spec.get(name) for name in constraints} for key, spec in templates.items()}
    assert found == {
        "default/typed": constraints,
        "default/sent": constraints,
        "default/free": {"nodeSelector": None, "tolerations": None},
    }


def test_a_new_job_runs_on_nodes_that_are_large_enough(api: APIClient) -> None:
    gpu = "nvidia.com/gpu"
    document = factories.cluster()
    for number, (node, amount) in enumerate(zip(document["nodes"], (4, 8), strict=True)):
        node["metadata"].setdefault("labels", {})["pool"] = f"p{number}"
        node["status"]["allocatable"][gpu] = str(amount)
    for number, pod in enumerate(document["pods"][-3:]):
        pod["spec"] |= {"nodeSelector": {"pool": "p0" if number < 2 else "p1"}}
        pod["spec"]["containers"][0]["resources"]["requests"][gpu] = "1"
    for number, pod in enumerate(document["pods"][-3:]):
        name = f"own-{number}"
        document["podgroups"].append(factories.podgroup(name, "waits", phase="Inqueue"))
        pod["metadata"]["annotations"]["scheduling.k8s.io/group-name"] = name
    scenario = factories.scenario(document=document)
    new = {"name": "large", "queue": "waits", "replicas": 1, "requests": {gpu: "8"}}
    send(api, f"/api/v1/scenarios/{scenario.pk}/workloads/", {"job": new})
    [job] = objects_in(scenario, state_of(Scenario.objects.get())).of_kind("jobs").values()
    assert job["spec"]["tasks"][0]["template"]["spec"]["nodeSelector"] == {"pool": "p1"}


def test_workloads_are_added_from_yaml(browser: Client, scenario: Scenario) -> None:
    assert post(browser, scenario, "add/", documents=JOB).status_code == 302
    assert row(scenario, "jobs", "ml/train").min_member == 2
    broken = JOB.replace('"2"', "many")
    answer = post(browser, scenario, "add/", 2, documents=broken)
    assert answer.status_code == 422
    assert "many" in text_of(answer).split("Add from YAML")[1]
    assert "line" in text_of(answer)
    assert post(browser, scenario, "add/", 2, documents="just: text").status_code == 422
    assert scenario.object_changes.count() == 1


def test_a_copied_workload_is_pending(browser: Client, scenario: Scenario) -> None:
    at = "podgroups/default/run/"
    assert post(browser, scenario, at, count="2", copy="1").status_code == 302
    copied = row(scenario, "podgroups", "default/run-copy-2")
    assert (copied.queue, copied.replicas, copied.running, copied.pending) == ("busy", 16, 0, 16)
    assert post(browser, scenario, at, 2, count="1", copy="1").status_code == 302
    assert row(scenario, "podgroups", "default/run-copy-3").pending == 16
    for count in ("0", "many", "100000"):
        assert post(browser, scenario, at, 3, count=count, copy="1").status_code == 422


def test_a_change_of_a_podgroup_applies_to_its_pods(browser: Client, scenario: Scenario) -> None:
    typed = {
        "queue": "waits", "priorityClassName": "high", "minMember": "3", "replicas": "18",
        "requests.cpu": "2", "requests.memory": "1Gi",
    }  # fmt: skip
    assert post(browser, scenario, "podgroups/default/run/", **typed).status_code == 302
    changed = row(scenario, "podgroups", "default/run")
    assert (changed.queue, changed.min_member, changed.priority_class) == ("waits", 3, "high")
    assert (changed.replicas, changed.running, changed.origin) == (18, 16, "changed")
    pods = [pod for key, pod in workloads(scenario).pods.items() if key.startswith("default/run")]
    assert {pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] for pod in pods} == {"2"}
    assert {pod["spec"]["priorityClassName"] for pod in pods} == {"high"}
    post(browser, scenario, "podgroups/default/run/", 2, replicas="1")
    assert row(scenario, "podgroups", "default/run").running == 1
    undo(scenario=scenario, expected_revision=3)
    undo(scenario=scenario, expected_revision=4)
    assert not scenario.object_changes.exists()


def test_a_workload_is_removed_with_all_its_objects(browser: Client, scenario: Scenario) -> None:
    assert post(browser, scenario, "podgroups/default/run/", remove="1").status_code == 302
    assert list(workloads(scenario).podgroups) == ["default/wait"]
    assert len(workloads(scenario).pods) == 4
    assert browser.get(f"/scenarios/{scenario.pk}/workloads/podgroups/default/run/").status_code == 404


def test_every_error_is_reported_and_the_input_is_kept(browser: Client, scenario: Scenario) -> None:
    typed = {"replicas": "many", "minMember": "-1", "requests.cpu": "8 cores"}
    answer = post(browser, scenario, "podgroups/default/run/", **typed)
    assert answer.status_code == 422
    content = text_of(answer)
    for path in ("replicas", "minMember", "requests.cpu"):
        assert f"podgroups.default/run.{path}" in content
        assert f'id="id_{path}_error"' in content
    assert 'value="8 cores"' in content
    assert not scenario.object_changes.exists()


def test_a_stale_workload_edit_is_refused(browser: Client, scenario: Scenario) -> None:
    post(browser, scenario, "podgroups/default/run/", minMember="2")
    answer = post(browser, scenario, "podgroups/default/run/", minMember="3")
    assert answer.status_code == 412
    assert "You edited revision 1; it is now at revision 2." in text_of(answer)
    assert 'value="3"' in text_of(answer)


def test_a_viewer_reads_the_workloads_and_an_outsider_does_not(client: Client, scenario: Scenario) -> None:
    client.force_login(factories.user("viewer", role=Role.VIEWER))
    assert "Add a job" not in page(client, scenario)
    assert "Save" not in page(client, scenario, "podgroups/default/run/")
    assert post(client, scenario, "podgroups/default/run/", remove="1").status_code == 403
    assert post(client, scenario, "add/", documents=JOB).status_code == 403
    client.force_login(factories.user("outsider", role=None))
    assert client.get(f"/scenarios/{scenario.pk}/workloads/").status_code == 404


def test_the_query_count_of_the_page_does_not_grow_with_the_workloads(
    browser: Client, db: None, django_assert_max_num_queries
) -> None:
    document = factories.cluster()
    document["podgroups"] += [factories.podgroup(f"j{number}", "waits") for number in range(400)]
    document["pods"] += [factories.pod(f"j{number}-0", f"j{number}") for number in range(400)]
    scenario = factories.scenario(document=document)
    page(browser, scenario)
    with django_assert_max_num_queries(8):
        assert "1 to 25 of 402 workloads" in page(browser, scenario)


def send(api: APIClient, at: str, body: object, *, seen: int = 1) -> Response:
    return api.post(at, body, headers={"If-Match": str(seen)})


def test_workloads_are_created_copied_patched_and_deleted_through_the_api(
    api: APIClient, scenario: Scenario
) -> None:
    at = f"/api/v1/scenarios/{scenario.pk}/workloads/"
    listed = api.get(f"{at}?queue=busy").json()
    assert (listed["count"], listed["results"][0]["amounts"]["cpu"]["value"]) == (1, 1000.0)
    job = {"name": "a", "queue": "waits", "replicas": 2, "requests": {"cpu": "1"}}
    made = send(api, at, {"job": job})
    assert (made.status_code, made.json()) == (
        201, {"objects": [{"kind": "jobs", "key": "default/a"}], "problems": [], "notes": []},
    )  # fmt: skip
    assert send(api, at, {"documents": JOB}, seen=2).status_code == 201
    copies = {"kind": "podgroups", "namespace": "default", "name": "wait", "count": 3}
    assert len(send(api, at, {"copy": copies}, seen=3).json()["objects"]) == 15
    one = f"{at}jobs/ml/train/"
    patch = {"replicas": 5, "minMember": 4, "queue": "waits", "requests": {"cpu": "3", "memory": "1Gi"}}
    changed = api.patch(one, patch, headers={"If-Match": "4"}).json()
    assert {name: changed[name] for name in patch} == patch
    assert api.get(f"{at}?origin=added&name=TRAIN&pending=true").json()["count"] == 1
    assert api.delete(one, headers={"If-Match": "5"}).status_code == 200
    assert api.get(one).status_code == 404
    assert api.get(f"{at}?colour=red").status_code == 422


WRONG: dict[str, tuple[Any, set[str]]] = {
    "nothing": ({}, {"request.one_of"}),
    "two alternatives": ({"documents": JOB, "job": {"name": "a", "replicas": 1}}, {"request.one_of"}),
    "an invalid name and an invalid amount": (
        {"job": {"name": "A!", "replicas": -1, "requests": {"cpu": "x"}}},
        {"name.illegal", "number.range", "quantity.unreadable"},
    ),
    "a copy of a missing workload": (
        {"copy": {"kind": "jobs", "namespace": "x", "name": "y"}},
        {"workload.missing"},
    ),
    "manifests without workloads": ({"documents": QUEUE}, {"workload.none"}),
}


@pytest.mark.parametrize(("body", "rules"), WRONG.values(), ids=WRONG)
def test_an_invalid_new_workload_is_refused(
    api: APIClient, scenario: Scenario, body: Any, rules: set[str]
) -> None:
    answer = send(api, f"/api/v1/scenarios/{scenario.pk}/workloads/", body)
    assert answer.status_code == 422
    assert {problem["rule"] for problem in answer.json()["problems"]} == rules


@pytest.mark.parametrize(
    "patch", [{"colour": 1}, {"replicas": True}, {"requests": []}, {"requests": {"cpu": "-1"}}, {"queue": 3}]
)
def test_an_invalid_workload_patch_is_refused(api: APIClient, scenario: Scenario, patch: Any) -> None:
    at = f"/api/v1/scenarios/{scenario.pk}/workloads/podgroups/default/run/"
    assert api.patch(at, patch, headers={"If-Match": "1"}).status_code == 422
    assert api.patch(at, {"queue": "waits"}).status_code == 428
    assert not scenario.object_changes.exists()


def controlled(name: str, task: str, cpu: str) -> dict[str, Any]:
    """Return a running pod of the job `train`, as its controller makes it."""
    pod = factories.pod(name, "train-u1", node="n0", cpu=cpu)
    template = {"volcano.sh/template-uid": f"train-{task}", "volcano.sh/job-name": "train"}
    pod["metadata"]["annotations"] |= template
    return pod


@pytest.fixture
def running_job(db: None) -> Scenario:
    """A scenario with a running vcjob of two tasks, its PodGroup and pods."""
    document = factories.cluster()
    requests = {"worker": "2", "ps": "1"}
    tasks = [
        {
            "name": name,
            "replicas": replicas,
            "template": {
                "spec": {"containers": [{"name": "c", "image": "x", "resources": {"requests": {"cpu": cpu}}}]}
            },
        }
        for (name, cpu), replicas in zip(requests.items(), (2, 1), strict=True)
    ]
    metadata = {"name": "train", "namespace": "default", "uid": "u1"}
    spec = {"schedulerName": "volcano", "queue": "busy", "minAvailable": 3, "tasks": tasks}
    kind = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job"}
    group = factories.podgroup("train-u1", "busy", min_member=3)
    group["metadata"]["ownerReferences"] = [{**kind, "name": "train", "uid": "u1"}]
    group["spec"]["minResources"] = {"cpu": "5"}
    document["jobs"] = [{**kind, "metadata": metadata, "spec": spec}]
    document["podgroups"].append(group)
    names = (("train-worker-0", "worker"), ("train-worker-1", "worker"), ("train-ps-0", "ps"))
    document["pods"] += [controlled(name, task, requests[task]) for name, task in names]
    return factories.scenario(document=document)


def change(scenario: Scenario, **fields: object) -> WorkloadRow:
    key = "default/train"
    seen = scenario.revision
    workload_update(scenario=scenario, kind="jobs", key=key, fields=fields, expected_revision=seen)
    return row(scenario, "jobs", key)


def test_requests_and_replicas_of_a_job_are_those_of_its_first_task(running_job: Scenario) -> None:
    change(running_job, requests={"cpu": "3"})
    there = objects_in(running_job, state_of(running_job))
    asked = {
        name: pod["spec"]["containers"][0]["resources"]["requests"]["cpu"]
        for name, pod in there.of_kind("pods").items()
        if "train" in name
    }
    assert asked == {"default/train-worker-0": "3", "default/train-worker-1": "3", "default/train-ps-0": "1"}
    group = there.get("podgroups", "default/train-u1")
    assert group is not None
    assert group["spec"]["minResources"]["cpu"] == "7"
    fewer = change(running_job, replicas=2)
    assert (fewer.replicas, fewer.running, fewer.pending) == (2, 2, 0)
    assert "default/train-worker-1" not in workloads(running_job).pods


def test_a_copied_job_has_the_podgroup_of_its_controller_and_templates_of_its_own(
    running_job: Scenario,
) -> None:
    copied = {"scenario": running_job, "kind": "jobs", "key": "default/train", "count": 1}
    workload_copy(**copied, expected_revision=1)
    there = workloads(running_job)
    made = expand_jobs(
        list(there.jobs.values()),
        podgroups=there.podgroups,
        pods=there.pods,
        namespaces=(),
        class_values={},
        scheduler_names=["volcano"],
    )
    assert (list(made.podgroups), list(made.pods)) == ([], [])
    pod = there.pods["default/train-copy-1-ps-0"]
    assert pod["metadata"]["annotations"]["volcano.sh/template-uid"] == "train-copy-1-ps"
    assert row(running_job, "jobs", "default/train-copy-1").pending == 3
    workload_copy(**{**copied, "kind": "podgroups", "key": "default/train-u1"}, expected_revision=2)
    assert row(running_job, "jobs", "default/train").running == 3


@pytest.mark.parametrize(
    ("kind", "key", "fields", "rules"),
    [
        ("jobs", "default/train", {"replicas": 0}, {"replicas": "number.range"}),
        ("podgroups", "default/empty", {"replicas": 2}, {"replicas": "workload.no_pod"}),
        (
            "pods",
            "default/single",
            {"replicas": 2, "minMember": 1},
            {"replicas": "workload.field", "minMember": "workload.field"},
        ),
    ],
)
def test_a_change_that_a_workload_cannot_have_is_refused(
    api: APIClient, running_job: Scenario, kind: str, key: str, fields: Any, rules: dict[str, str]
) -> None:
    single = factories.pod("single", "")
    single["metadata"]["annotations"] = {}
    wanted = {
        ("pods", "default/single"): single,
        ("podgroups", "default/empty"): factories.podgroup("empty", "busy"),
    }
    objects_write(scenario=running_job, wanted=wanted, expected_revision=1)
    at = f"/api/v1/scenarios/{running_job.pk}/workloads/{kind}/{key}/"
    refused = api.patch(at, fields, headers={"If-Match": "2"})
    assert refused.status_code == 422
    found = {problem["path"]: problem["rule"] for problem in refused.json()["problems"]}
    assert found == {f"{kind}.{key}.{field}": rule for field, rule in rules.items()}
