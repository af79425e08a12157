"""Idempotency keys, waiting for a run by `Prefer: wait`, and compressed responses."""

import gzip
import threading
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from planner.api import waiting
from planner.api.models import IdempotencyKey
from planner.clusters.models import Snapshot
from planner.experiments.models import Experiment
from planner.forecasts.models import WorkloadTrace
from planner.runs.models import Run
from planner.scenarios.models import Scenario
from planner.scenarios.selectors.scenarios import document_of_scenario
from tests import factories
from tests.planner.recorded import experiment_done
from tests.worker import do_work

ONCE = {"Idempotency-Key": "mine"}


@pytest.fixture
def body(db: None) -> dict[str, str]:
    return {"name": "again", "snapshot": str(factories.snapshot().pk)}


def test_a_repeated_call_creates_nothing_and_returns_the_first_response(
    api: APIClient, body: dict[str, str]
) -> None:
    first, second = (api.post("/api/v1/scenarios/", body, headers=ONCE) for _ in range(2))
    assert (second.status_code, second.json(), second["ETag"]) == (201, first.json(), first["ETag"])
    assert second["Idempotency-Replayed"] == "true"
    assert Scenario.objects.count() == 1


def test_an_idempotency_key_reused_with_another_body_is_refused(api: APIClient, body: dict[str, str]) -> None:
    api.post("/api/v1/scenarios/", body, headers=ONCE)
    other = api.post("/api/v1/scenarios/", {**body, "name": "other"}, headers=ONCE)
    assert other.status_code == 422
    assert other.json()["problems"][0]["rule"] == "request.idempotency_key_reused"
    assert api.post("/api/v1/scenarios/", body, headers={"Idempotency-Key": "x" * 201}).status_code == 422


def test_an_idempotency_key_expires_after_a_day_or_a_failure(api: APIClient, body: dict[str, str]) -> None:
    assert api.post("/api/v1/scenarios/", {"name": ""}, headers=ONCE).status_code == 422
    assert api.post("/api/v1/scenarios/", body, headers=ONCE).status_code == 201
    IdempotencyKey.objects.update(created=timezone.now() - timedelta(hours=25))
    assert api.post("/api/v1/scenarios/", body, headers=ONCE).status_code == 201
    assert Scenario.objects.count() == 2


def test_an_idempotent_multipart_import_ignores_the_boundary(api: APIClient) -> None:
    def files() -> dict[str, object]:
        text = b"apiVersion: v1\nkind: Node\nmetadata: {name: a}\nstatus: {allocatable: {cpu: 1}}\n"
        return {"name": "form", "files": SimpleUploadedFile("cluster.yaml", text)}

    first, second = (
        api.post("/api/v1/snapshots/", files(), format="multipart", headers=ONCE) for _ in range(2)
    )
    assert first.status_code == 201, first.json()
    assert second.json() == first.json()
    assert Snapshot.objects.count() == 1


@pytest.mark.parametrize(
    ("path", "sent"),
    [
        ("snapshots", {"name": "slow", "documents": "# nothing\n" * 30_000}),
        ("traces", {"name": "bad", "text": "name,queue,submit_seconds\na,b,soon\n"}),
    ],
)
def test_what_is_sent_is_read_before_the_transaction_of_the_key(
    api: APIClient, settings: Any, path: str, sent: dict[str, str]
) -> None:
    # SQLite has one write lock, which this transaction takes
    settings.IMPORT_SECONDS = 0
    with CaptureQueriesContext(connection) as queries:
        answer = api.post(f"/api/v1/{path}/", sent, headers=ONCE)
    assert answer.status_code == 422, answer.json()
    assert [query["sql"] for query in queries if "INSERT" in query["sql"]] == []


@pytest.mark.parametrize("dry", [False, True])
def test_forecasts_and_experiments_are_checked_before_a_transaction(api: APIClient, dry: bool) -> None:
    scenario, trace = factories.scenario(), factories.workload()
    forecast = {"trace": str(trace.pk), "rest": "nowhere"}
    setting = {"queue": "nowhere", "field": "weight", "values": [2]}
    sweep = {
        "name": "x",
        "scenario": str(scenario.pk),
        "settings": [setting],
        "figures": [{"figure": "evictions"}],
    }
    query = "?dry_run=true" if dry else ""
    for path, body in ((f"scenarios/{scenario.pk}/forecasts/", forecast), ("experiments/", sweep)):
        with CaptureQueriesContext(connection) as queries:
            answer = api.post(f"/api/v1/{path}{query}", body, headers={"Idempotency-Key": path})
        assert answer.status_code == 422, answer.json()
        texts = [query["sql"] for query in queries]
        assert not any(text.startswith("INSERT") for text in texts)
        # the scenario is locked only while its state is read
        assert sum(text.startswith("SAVEPOINT") for text in texts) == 1


