"""How do runs, searches and bundles reach a worker?"""

from collections.abc import Mapping
from typing import IO, Any

from django.db import transaction

from planner.accounts.models import User, Workspace
from planner.runs.models import Run
from planner.runs.services.bundles import bundle_import
from planner.runs.services.runs import run_create
from planner.runs.services.searches import fitting_create, search_create
from planner.runs.services.simulations import run_simulate
from planner.scenarios.models import Scenario
from planner.work.kinds import work_register
from planner.work.tasks import notify_workers
from planning.bundle import About
from planning.fitting import Probe


def register() -> None:
    """Let workers simulate runs."""
    work_register(Run, run_simulate)


def submit_run(
    *, scenario: Scenario, options: Mapping[str, Any] | None = None, user: User | None = None
) -> Run:
    """Queue a run of the scenario's present revision and, once the row is visible to workers, notify one."""
    run = run_create(scenario=scenario, options=options, user=user)
    transaction.on_commit(notify_workers)
    return run


def submit_search(*, run: Run, job: str, user: User | None = None) -> Run:
    """Queue a search for what would unblock a job, unless there is one, and notify a worker."""
    search, is_new = search_create(run=run, job=job, user=user)
    if is_new:
        transaction.on_commit(notify_workers)
    return search


def submit_fitting(*, run: Run, probe: Probe, user: User | None = None) -> Run:
    """Queue a search for the nodes that take a pod, unless there is one, and notify a worker."""
    search, is_new = fitting_create(run=run, probe=probe, user=user)
    if is_new:
        transaction.on_commit(notify_workers)
    return search


def submit_bundle(*, file: IO[bytes], workspace: Workspace, user: User) -> tuple[Run, About]:
    """Import a run's bundle and repeat the run; return it with what the bundle says about it."""
    run, about = bundle_import(file=file, workspace=workspace, user=user)
    transaction.on_commit(notify_workers)
    return run, about
