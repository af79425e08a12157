"""What do only processes within an installation see or reach: its children, its accounts, its tables?"""

import os
import signal
import time
from pathlib import Path
from typing import Any

from django.db import connection
from django.test import Client

from planner.runs.models import Run
from planner.runs.services.runs import run_create
from planner.scenarios.services.scenarios import scenario_create
from tests import factories

CYCLES = 50
"""So many runs of one scenario differ by their cycles."""


def simulation_killed() -> bool:
    """Kill the simulation of a run that lost none before, as the system does; was there one within seconds?

    Only of a worker that does one thing at a time. The child is stopped first, so that it is still the same
    run's when it dies.
    """
    for _ in range(50):
        for run in Run.objects.filter(state=Run.State.RUNNING, kills=0):
            for child in _children(Path("/proc", run.worker.rpartition(":")[2])):
                os.kill(child, signal.SIGSTOP)
                is_its = _works_on(run)
                os.kill(child, signal.SIGKILL if is_its else signal.SIGCONT)
                if is_its:
                    return True
        time.sleep(0.1)
    return False


def _works_on(run: Run) -> bool:
    """Is this attempt all that the run's worker is at?"""
    at_work = Run.objects.filter(state=Run.State.RUNNING, worker=run.worker)
    return list(at_work.values_list("pk", "attempt", "kills")) == [(run.pk, run.attempt, 0)]


def _children(process: Path) -> list[int]:
    return [int(pid) for path in process.glob("task/*/children") for pid in path.read_text().split()]


def small(count: str) -> list[str]:
    """Queue `count` runs on a few nodes, no two of the same input; return their ids."""
    snapshot, planner = factories.snapshot(), factories.user()
    scenarios = [
        scenario_create(snapshot=snapshot, name=f"what if {number}", owner=planner)
        for number in range(1 + int(count) // CYCLES)
    ]
    return [
        str(run_create(scenario=scenarios[number // CYCLES], options={"cycles": 1 + number % CYCLES}).pk)
        for number in range(int(count))
    ]


def caller() -> tuple[str, str]:
    """Return a token and a session of an editor."""
    editor = factories.user()
    browser = Client()
    browser.force_login(editor)
    return factories.token(editor), str(browser.session.session_key)


def cluster() -> dict[str, Any]:
    """Return a cluster of ten nodes, with the scheduler's configuration."""
    return {**factories.cluster(nodes=10, waiting=20), "scheduler_conf": factories.CONF}


def database_mb() -> float:
    """Return how large the database is, which is PostgreSQL."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_database_size(current_database())")
        return float(cursor.fetchone()[0]) / 2**20
