"""Steps of a test, run in a separate process with the settings of an installation.

The driver receives steps as JSON, ``["step", "argument", …]``, and answers each with
``{"answer": …}``, or with ``{"error": …}`` and the traceback.
"""

import functools
import json
import os
import signal
import time
import traceback
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from io import BytesIO
from multiprocessing.connection import Connection
from typing import Any
from uuid import uuid4

import django

django.setup()

from django.db import DatabaseError, connections  # noqa: E402
from django.test import Client  # noqa: E402

import manifests  # noqa: E402
from planner.accounts.services.accounts import admin_create  # noqa: E402
from planner.clusters.models import Import, Snapshot  # noqa: E402
from planner.clusters.services.imports import import_create, packed_files  # noqa: E402
from planner.runs.models import Run  # noqa: E402
from planner.runs.selectors.steps import decisions  # noqa: E402
from planner.runs.services.runs import run_create  # noqa: E402
from planner.scenarios.services.scenarios import scenario_create  # noqa: E402
from planner.work.broker import notify_workers  # noqa: E402
from planner.work.lifecycle import work_cancel  # noqa: E402
from planner.work.turns import has_queued_work, work_claim_next  # noqa: E402
from scheduler_core import Options, encode, simulate_document  # noqa: E402
from tests import factories  # noqa: E402
from tests.processes import experimenting, forecasting, inside  # noqa: E402
from tests.processes.furnished import FRESH, answers, furnish  # noqa: E402

PATIENCE = float(os.environ.get("DRIVER_PATIENCE", "90"))
CLAIM_SECONDS = 0.25
ATTEMPTS = 10
"""Attempts to kill a worker at a short-lived moment."""


def submit(cycles: str, count: str) -> list[str]:
    """Submit `count` runs of `cycles` cycles each on fifty nodes; return their ids."""
    scenario = factories.scenario(document=factories.cluster(nodes=50, waiting=200))
    return [str(run_create(scenario=scenario, options={"cycles": int(cycles)}).pk) for _ in range(int(count))]


@functools.cache
def cycles_in(seconds: str) -> int:
    """Return how many cycles of these runs take the given processor seconds."""
    cluster = factories.cluster(nodes=50, waiting=200)
    document = manifests.resolve({**cluster, "scheduler_conf": factories.CONF})
    # The first cycles place pods and take longer than the others.
    few, many = (_seconds(document, cycles) for cycles in (10, 60))
    return int(50 * float(seconds) / (many - few))


def _seconds(document: dict[str, Any], cycles: int) -> float:
    began = time.process_time()
    simulate_document(document, Options(cycles=cycles))
    return time.process_time() - began


def submit_distinct(count: str, cycles: str) -> list[str]:
    """Submit `count` runs of `cycles` cycles with distinct inputs; return their ids."""
    snapshot = factories.snapshot(factories.cluster(nodes=50, waiting=200))
    scenarios = [
        scenario_create(snapshot=snapshot, name=f"what if {uuid4()}", owner=factories.user())
        for _ in range(int(count))
    ]
    options = {"cycles": int(cycles)}
    return [str(run_create(scenario=scenario, options=options).pk) for scenario in scenarios]


def submit_and_await_progress(count: str, seconds: str) -> list[str]:
    """Submit `count` distinct runs of the given processor seconds; return once one is computing."""
    runs = submit_distinct(count, str(cycles_in(seconds)))
    await_progress(runs[0])
    return runs


def queue_repeated(count: str, different: str) -> list[str]:
    """Queue `count` runs with `different` distinct inputs; return their ids."""
    scenario = factories.scenario(document=factories.cluster(nodes=50, waiting=200))
    runs = [
        run_create(scenario=scenario, options={"cycles": 1 + number % int(different)})
        for number in range(int(count))
    ]
    return [str(run.pk) for run in runs]


def await_scenario(run_id: str) -> dict[str, Any]:
    """Wait until every run of the same scenario is over; return their states and durations."""
    runs = Run.objects.filter(scenario__runs=run_id).order_by()
    _wait(lambda: not runs.exclude(state__in=Run.OVER).exists(), pause=1.0)
    times = runs.values_list("state", "created", "finished")
    return {
        "ends": Counter(state for state, _, _ in times),
        "seconds": sorted((finished - created).total_seconds() for _, created, finished in times if finished),
    }


def admin() -> str | None:
    """Create the account admin; return its password."""
    return admin_create()


def script() -> tuple[str, str]:
    """Return a scenario and a token with the right to run it."""
    return str(factories.scenario().pk), factories.token(factories.user())


