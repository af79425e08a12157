"""Importing a cluster through the API."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from rest_framework.response import Response
from rest_framework.test import APIClient

import manifests
from planner.clusters.models import Blob, Snapshot
from tests import factories

pytestmark = pytest.mark.django_db
URL = "/api/v1/snapshots/"


def objects() -> list[dict[str, Any]]:
    cluster = factories.cluster()
    return [item for kind in ("nodes", "queues", "podgroups", "pods") for item in cluster[kind]]


def as_yaml(*extra: dict[str, Any]) -> str:
    return "---\n".join(manifests.dump(item) for item in [*objects(), *extra])


def config_map() -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "volcano-scheduler-configmap", "namespace": "volcano-system"},
        "data": {"volcano-scheduler.conf": factories.CONF},
    }


def upload(api: APIClient, *files: tuple[str, bytes], query: str = "", **fields: Any) -> Response:
    sent = [SimpleUploadedFile(name, content) for name, content in files]
    return api.post(URL + query, {"files": sent, **fields}, format="multipart")


def assert_small_cluster(response: Response) -> Snapshot:
    assert response.status_code == 201, response.json()
    made = response.json()
    counts = {kind: count for kind, count in made["counts"].items() if count}
    assert counts == {"nodes": 2, "queues": 2, "podgroups": 2, "pods": 20}
    assert api_body_of(made["id"]) == factories.cluster()["queues"]
    return Snapshot.objects.get(pk=made["id"])


def api_body_of(snapshot_id: str) -> Any:
    return Snapshot.objects.get(pk=snapshot_id).content.document()["queues"]


def test_a_scenario_document_is_imported(api: APIClient) -> None:
    scenario = {**factories.cluster(), "scheduler_conf": factories.CONF}
    snapshot = assert_small_cluster(api.post(URL, {"name": "small", "scenario": scenario}))
    assert (snapshot.name, snapshot.scheduler_conf) == ("small", factories.CONF)
    read = api.get(f"{URL}{snapshot.pk}/").json()
    assert read["name"] == "small"
    assert "conf.reclaim_bypasses_quota" in [problem["rule"] for problem in read["problems"]]
    assert [row["id"] for row in api.get(f"{URL}?name=SMA").json()["results"]] == [str(snapshot.pk)]


def test_kubernetes_documents_are_imported_from_text(api: APIClient) -> None:
    snapshot = assert_small_cluster(api.post(URL, {"name": "small", "documents": as_yaml(config_map())}))
    assert snapshot.scheduler_conf == factories.CONF


def test_files_are_imported_plain_or_gzipped(api: APIClient) -> None:
    listed = {"apiVersion": "v1", "kind": "List", "items": objects()}
    cluster = gzip.compress(json.dumps(listed).encode())
    conf = manifests.dump(config_map()).encode()
    snapshot = assert_small_cluster(
        upload(api, ("cluster.json.gz", cluster), ("conf.yaml", conf), name="small")
    )
    assert snapshot.scheduler_conf == factories.CONF
    assert snapshot.provenance == "API: cluster.json.gz, conf.yaml"


def test_an_unnamed_upload_takes_the_file_name_from_any_field(api: APIClient) -> None:
    file = SimpleUploadedFile("cluster.yaml", as_yaml().encode())
    response = api.post(URL, {"anything": file}, format="multipart")
    assert response.json()["name"] == "cluster.yaml"


def test_an_imported_snapshot_can_be_run(api: APIClient) -> None:
    snapshot = api.post(URL, {"name": "small", "documents": as_yaml(config_map())}).json()
    scenario = api.post("/api/v1/scenarios/", {"name": "what if", "snapshot": snapshot["id"]}).json()
    assert api.post(f"/api/v1/scenarios/{scenario['id']}/runs/").status_code == 202


def test_kinds_that_the_scheduler_does_not_read_are_listed(api: APIClient) -> None:
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}}
    response = api.post(URL, {"name": "small", "documents": as_yaml(service, service)})
    (problem,) = response.json()["problems"]
    assert (problem["rule"], problem["severity"], problem["actual"]) == ("kind.left_out", "remark", 2)
    assert response.status_code == 201


def test_every_problem_is_reported_at_once_with_its_line(api: APIClient) -> None:
    head = "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata:\n"
    text = f"{head}  labels: {{}}\n---\n{head}  name: 7\n"
    response = api.post(URL, {"name": "broken", "documents": text})
    assert response.status_code == 422
    problems = response.json()["problems"]
    assert [(p["rule"], p["severity"], p["document"], p["line"]) for p in problems] == [
        ("form.name", "error", "documents#1", 3),
        ("form.type", "error", "documents#2", 9),
    ]
    assert not Snapshot.objects.exists()


def test_problems_of_a_scenario_have_line_numbers_of_the_body(api: APIClient) -> None:
    body = b'{"name": "broken",\n "scenario": {\n  "queues": [\n   {"metadata": {"name": 7}}]}}'
    response = api.post(URL, body, content_type="application/json")
    assert response.status_code == 422
    (problem,) = response.json()["problems"]
    assert (problem["document"], problem["line"]) == ("body", 4)


def test_queue_fields_of_the_wrong_type_are_reported_with_their_lines(api: APIClient) -> None:
    text = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata:
  name: a
  annotations: [1]
spec:
  weight: 99999999999
  capability:
    nvidia.com/gpu: many
  guarantee: 3
"""
    response = api.post(URL, {"name": "broken", "documents": text})
    assert response.status_code == 422
    assert {p["path"]: (p["rule"], p["queue"], p["line"]) for p in response.json()["problems"]} == {
        "queues[0].metadata.annotations": ("form.type", "a", 5),
        "queues[0].spec.weight": ("number.range", "a", 7),
        'queues[0].spec.capability["nvidia.com/gpu"]': ("quantity.unreadable", "a", 9),
        "queues[0].spec.guarantee": ("form.type", "a", 10),
    }


