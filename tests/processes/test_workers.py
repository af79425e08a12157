"""Runs when workers die: real workers, a real broker, and the real core."""

import json
import os
import signal
import subprocess
import sys

import pytest

from tests.processes.installation import ROOT, Installation
from tests.processes.test_supervisor import wait_until_dead

ENDLESS = "10000"
SHORT = "1"
SECONDS = "2"
MANY_PODS = "10000"

DEFAULTS_LATER = pytest.mark.parametrize(
    "installation",
    [
        pytest.param("defaults", marks=pytest.mark.long),
        pytest.param("redis-postgresql", marks=pytest.mark.service),
    ],
    indirect=True,
)
"""With `make test` on PostgreSQL and Redis only; a simulation is killed on the defaults, too."""


@DEFAULTS_LATER
def test_run_of_a_killed_worker_is_claimed_again_and_finishes(installation: Installation) -> None:
    worker = installation.start_worker()
    [killed] = installation.drive("submit_and_await_progress", "1", SECONDS)
    simulations = worker.simulations()
    assert simulations
    worker.kill()
    for pid in simulations:
        wait_until_dead(pid)
    others = installation.drive("submit", SHORT, "4")
    installation.start_worker()
    endings = installation.drive("await_runs", killed, *others)
    assert {ending["state"] for ending in endings.values()} == {"succeeded"}
    assert (endings[killed]["attempt"], endings[killed]["losses"]) == (2, 1)
    assert {endings[other]["attempt"] for other in others} == {1}
    assert all((ending["queues"], ending["jobs"]) == (2, 2) for ending in endings.values())


@DEFAULTS_LATER
def test_stored_result_equals_the_cores_output_for_the_frozen_input(installation: Installation) -> None:
    installation.start_worker()
    [run] = installation.drive("submit", "2", "1")
    installation.drive("await_runs", run)
    frozen = installation.drive("frozen_input", run)
    printed = subprocess.run(
        [sys.executable, "-m", "scheduler_core", "simulate", "-"],
        cwd=ROOT,
        input=frozen.encode(),
        capture_output=True,
        check=True,
    ).stdout
    assert installation.drive("result", run).encode() == printed
    assert len(json.loads(printed)["cycles"]) == 2


@DEFAULTS_LATER
def test_stopping_worker_returns_its_run_to_the_queue(installation: Installation) -> None:
    worker = installation.start_worker()
    [run] = installation.drive("submit_and_await_progress", "1", SECONDS)
    worker.stop()
    assert installation.drive("await_queued", run) == 0
    installation.start_worker()
    ending = installation.drive("await_runs", run)[run]
    assert (ending["state"], ending["attempt"], ending["losses"]) == ("succeeded", 2, 0)


def test_running_run_is_cancelled_within_two_seconds(installation: Installation) -> None:
    worker = installation.start_worker()
    [run] = installation.drive("submit", ENDLESS, "1")
    installation.drive("await_progress", run)
    [simulation] = worker.simulations()
    assert installation.drive("cancel", run) < 2
    wait_until_dead(simulation)
    assert installation.drive("await_runs", run)[run]["state"] == "cancelled"


@pytest.mark.parametrize(
    "installation",
    ["defaults", pytest.param("redis-postgresql", marks=[pytest.mark.service, pytest.mark.long])],
    indirect=True,
)
def test_killed_simulation_is_retried_once_and_then_fails_naming_memory(
    installation: Installation,
) -> None:
    worker = installation.start_worker(QUEUECAST_CONCURRENCY="1")
    [endless] = installation.drive("submit", ENDLESS, "1")
    for kills in (1, 2):
        installation.drive("await_progress", endless)
        [simulation] = worker.simulations()
        os.kill(simulation, signal.SIGKILL)
        installation.drive("await_kills", endless, str(kills))
    ending = installation.drive("await_runs", endless)[endless]
    assert (ending["state"], ending["attempt"]) == ("failed", 2)
    assert "was killed (SIGKILL), most likely because the machine ran out of memory" in ending["error"]
    assert "This happened twice." in ending["error"]
    [short] = installation.drive("submit", SHORT, "1")
    assert installation.drive("await_runs", short)[short]["state"] == "succeeded"


@DEFAULTS_LATER
@pytest.mark.parametrize(
    "doing", [pytest.param("checking the objects", marks=pytest.mark.long), "storing the objects"]
)
def test_import_of_a_killed_worker_is_repeated_and_stored_once(
    installation: Installation, doing: str
) -> None:
    worker = installation.start_worker()
    killed = installation.drive("kill_while_importing", MANY_PODS, doing, str(worker.process.pid))
    worker.end()
    installation.start_worker()
    pods = 16 + int(MANY_PODS)
    assert installation.drive("await_import", killed) == {
        "state": "succeeded", "attempt": 2, "losses": 1, "pods": pods, "kept": pods, "snapshots": 1,
    }  # fmt: skip


@DEFAULTS_LATER
def test_forecast_of_a_killed_worker_resumes_to_the_same_bytes(
    installation: Installation,
) -> None:
    installation.environment["QUEUECAST_FREEZE_SECONDS"] = "0.1"
    worker = installation.start_worker(QUEUECAST_CONCURRENCY="1")
    killed, second = installation.drive("kill_during_forecast", str(worker.process.pid))
    worker.end()
    installation.start_worker()
    resumed = installation.drive("await_forecast", killed)
    assert (resumed["state"], resumed["attempt"]) == ("succeeded", 2)
    assert resumed["losses"] in (0, 1)  # 0 once the second attempt has stored a later state
    assert 0 < resumed["resumed_at"] <= second
    whole = installation.drive("await_forecast", installation.drive("queue_forecast"))
    assert (whole["state"], whole["attempt"], whole["resumed_at"]) == ("succeeded", 1, None)
    assert [part for part, _ in whole["parts"]] == ["log", "record"]
    assert (resumed["result"], resumed["parts"]) == (whole["result"], whole["parts"])


@pytest.mark.parametrize("installation", ["defaults"], indirect=True)
def test_runs_with_lost_messages_are_still_processed(installation: Installation) -> None:
    runs = installation.drive("submit", SHORT, "3")
    for message in (installation.folder / "broker" / "messages").iterdir():
        message.unlink()
    installation.start_worker()
    endings = installation.drive("await_runs", *runs)
    assert {ending["state"] for ending in endings.values()} == {"succeeded"}