def runs_of(scenario: str) -> list[str]:
    """Return the stored runs of a scenario."""
    return [str(run) for run in Run.objects.filter(scenario=scenario).values_list("pk", flat=True)]


def redeliver_messages(*run_ids: str) -> int:
    """Deliver the message of every run again."""
    for _ in run_ids:
        notify_workers()
    return len(run_ids)


def kill_while_storing(run_id: str, group: str) -> bool:
    """Kill the worker's process group while it stores the run; return whether that succeeded."""
    run = Run.objects.filter(pk=run_id)
    storing, over = run.filter(doing="storing the outcome"), run.filter(state__in=Run.OVER)
    _wait(lambda: storing.exists() or over.exists(), pause=0.001)
    if over.exists():
        return False
    os.killpg(int(group), signal.SIGKILL)
    return True


def kill_while_importing(pods: str, doing: str, group: str) -> str:
    """Import clusters of `pods` pods until the worker's process group is killed during the given stage.

    A worker may finish before this process checks again; then it gets the next cluster. Return the id of
    the interrupted import.
    """
    text = json.dumps(factories.cluster(waiting=int(pods))).encode()
    workspace = factories.workspace()
    for number in range(ATTEMPTS):
        submitted = import_create(
            files=packed_files([("cluster.json", BytesIO(text))]),
            workspace=workspace,
            name=f"large {number}",
            provenance="a test",
        )
        row = Import.objects.filter(pk=submitted.pk)
        caught, over = row.filter(doing=doing), row.filter(state__in=Import.OVER)
        _wait(lambda caught=caught, over=over: caught.exists() or over.exists(), pause=0.001)
        os.killpg(int(group), signal.SIGSTOP)
        if not over.exists():
            os.killpg(int(group), signal.SIGKILL)
            return str(submitted.pk)
        os.killpg(int(group), signal.SIGCONT)
    raise TimeoutError(f"The worker was faster {ATTEMPTS} times.")


def await_import(import_id: str) -> dict[str, Any]:
    """Wait until the import is over; return its outcome."""
    requested = _wait(lambda: Import.objects.filter(pk=import_id, state__in=Import.OVER).first())
    return {
        "state": requested.state,
        "attempt": requested.attempt,
        "losses": requested.losses,
        "pods": requested.counts.get("pods"),
        "kept": len(requested.snapshot.content.document()["pods"]),
        "snapshots": Snapshot.objects.filter(name=requested.name).count(),
    }


def await_all(*run_ids: str) -> int:
    """Wait until all runs are over; return their number."""
    runs = Run.objects.filter(pk__in=run_ids)
    _wait(lambda: not runs.exclude(state__in=Run.OVER).exists(), pause=0.5)
    return len(run_ids)


def count_failures(*run_ids: str) -> dict[str, Any]:
    """Wait until the runs are over; return how many were lost, duplicated or wrong."""
    runs = Run.objects.filter(pk__in=run_ids)
    _wait(lambda: not runs.exclude(state__in=Run.OVER).exists(), pause=0.2)
    known = list(runs.select_related("input", "result"))
    whole = [run for run in known if run.state == "succeeded"]
    return {
        "lost": len(run_ids) - len(whole),
        "doubled": sum(_is_doubled(run) for run in whole),
        "wrong": sum(_printed(run) != run.result.content() for run in whole if run.result),
        "errors": sorted({run.error for run in known if run.error}),
        "losses": sum(run.losses for run in known),
        "kills": sum(run.kills for run in known),
        "unaccounted": sum(run.attempt != 1 + run.losses + run.kills for run in whole),
        "seconds": sorted((run.finished - run.created).total_seconds() for run in whole if run.finished),
    }


def _is_doubled(run: Run) -> bool:
    """Return whether there are rows that the result does not have."""
    assert run.result is not None
    decided = sum(len(cycle["decisions"]) for cycle in run.result.document()["cycles"])
    return len(decisions(run)) != decided or run.queue_outcomes.count() != 2


def _printed(run: Run) -> bytes:
    """Return the core's output for the frozen input."""
    return encode(simulate_document(manifests.resolve(run.input.document())))


def await_progress(run_id: str) -> str:
    """Wait until the core reports progress; return the worker's name."""
    run = _wait(lambda: Run.objects.filter(pk=run_id, state="running", progress__gt=0).first())
    return str(run.worker)


def await_runs(*run_ids: str) -> dict[str, dict[str, Any]]:
    """Wait until the runs are over; return each outcome."""
    runs = Run.objects.filter(pk__in=run_ids)
    _wait(lambda: not runs.exclude(state__in=Run.OVER).exists(), pause=0.2)
    return {str(run.pk): _ending(run) for run in runs.all()}


