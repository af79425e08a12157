"""Requests about what another request removes at the same moment: refused, and nothing is left behind."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest
from django.db import connection, models, transaction
from django.test import Client
from rest_framework.test import APIClient

from planner.clusters.models import Snapshot
from planner.clusters.services.deletion import thing_delete
from planner.errors import Gone, gone_of
from planner.experiments.models import Experiment
from planner.experiments.services.experiments import experiment_create, experiment_plan, experiment_queue
from planner.forecasts.models import Forecast
from planner.forecasts.services.forecasts import (
    forecast_create,
    forecast_plan,
    forecast_queue,
    targets_change,
    targets_set,
)
from planner.runs.models import Run
from planner.runs.services.runs import baseline_create, run_create, run_plan, run_queue
from planner.runs.services.searches import search_create
from planner.scenarios.models import Change, Rebase, Scenario
from planner.scenarios.services.branches import rebase_prepare, rebase_store, scenario_branch
from planner.scenarios.services.labels import label
from planner.scenarios.services.queues import queue_update
from planner.scenarios.services.scenarios import scenario_create, scenario_remove
from planner.work.execution import work_execute_next
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)

MODELS: tuple[type[models.Model], ...] = (Run, Forecast, Experiment, Rebase, Change)


def removed(scenario: Scenario) -> None:
    scenario_remove(scenario=Scenario.objects.get(pk=scenario.pk), expected_revision=scenario.revision)


def deleted(scenario: Scenario) -> None:
    thing_delete(thing=Scenario.objects.get(pk=scenario.pk), user=None)


def snapshot_deleted(scenario: Scenario) -> None:
    thing_delete(thing=Snapshot.objects.get(pk=scenario.snapshot_id), user=None)


REMOVALS = [removed, deleted, snapshot_deleted]


def rows() -> dict[str, int]:
    counts = {model.__name__: model._default_manager.count() for model in MODELS}
    return {**counts, "scenarios": Scenario.objects.filter(removed=None).count()}


def _run(scenario: Scenario) -> Callable[[], object]:
    plan = run_plan(scenario=scenario)
    return lambda: run_queue(scenario=plan.scenario, content=plan.content, options=plan.options)


def _forecast(scenario: Scenario) -> Callable[[], object]:
    plan = forecast_plan(scenario=scenario, trace=factories.workload(), options={"rest": "waits"})
    return lambda: forecast_queue(plan=plan)


def _experiment(scenario: Scenario) -> Callable[[], object]:
    plan = experiment_plan(scenario=scenario, written=factories.SWEEP)
    return lambda: experiment_queue(plan=plan)


def _rebase(scenario: Scenario) -> Callable[[], object]:
    snapshot = factories.snapshot()
    arguments: dict[str, Any] = {"scenario": scenario, "snapshot": snapshot, "expected_revision": 1}
    carried = rebase_prepare(choices={}, **arguments)
    return lambda: rebase_store(carried=carried, name="b", **arguments)


def _search(scenario: Scenario) -> Callable[[], object]:
    run = factories.run(scenario)
    return lambda: search_create(run=run, job="default/train")


def _label_of_a_run(scenario: Scenario) -> Callable[[], object]:
    run = factories.run(scenario)
    return lambda: label(thing=run, user=None, note="mine")


ACTIONS: dict[str, Callable[[Scenario], Callable[[], object]]] = {
    "run": lambda scenario: lambda: run_create(scenario=scenario),
    "planned run": _run,
    "forecast": lambda scenario: lambda: forecast_create(scenario=scenario, trace=factories.workload()),
    "planned forecast": _forecast,
    "experiment": lambda scenario: lambda: experiment_create(scenario=scenario, written=factories.SWEEP),
    "planned experiment": _experiment,
    "branch": lambda scenario: lambda: scenario_branch(scenario=scenario, name="b"),
    "prepared rebase": _rebase,
    "queued rebase": lambda scenario: lambda: factories.large_rebase(scenario),
    "edit": lambda scenario: (
        lambda: queue_update(scenario=scenario, name="waits", patch={"weight": 5}, expected_revision=1)
    ),
    "wait targets": lambda scenario: lambda: targets_change(scenario=scenario, targets={"waits": 60.0}),
    "all wait targets": lambda scenario: lambda: targets_set(scenario=scenario, targets={}, expected=""),
    "note": lambda scenario: lambda: label(thing=scenario, user=None, note="mine"),
    "note of a run": _label_of_a_run,
    "search": _search,
}


@pytest.mark.parametrize("remove", REMOVALS)
@pytest.mark.parametrize("action", ACTIONS)
def test_what_comes_after_a_removal_is_refused_and_leaves_nothing(
    action: str, remove: Callable[[Scenario], None]
) -> None:
    scenario = factories.scenario("to go")
    do = ACTIONS[action](scenario)
    remove(scenario)
    before = rows()
    with pytest.raises(Gone, match=r"^Scenario to go was removed in the meantime. Nothing was saved.$"):
        do()
    assert rows() == before


def test_a_scenario_on_a_deleted_snapshot_is_refused() -> None:
    snapshot = factories.snapshot()
    thing_delete(thing=Snapshot.objects.get(pk=snapshot.pk), user=None)
    with pytest.raises(Exception, match=r"(?i)foreign key") as refused:
        scenario_create(snapshot=snapshot, name="late")
    gone = gone_of(refused.value)
    assert str(gone) == "What this refers to was deleted in the meantime. Nothing was saved."
    assert not Scenario.objects.exists()


@pytest.mark.parametrize("remove", REMOVALS)
def test_a_run_whose_scenario_is_removed_gets_no_baseline(remove: Callable[[Scenario], None]) -> None:
    scenario = factories.scenario()
    queue_update(scenario=scenario, name="waits", patch={"weight": 5}, expected_revision=1)
    run = factories.run(scenario)
    work_execute_next(worker="w", stopping=threading.Event())
    run.refresh_from_db()
    assert run.state == Run.State.SUCCEEDED
    run.searches.all().delete()
    if remove is removed:
        remove(scenario)
        assert baseline_create(run=run) is None
    assert not Run.objects.filter(is_baseline=True).exists()


def waits_in_the_middle() -> bool:
    """Return whether a request waits where it locks the scenario; with SQLite it does at its first write."""
    return connection.vendor == "postgresql"


@contextmanager
def uncommitted(change: Callable[[], object], *, seconds: float = 2.0) -> Iterator[None]:
    """Make a change on another connection; commit it while the block waits for it, or when the block ends."""
    begun, over = threading.Event(), threading.Event()

    def work() -> None:
        with transaction.atomic():
            change()
            begun.set()
            over.wait(seconds)
        connection.close()

    thread = threading.Thread(target=work)
    thread.start()
    assert begun.wait(10)
    try:
        yield
    finally:
        over.set()
        thread.join()


@pytest.mark.parametrize("remove", REMOVALS)
def test_calls_during_a_removal_answer_404_with_the_reason(
    api: APIClient, remove: Callable[[Scenario], None]
) -> None:
    scenario, trace = factories.scenario("to go"), factories.workload()
    at = f"/api/v1/scenarios/{scenario.pk}"
    assert api.get(f"{at}/").status_code == 200  # imports what the next call needs
    with uncommitted(partial(remove, scenario)):
        answer = api.post(f"{at}/runs/", {})
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    if waits_in_the_middle():
        assert answer.json()["message"] == "Scenario to go was removed in the meantime. Nothing was saved."
    other = factories.scenario("also to go")
    with uncommitted(partial(remove, other)):
        forecast = {"trace": str(trace.pk), "rest": "waits"}
        answer = api.post(f"/api/v1/scenarios/{other.pk}/forecasts/", forecast)
    assert answer.status_code == 404
    assert not Run.objects.exists()
    assert not Forecast.objects.exists()


def test_a_page_during_a_removal_shows_the_reason(browser: Client) -> None:
    scenario = factories.scenario("to go")
    assert browser.get(f"/scenarios/{scenario.pk}/").status_code == 200
    with uncommitted(partial(removed, scenario)):
        answer = browser.post(f"/scenarios/{scenario.pk}/runs/")
    assert answer.status_code == 404
    if waits_in_the_middle():
        assert "Scenario to go was removed in the meantime." in answer.content.decode()
    assert not Run.objects.exists()


@pytest.mark.parametrize("remove", REMOVALS)
def test_a_removal_waits_for_a_run_that_is_being_queued_and_takes_it_along(
    remove: Callable[[Scenario], None],
) -> None:
    scenario = factories.scenario()
    plan = run_plan(scenario=scenario)
    queue = partial(run_queue, scenario=plan.scenario, content=plan.content, options=plan.options)
    with uncommitted(queue, seconds=0.5):
        remove(scenario)
    assert not Run.objects.exclude(state=Run.State.CANCELLED).exists()
