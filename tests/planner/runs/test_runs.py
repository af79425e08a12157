"""The life cycle of a run, without a worker."""

import json

import pytest

from planner.runs.models import Run
from planner.work.lifecycle import (
    Heartbeat,
    work_cancel,
    work_claim,
    work_fail,
    work_heartbeat,
    work_release,
    work_stop,
)
from tests import factories

pytestmark = pytest.mark.django_db


def test_a_run_freezes_the_queues_and_the_configuration_of_its_revision() -> None:
    scenario = factories.scenario()
    run = factories.run(scenario)
    document = run.input.document()
    assert [queue["metadata"]["name"] for queue in document["queues"]] == ["busy", "waits"]
    assert document["scheduler_conf"] == factories.CONF
    assert document["cycles"] == 1
    assert len(document["pods"]) == len(factories.cluster()["pods"])


def test_unedited_queues_are_frozen_as_imported() -> None:
    imported = factories.cluster()
    assert factories.run().input.document()["queues"] == imported["queues"]


def test_equal_inputs_are_stored_once() -> None:
    scenario = factories.scenario()
    assert factories.run(scenario).input_id == factories.run(scenario).input_id


def test_a_queued_run_is_claimed_once() -> None:
    run = factories.run()
    assert work_claim(kind=Run, id=run.pk, worker="a") is not None
    assert work_claim(kind=Run, id=run.pk, worker="b") is None


def test_a_worker_that_lost_its_run_cannot_change_it() -> None:
    run = factories.run()
    first = work_claim(kind=Run, id=run.pk, worker="a")
    assert first is not None
    assert work_release(claim=first)
    second = work_claim(kind=Run, id=run.pk, worker="b")
    assert second is not None
    assert work_heartbeat(claim=first, progress=0.5, doing="x") is Heartbeat.LOST
    assert not work_fail(claim=first, error="late")
    assert work_heartbeat(claim=second, progress=0.5, doing="x") is Heartbeat.CONTINUE
    run.refresh_from_db()
    assert (run.state, run.worker, run.attempt) == ("running", "b", 2)


def test_a_queued_run_is_cancelled_at_once() -> None:
    run = work_cancel(work=factories.run())
    assert run.state == "cancelled"
    assert work_claim(kind=Run, id=run.pk, worker="a") is None


def test_a_running_run_is_cancelled_at_its_next_heartbeat() -> None:
    run = factories.run()
    claim = work_claim(kind=Run, id=run.pk, worker="a")
    assert claim is not None
    assert work_cancel(work=run).state == "running"
    assert work_heartbeat(claim=claim, progress=0.1, doing="x") is Heartbeat.CANCEL
    assert work_stop(claim=claim)
    assert Run.objects.get(pk=run.pk).state == "cancelled"


def test_the_frozen_input_is_json_with_one_trailing_newline() -> None:
    content = factories.run().input.content()
    assert content.endswith(b"}\n")
    assert json.loads(content)["name"] == "what if"