def await_kills(run_id: str, kills: str) -> bool:
    """Wait until the run has recorded the given number of killed processes."""
    return bool(_wait(lambda: Run.objects.filter(pk=run_id, kills=kills).exists()))


def await_queued(run_id: str) -> int:
    """Wait until the run is queued again; return its number of lost workers."""
    return int(_wait(lambda: Run.objects.filter(pk=run_id, state="queued").first()).losses)


def cancel(run_id: str) -> float:
    """Cancel a run; return the seconds until it ended."""
    requested_at = time.monotonic()
    work_cancel(work=Run.objects.get(pk=run_id))
    _wait(lambda: Run.objects.get(pk=run_id).is_over)
    return time.monotonic() - requested_at


def frozen_input(run_id: str) -> str:
    return Run.objects.get(pk=run_id).input.content().decode()


def result(run_id: str) -> str:
    run = Run.objects.get(pk=run_id)
    assert run.result is not None
    return run.result.content().decode()


def pages(run_id: str) -> dict[str, str]:
    """Return the content of a run's pages, without the parts that change with every response."""
    run = Run.objects.get(pk=run_id)
    browser = Client(headers={"host": "localhost"})
    browser.force_login(factories.user())
    addresses = [
        f"/scenarios/{run.scenario_id}/", f"/runs/{run_id}/", f"/runs/{run_id}/queues/waits/",
        f"/runs/{run_id}/jobs/default/wait/",
        f"/api/v1/runs/{run_id}/queues/", f"/api/v1/runs/{run_id}/victims/",
    ]  # fmt: skip
    answers = {address: browser.get(address) for address in addresses}
    assert {answer.status_code for answer in answers.values()} == {200}
    return {address: FRESH.sub("", answer.content.decode()) for address, answer in answers.items()}


def _ending(run: Run) -> dict[str, Any]:
    return {
        "state": run.state,
        "error": run.error,
        "attempt": run.attempt,
        "losses": run.losses,
        "queues": run.queue_outcomes.count(),
        "jobs": run.job_outcomes.count(),
    }


def _wait(look: Callable[[], Any], pause: float = 0.05) -> Any:
    """Poll `look` until it returns something; retry if the database is unavailable."""
    until = time.monotonic() + PATIENCE
    while not (seen := _seen(look)):
        if time.monotonic() > until:
            raise TimeoutError(list(Run.objects.values("pk", "state", "error", "progress", "attempt")))
        time.sleep(pause)
    return seen


def _seen(look: Callable[[], Any]) -> Any:
    try:
        return look()
    except DatabaseError:
        connections.close_all()
        return None


def claim_runs(worker: str) -> dict[str, Any]:
    """Claim as a worker until nothing waits; return the claimed runs, and the number of lost claims.

    Each claim waits for a full quarter of a second, so that several workers claim simultaneously.
    """
    claims, lost = [], 0
    until = time.monotonic() + PATIENCE
    while has_queued_work() and time.monotonic() < until:
        time.sleep(CLAIM_SECONDS - time.time() % CLAIM_SECONDS)
        claim = work_claim_next(worker=f"test:{worker}")
        if claim is not None:
            claims.append(str(claim.id))
        elif has_queued_work():
            lost += 1
    return {"claims": claims, "lost": lost}


STEPS: dict[str, Callable[..., Any]] = {
    step.__name__: step
    for step in (
        inside.queue_small_runs, inside.kill_simulation, inside.caller, inside.cluster, inside.database_mb,
        inside.create_account, inside.token, inside.create_account_with_second_factor,
        inside.queue_rebase, inside.origin, inside.rendered,
        inside.exported_run, inside.damage_document, inside.backup_status,
        forecasting.queue_forecast, forecasting.kill_during_forecast, forecasting.await_forecast,
        experimenting.begin_experiment, experimenting.experiment_progress, experimenting.count_failed_cells,
        submit, submit_distinct, submit_and_await_progress, queue_repeated, redeliver_messages,
        await_scenario, await_import, await_all, await_progress, await_runs, await_kills, await_queued,
        kill_while_storing, kill_while_importing, count_failures, claim_runs, cancel,
        admin, script, runs_of, frozen_input, result, pages, furnish, answers,
    )
}  # fmt: skip


def main(steps: Connection) -> None:
    """Run the received steps until the input is closed; close database connections after each step."""
    with suppress(EOFError):
        while True:
            step, *arguments = json.loads(steps.recv())
            try:
                answer = {"answer": STEPS[step](*arguments)}
            except Exception:
                answer = {"error": traceback.format_exc()}
            finally:
                connections.close_all()
            steps.send(json.dumps(answer))