def test_an_experiment_on_a_snapshot_is_checked_before_a_scenario_is_created(api: APIClient) -> None:
    snapshot = factories.snapshot()
    sweep = {**factories.SWEEP, "snapshot": str(snapshot.pk)}
    wrong = {**sweep, "settings": [{"queue": "nowhere", "field": "weight", "values": [2]}]}
    for headers in ({}, ONCE):
        with CaptureQueriesContext(connection) as queries:
            assert api.post("/api/v1/experiments/", wrong, headers=headers).status_code == 422
        assert [query["sql"] for query in queries if "INSERT" in query["sql"]] == []
    assert not Scenario.objects.exists()
    answer = api.post("/api/v1/experiments/", sweep, headers={"Idempotency-Key": "right"})
    assert answer.status_code == 202, answer.json()
    experiment = Experiment.objects.get()
    assert experiment.input.content() == document_of_scenario(experiment.scenario)
    again = api.post("/api/v1/experiments/", sweep, headers={"Idempotency-Key": "right"})
    assert (again.json(), Scenario.objects.count()) == (answer.json(), 1)


def test_cells_and_rebases_are_computed_before_the_transaction_of_the_key(api: APIClient) -> None:
    scenario = factories.scenario()
    factories.workload(name="morning")
    experiment = experiment_done(factories.experiment(scenario, factories.FORECAST_SWEEP))
    cell = f"experiments/{experiment.pk}/cells/1"
    rebase = f"scenarios/{scenario.pk}/rebase/"
    onto = {"snapshot": str(scenario.snapshot_id)}
    for path, body in ((f"{cell}/scenario/", {}), (f"{cell}/forecast/", {}), (rebase, onto)):
        headers = {"Idempotency-Key": path, "If-Match": str(scenario.revision)}
        with CaptureQueriesContext(connection) as queries:
            answer = api.post(f"/api/v1/{path}", body, headers=headers)
        assert answer.status_code == 201, answer.json()
        texts = [query["sql"] for query in queries]
        first = next(place for place, text in enumerate(texts) if text.startswith("INSERT"))
        read = [place for place, text in enumerate(texts) if text.startswith('SELECT "planner_blob"')]
        assert not [texts[place] for place in read if place > first], path
        again = api.post(f"/api/v1/{path}", body, headers=headers)
        assert (again.json(), again["Idempotency-Replayed"]) == (answer.json(), "true")


def test_a_scenario_is_frozen_before_the_transaction_of_the_key_of_a_run(api: APIClient) -> None:
    start = f"/api/v1/scenarios/{factories.scenario().pk}/runs/"
    with CaptureQueriesContext(connection) as queries:
        assert api.post(start, {}, headers=ONCE).status_code == 202
    texts = [query["sql"] for query in queries]
    read = max(place for place, text in enumerate(texts) if 'FROM "planner_queue"' in text)
    assert read < min(place for place, text in enumerate(texts) if text.startswith("INSERT"))


def test_a_repeated_trace_and_bundle_create_nothing(api: APIClient, finished_run: Run) -> None:
    content = api.get(f"/api/v1/runs/{finished_run.pk}/bundle/").content

    def bundle() -> dict[str, object]:
        return {"file": SimpleUploadedFile("run.zip", content)}

    trace = {"name": "today", "text": factories.TRACE}
    for path, sent, form in (
        ("traces", lambda: trace, "json"),
        ("bundles", bundle, "multipart"),
    ):
        first, second = (
            api.post(f"/api/v1/{path}/", sent(), format=form, headers={"Idempotency-Key": path})
            for _ in range(2)
        )
        assert first.status_code in (201, 202), first.json()
        assert (second.json(), second["Idempotency-Replayed"]) == (first.json(), "true")
    assert (WorkloadTrace.objects.count(), Snapshot.objects.count()) == (1, 2)


def test_a_prefer_wait_request_returns_when_the_run_ends(transactional_db: None, api: APIClient) -> None:
    run = factories.run()

    def work() -> None:
        try:
            do_work(run)
        finally:
            connection.close()

    worker = threading.Thread(target=work)
    worker.start()
    answer = api.get(f"/api/v1/runs/{run.pk}/", headers={"Prefer": "wait=25"})
    worker.join()
    assert (answer.json()["state"], answer["Preference-Applied"]) == ("succeeded", "wait=25")


def test_a_run_creation_accepts_prefer_wait(db: None, api: APIClient) -> None:
    start = f"/api/v1/scenarios/{factories.scenario().pk}/runs/"
    answer = api.post(start, {}, headers={"Prefer": "respond-async, wait=0", **ONCE})
    assert (answer.status_code, answer.json()["state"], answer["Preference-Applied"]) == (
        202,
        "queued",
        "wait=0",
    )
    assert api.post(start, {}, headers=ONCE).json()["id"] == answer.json()["id"]
    assert Run.objects.count() == 1


def test_a_request_does_not_wait_when_all_waiting_slots_are_taken(db: None, api: APIClient) -> None:
    address = f"/api/v1/runs/{factories.run().pk}/"
    with waiting.SEATS, waiting.SEATS:
        answer = api.get(address, headers={"Prefer": "wait=20"})
    assert "Preference-Applied" not in answer
    assert answer.json()["state"] == "queued"


def test_a_result_is_compressed_for_clients_that_accept_gzip(finished_run: Run, api: APIClient) -> None:
    address = f"/api/v1/runs/{finished_run.pk}/result/"
    packed = api.get(address, headers={"Accept-Encoding": "gzip"})
    assert packed["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.content) == api.get(address).content
    assert api.get(address, headers={"If-None-Match": packed["ETag"]}).status_code == 304