def test_unusual_but_legal_queues_are_accepted(api: APIClient) -> None:
    queue = factories.queue("odd", weight=0, capability={"cpu": 8}, dequeueStrategy="")
    response = api.post(URL, {"name": "odd", "scenario": {"queues": [queue]}})
    assert response.status_code == 201
    payload = {"name": "what if", "snapshot": response.json()["id"]}
    assert api.post("/api/v1/scenarios/", payload).status_code == 201


def test_invalid_yaml_returns_422(api: APIClient) -> None:
    response = upload(api, ("a.yaml", b"kind: [unclosed"), ("b.bin", b"\x00\xff\xfe"), name="broken")
    assert response.status_code == 422
    assert [problem["document"] for problem in response.json()["problems"]] == ["a.yaml", "b.bin"]


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"name": "x"}, None),
        ({"name": "x", "documents": "a: 1", "scenario": {}}, None),
        ({"documents": "a: 1"}, "name"),
        ({"name": "x", "scenario": []}, "scenario"),
    ],
)
def test_an_incomplete_or_contradictory_upload_returns_422(
    api: APIClient, body: dict[str, Any], path: str | None
) -> None:
    response = api.post(URL, body)
    assert (response.status_code, response.json()["problems"][0]["path"]) == (422, path)


def test_a_multipart_upload_without_files_returns_422(api: APIClient) -> None:
    response = api.post(URL, {"name": "x"}, format="multipart")
    assert (response.status_code, response.json()["problems"][0]["path"]) == (422, "files")


def test_too_many_files_return_400(api: APIClient) -> None:
    assert upload(api, *[(f"{n}.yaml", b"a: 1") for n in range(101)]).json()["code"] == "parse_error"


def test_a_body_above_the_size_limit_returns_413(api: APIClient) -> None:
    response = api.post(URL, b"{}", content_type="application/json", CONTENT_LENGTH=str(200_000_001))
    assert (response.status_code, response.json()["code"]) == (413, "payload_too_large")


def test_a_dry_run_reads_the_files_and_saves_nothing(api: APIClient) -> None:
    response = api.post(f"{URL}?dry_run=1", {"name": "small", "documents": as_yaml()})
    body = response.json()
    assert (response.status_code, body["id"], body["counts"]["pods"]) == (200, None, 20)
    assert not Snapshot.objects.exists()
    assert not Blob.objects.exists()


def test_an_empty_import_is_refused_with_a_fix(api: APIClient) -> None:
    response = api.post(URL, {"name": "nothing", "documents": "# nothing\n"})
    assert response.status_code == 422
    assert "kubectl get" in response.json()["problems"][0]["fix"]


def test_ten_megabytes_are_imported_as_a_file_but_not_as_a_json_body(api: APIClient, shared: Path) -> None:
    recorded = shared / "golden" / "large" / "openb-burst-qos.jsonl.gz"
    scenario = json.loads(gzip.decompress(recorded.read_bytes()).splitlines()[0])["scenario"]
    text = json.dumps(scenario).encode()
    assert len(text) > 10_000_000
    by_file = upload(api, ("openb.json", text)).json()
    assert (by_file["counts"]["nodes"], by_file["counts"]["pods"]) == (1523, 8152)
    by_json = api.post(URL, {"name": "openb", "scenario": scenario})
    assert by_json.status_code == 413
    assert "as files" in by_json.json()["message"]
    assert Blob.objects.count() == 1
