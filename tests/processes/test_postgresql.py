"""Attacks and constraints on PostgreSQL, which locks and sorts differently from SQLite."""

import os
import subprocess
import sys

import pytest

from tests.processes.conftest import Databases
from tests.processes.installation import ROOT

TESTS = (
    "attacks/test_bundles.py",
    "attacks/test_logins.py",
    "planner/scenarios/test_concurrent_removal.py",
    "planner/test_concurrent_deletion.py",
    "planner/test_concurrent_workspaces.py",
    "planner/test_constraints.py",
)
"""Their input is written to rows: texts with NUL, numbers out of range, concurrent guesses; and removals."""


@pytest.mark.service
def test_attack_and_constraint_tests_pass_on_postgresql(databases: Databases) -> None:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("QUEUECAST_")}
    own = {"DATABASE_URL": databases(), "DJANGO_SETTINGS_MODULE": "config.settings_test"}
    done = subprocess.run(
        [
            sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not long", "--color", "no",
            *(f"tests/{name}" for name in TESTS),
        ],
        cwd=ROOT,
        env={**inherited, **own},
        capture_output=True, text=True, timeout=500, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:]
    assert "passed" in done.stdout
