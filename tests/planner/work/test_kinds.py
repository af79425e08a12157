"""Kinds of work and chores that features register with the workers; a chore runs on its own schedule."""

import os
import subprocess
import sys
import time

import pytest

from planner.clusters.models import Import
from planner.forecasts.models import Forecast
from planner.runs.models import Run
from planner.work.kinds import Chore, kinds, steps
from planner.work.models import Work
from tests.kept import ROOT


def concrete(kind: type[Work]) -> set[type[Work]]:
    below = {found for child in kind.__subclasses__() for found in concrete(child)}
    return below if kind._meta.abstract else {kind, *below}


def test_every_stored_kind_of_work_is_registered() -> None:
    assert set(kinds()) == concrete(Work)
    assert {Run, Import, Forecast} <= set(steps())


def test_commands_import_what_executes_work_only_when_it_is_needed() -> None:
    program = (
        "import sys, django; django.setup()\n"
        "assert not sys.modules.keys() & {'scheduler_core.simulate', 'numpy', 'celery'}\n"
        "from planner.work.kinds import kinds\n"
        "executing = [f'planner.{name}.tasks' for name in ('runs', 'clusters', 'forecasts', 'backups')]\n"
        "assert not sys.modules.keys() & {*executing}\n"
        "kinds()\n"
        "assert sys.modules.keys() >= {*executing}"
    )
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings_test"}
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, env=environment, check=True)


def test_a_chore_runs_at_once_and_then_after_its_period(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, done = [1000.0], list[float]()
    monkeypatch.setattr(time, "monotonic", lambda: clock[-1])
    chore = Chore(lambda: done.append(clock[-1]), every_seconds=60.0)
    for moment in (1001.0, 1001.0, 1060.9, 1061.1):
        clock.append(moment)
        chore.do_if_due()
    assert done == [1001.0, 1061.1]


def test_a_chore_waits_for_its_first_time_and_a_period_of_zero_disables_it() -> None:
    done: list[str] = []
    Chore(lambda: done.append("late"), every_seconds=1.0, first_after_seconds=60.0).do_if_due()
    Chore(lambda: done.append("off"), every_seconds=0.0).do_if_due()
    assert done == []
