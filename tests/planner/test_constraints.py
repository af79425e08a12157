"""The database refuses invalid rows, and upgrading to these constraints keeps every row."""

from typing import Any

import pytest
from django.db import IntegrityError, connection, models, transaction
from django.db.migrations.executor import MigrationExecutor
from django.test.utils import CaptureQueriesContext

from planner.accounts.models import Event, Membership
from planner.experiments.models import Experiment
from planner.forecasts.models import Forecast, WaitTarget
from planner.runs.models import Outcome, Run, Victim
from planner.scenarios.models import Change
from planner.scenarios.services.branches import scenario_branch
from tests import factories

REFUSED = {
    "a run in an unknown state": (Run, {"state": "sleeping"}),
    "a run with progress above 1": (Run, {"progress": 1.5}),
    "a run with progress below 0": (Run, {"progress": -0.1}),
    "a member with an unknown role": (Membership, {"role": "owner"}),
    "a change of an unknown way": (Change, {"way": "jump"}),
    "a victim in an unknown state": (Victim, {"state": "spared"}),
    "an event of an unknown kind": (Event, {"kind": "rumour"}),
    "an experiment of an unknown kind": (Experiment, {"kind": "guess"}),
    "a wait target of zero seconds": (WaitTarget, {"seconds": 0.0}),
    "an experiment in an unknown state": (Experiment, {"state": "queued"}),
}


@pytest.mark.django_db
@pytest.mark.parametrize("case", REFUSED)
def test_the_database_refuses_an_invalid_row(case: str) -> None:
    kind, values = REFUSED[case]
    scenario = factories.scenario()
    run = factories.run(scenario)
    factories.user("member")
    scenario.wait_targets.create(queue="waits", seconds=60.0)
    Change.objects.create(scenario=scenario, revision=2, kind="conf")
    Victim.objects.create(
        outcome=Outcome.objects.create(), order=1, pod="a/b", action="reclaim", state="kept"
    )
    Event.objects.create(kind=Event.Kind.MEMBER, action="made", subject="member")
    Experiment.objects.create(
        workspace=scenario.workspace, scenario=scenario, scenario_revision=1, input=run.input, name="weights",
        kind=Experiment.Kind.SWEEP, written={}, axes=[], grid_size=1, planned=1, engine_version="1",
    )  # fmt: skip
    assert_refused(kind, values)


def assert_refused(kind: type[models.Model], values: dict[str, Any]) -> None:
    rows = kind._default_manager.all()
    assert rows.exists()
    with pytest.raises(IntegrityError), transaction.atomic():
        rows.update(**values)


@pytest.mark.django_db
def test_locking_a_scenario_does_not_lock_its_snapshot() -> None:
    scenario = factories.scenario()
    with CaptureQueriesContext(connection) as queries:
        factories.run(scenario)
        scenario_branch(scenario=scenario, name="branch")
    locks = [query["sql"] for query in queries if "FOR UPDATE" in query["sql"]]
    assert len(locks) == (3 if connection.features.has_select_for_update else 0)
    assert all(lock.endswith('FOR UPDATE OF "planner_scenario"') for lock in locks), locks


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_the_migration_keeps_the_rows_and_clamps_progress_to_one() -> None:
    run = factories.run()
    try:
        migrate(("planner", "0044_experiments"))
        Run.objects.filter(pk=run.pk).update(progress=1.0000001)
    finally:
        migrate(*MigrationExecutor(connection).loader.graph.leaf_nodes("planner"))
    kept = Run.objects.get(pk=run.pk)
    assert (kept.progress, kept.input_id, kept.scenario_id) == (1.0, run.input_id, run.scenario_id)


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_the_migration_keeps_what_forecasts_and_experiments_were_computed_with() -> None:
    forecast = factories.forecast()
    work = {**factories.FORECAST_SWEEP["forecast"], "trace": str(forecast.trace_id)}
    sweep = {**factories.FORECAST_SWEEP, "forecast": work}
    experiment = factories.experiment(forecast.scenario, sweep)
    options, written = dict(forecast.options), experiment.written
    del options["node_constraints"]
    try:
        migrate(("planner", "0053_plainer_help_texts"))
        Forecast.objects.filter(pk=forecast.pk).update(options=options)
    finally:
        migrate(*MigrationExecutor(connection).loader.graph.leaf_nodes("planner"))
    forecast.refresh_from_db()
    experiment.refresh_from_db()
    assert forecast.options == {**options, "node_constraints": "none"}
    work = {**written["forecast"], "node_constraints": "none"}
    assert experiment.written == {**written, "forecast": work}


def migrate(*targets: tuple[str, str]) -> None:
    MigrationExecutor(connection).migrate(list(targets))
