"""One run from claim to end in this process, with a real child process."""

import json

import pytest

from planner.runs.models import Run
from planner.runs.selectors.runs import pending_jobs, queue_figures, run_counts
from planner.runs.selectors.steps import decisions
from planning.rows import QueueFigures
from tests import factories
from tests.worker import do_while_stopping, do_work

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def run() -> Run:
    return do_work(factories.run())


def test_a_run_succeeds_with_its_result(run: Run) -> None:
    assert (run.state, run.error, run.progress) == ("succeeded", "", 1.0)
    assert run.result is not None
    assert run.finished is not None
    assert run.engine_version
    assert run.lease_until is None


def test_every_stored_row_equals_the_result(run: Run) -> None:
    assert run.result is not None
    [cycle] = json.loads(run.result.content())["cycles"]
    shown = {row.queue: row for row in queue_figures(run)}
    for queue in cycle["at_end"]["queues"]:
        row = shown[queue["name"]]
        assert (row.deserved, row.allocated, row.share) == (
            queue["deserved"],
            queue["allocated"],
            queue["share"],
        )
    steps = [
        (step.action, step.op, step.job, step.pod, step.node, step.for_pod, step.state)
        for step in decisions(run)
    ]
    assert steps == [
        tuple(step.get(key) or "" for key in ("action", "op", "job", "pod", "node", "for", "state"))
        for step in cycle["decisions"]
    ]
    assert [(job.job, job.phase_after) for job in run.job_outcomes.all()] == [
        (job["name"], job["phase_after"]) for job in cycle["podgroups"]
    ]


def test_victims_name_their_preemptor(run: Run) -> None:
    victim = run.victims.first()
    assert victim is not None
    assert (victim.queue, victim.job, victim.for_job, victim.for_queue) == (
        "busy",
        "default/run",
        "default/wait",
        "waits",
    )


def test_an_unset_capability_has_no_limit(run: Run) -> None:
    shown: dict[str, QueueFigures] = {row.queue: row for row in queue_figures(run)}
    assert shown["busy"].capability == {}
    assert shown["waits"].capability["cpu"] == 12000
    assert shown["waits"].capability.get("memory") is None


def test_run_counts_agree_with_the_rows(run: Run) -> None:
    counts = run_counts(run)
    assert counts.victims_committed == run.victims.filter(state="committed").count()
    assert counts.jobs == 2
    assert counts.jobs_pending == pending_jobs(run).count()


def test_a_scenario_that_cannot_be_simulated_fails_with_the_core_error() -> None:
    document = factories.cluster()
    document["nodes"][0]["status"]["allocatable"]["cpu"] = "many"
    run = do_work(factories.run(factories.scenario(document=document)))
    assert run.state == "failed"
    assert "many" in run.error
    assert run.result is not None


def test_a_configuration_without_a_queue_plugin_gives_queues_without_figures() -> None:
    conf = 'actions: "allocate"\ntiers:\n- plugins:\n  - name: gang\n'
    run = do_work(factories.run(factories.scenario(conf=conf)))
    assert run.state == "succeeded"
    assert {(row.queue, row.in_session) for row in queue_figures(run)} == {("busy", False), ("waits", False)}


def test_a_stopping_worker_requeues_its_run() -> None:
    run = do_while_stopping(factories.run(cycles=1000))
    assert (run.state, run.losses, run.attempt) == ("queued", 0, 1)


def test_a_run_of_many_cycles_shows_its_last_cycle_and_its_first_opening() -> None:
    run = do_work(factories.run(cycles=3))
    assert run.result is not None
    cycles = json.loads(run.result.content())["cycles"]
    waits = {queue["name"]: queue for queue in cycles[-1]["at_end"]["queues"]}["waits"]
    row = {row.queue: row for row in queue_figures(run)}["waits"]
    assert row.allocated == waits["allocated"]
    opening = {queue["name"]: queue for queue in cycles[0]["at_open"]["queues"]}["waits"]
    assert row.allocated_at_open == opening["allocated"]
