"""Access to an installation's internals: its child processes, accounts and tables."""

import os
import secrets
import signal
import time
from base64 import b64encode
from contextlib import suppress
from typing import Any

import pyotp
from django.conf import settings
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.db import connection
from django.template.loader import render_to_string
from django.test import Client

from planner.accounts.models import Role, User
from planner.accounts.services.accounts import token_create
from planner.accounts.services.second_factor import pending_secret, second_factor_begin, second_factor_confirm
from planner.accounts.services.workspaces import workspace_create
from planner.clusters.models import Blob, Snapshot
from planner.clusters.services.samples import sample_load
from planner.runs.models import Run
from planner.runs.services.bundles import bundle_export
from planner.runs.services.runs import run_create
from planner.scenarios.models import Rebase, Scenario
from planner.scenarios.services.rebases import rebase_create
from planner.scenarios.services.scenarios import scenario_create
from planner.web.selectors.status import status
from tests import factories
from tests.processes.forks import simulations_of
from tests.worker import do_work

CYCLES = 50
"""The number of runs of one scenario that differ by their cycles."""


def kill_simulation() -> bool:
    """Kill the simulation of a run without earlier losses; return whether there was one within seconds.

    Only for a worker with a concurrency of one. The child is stopped first, so that it still belongs to the
    same run when it dies.
    """
    for _ in range(50):
        for run in Run.objects.filter(state=Run.State.RUNNING, kills=0):
            for child in simulations_of(int(run.worker.rpartition(":")[2])):
                with suppress(ProcessLookupError):  # it ended by itself
                    os.kill(child, signal.SIGSTOP)
                    is_its = _works_on(run)
                    os.kill(child, signal.SIGKILL if is_its else signal.SIGCONT)
                    if is_its:
                        return True
        time.sleep(0.1)
    return False


def _works_on(run: Run) -> bool:
    """Return whether the run's worker works only on this attempt."""
    at_work = Run.objects.filter(state=Run.State.RUNNING, worker=run.worker)
    return list(at_work.values_list("pk", "attempt", "kills")) == [(run.pk, run.attempt, 0)]


def queue_small_runs(count: str) -> list[str]:
    """Queue `count` runs on a few nodes with distinct inputs; return their ids."""
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
    """Return the size of the PostgreSQL database."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_database_size(current_database())")
        return float(cursor.fetchone()[0]) / 2**20


def damage_document() -> None:
    """Replace the content of the largest stored document."""
    blob = Blob.objects.order_by("size").last()
    assert blob is not None
    Blob.objects.filter(pk=blob.pk).update(packed=Blob.of(b"something else").packed)


def backup_status() -> tuple[str | None, str]:
    """Return the newest backup and the last error, as the status page shows them."""
    shown = status()
    return shown.backup and str(shown.backup), shown.backup_error


def create_account(username: str) -> tuple[str, str, str]:
    """Create an account with a workspace and the sample; return a session's cookie and the scenario.

    Nobody types its password, so that a single round of hashing is enough.
    """
    password = PBKDF2PasswordHasher().encode(secrets.token_urlsafe(12), secrets.token_hex(8), iterations=1)
    user = User.objects.create_superuser(username)
    User.objects.filter(pk=user.pk).update(password=password)
    user.refresh_from_db()
    workspace = workspace_create(name=f"of {username}", user=user.acting(Role.ADMIN)).workspace
    sample = sample_load(workspace=workspace)
    browser = Client()
    browser.force_login(user)
    return settings.SESSION_COOKIE_NAME, str(browser.session.session_key), str(sample.pk)


def token(username: str) -> str:
    """Return a new API token of an account."""
    return token_create(username=username, scope=Role.EDITOR)


def create_account_with_second_factor(username: str, password: str) -> None:
    """Create an account with a second factor."""
    user = User.objects.create_user(username, password=password)
    second_factor_begin(user=user)
    secret = pending_secret(user)
    assert secret is not None
    second_factor_confirm(user=user, code=pyotp.TOTP(secret).now(), address="")


def queue_rebase(scenario: str, snapshot: str) -> str:
    """Queue a rebase for a worker, as for large snapshots; return its id."""
    of = Scenario.objects.get(pk=scenario)
    rebase = rebase_create(
        scenario=of,
        snapshot=Snapshot.objects.get(pk=snapshot),
        name="next week",
        choices={},
        expected_revision=of.revision,
        user=of.owner,
    )
    while not rebase.is_over:
        time.sleep(0.2)
        rebase = Rebase.objects.get(pk=rebase.pk)
    return str(rebase.pk)


def origin(run_id: str) -> tuple[str, str]:
    """Return the snapshot and the cluster of a run."""
    snapshot = Run.objects.get(pk=run_id).scenario.snapshot
    return str(snapshot.pk), str(snapshot.cluster_id)


def exported_run() -> list[str]:
    """Execute a run; return its bundle, its input and its result in Base64."""
    run = do_work(factories.run())
    assert run.result is not None, run.error
    parts = (bundle_export(run=run), run.input.content(), run.result.content())
    return [b64encode(part).decode() for part in parts]


def rendered(template: str) -> str:
    """Return a page that needs no context, as the server renders it."""
    return render_to_string(template)
