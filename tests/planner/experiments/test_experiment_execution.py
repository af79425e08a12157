"""Experiments from creation to end in this process, with real child processes."""

import os
import re
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from planner.errors import Invalid
from planner.experiments.models import Experiment, ExperimentGroup
from planner.experiments.selectors.cells import Cells
from planner.experiments.selectors.experiments import progress_of
from planner.experiments.services.settling import experiment_cancel, experiments_settle
from planner.work.execution import Watch, work_execute_next
from planner.work.lifecycle import work_claim
from planner.work.recovery import worker_lost
from planner.work.turns import work_claim_next
from planning.experiments.cells import Grid
from planning.experiments.definition import Definition, grid_of
from planning.experiments.search import smallest
from scheduler_core import Options, simulate_document
from tests import factories
from tests.processes.forks import fork_servers_of, killed_child
from tests.worker import do_all_work, do_work

pytestmark = pytest.mark.django_db(transaction=True)

Json = Mapping[str, Any]


def grid(experiment: Experiment) -> Grid:
    return grid_of(experiment.input.document(), experiment.written)[0]


def reloaded(experiment: Experiment) -> Experiment:
    return Experiment.objects.get(pk=experiment.pk)


def test_every_cell_of_a_sweep_equals_the_same_run_on_its_own() -> None:
    experiment = factories.experiment()
    assert (experiment.state, experiment.planned, experiment.grid_size) == ("running", 12, 12)
    do_all_work()
    experiment = reloaded(experiment)
    assert (experiment.state, experiment.finished is not None) == ("succeeded", True)
    cells, there = Cells(experiment), grid(experiment)
    assert [row.number for row in cells.rows] == list(range(12))
    for row, combination in zip(cells.rows, cells.order, strict=True):
        alone = simulate_document(there.changed(combination), Options(explain=False))
        assert list(row.figures.values()) == [float(figure.of(alone)) for figure in cells.figures]
    assert any(row.front for row in cells.rows)
    assert not all(row.front for row in cells.rows)


def test_a_search_equals_the_search_in_one_process_and_stops_its_other_groups() -> None:
    experiment = factories.experiment(written=factories.SEARCH)
    do_all_work()
    experiment = reloaded(experiment)
    there = grid(experiment)
    expected = smallest(there, Definition.of(experiment.written).goals, limit=1000)
    assert expected.cell is not None
    verdict = experiment.verdict
    assert (verdict["status"], experiment.state) == (expected.status, "succeeded")
    cells = Cells(experiment)
    assert cells.order[verdict["cell"]] == expected.cell.combination
    assert verdict["tried"] == len(expected.tried)
    assert not experiment.groups.filter(state__in=("queued", "running")).exists()


def test_an_impossible_search_reports_the_closest_cell_and_the_missed_goal() -> None:
    settings = [{"queue": "waits", "field": "capability", "resource": "cpu", "values": ["2", "1"]}]
    goal = {"figure": "allocated", "queue": "waits", "resource": "cpu", "at_least": "100"}
    experiment = factories.experiment(written={"name": "too much", "settings": settings, "goals": [goal]})
    do_all_work()
    verdict = reloaded(experiment).verdict
    assert verdict["status"] == "impossible"
    assert verdict["missed"][0]["goal"] == "allocated cpu of waits at least 100000"
    assert verdict["tried"] == verdict["grid_size"] == 3


def test_equal_cells_are_measured_once() -> None:
    scenario = factories.scenario()
    factories.experiment(scenario)
    do_all_work()
    weights = [{"queue": "waits", "field": "weight", "values": [4, 9]}]
    again = factories.experiment(scenario, {**factories.SWEEP, "settings": weights})
    assert progress_of(again).shared == 2
    do_all_work()
    assert reloaded(again).state == "succeeded"
    there = grid(again)
    for row, combination in zip(Cells(reloaded(again)).rows, order_of(again), strict=True):
        expected = there.cell(combination, Definition.of(again.written).figures)
        assert list(row.figures.values()) == list(expected.figures)


def order_of(experiment: Experiment) -> list[tuple[int, ...]]:
    return Cells(experiment).order


def test_a_repeated_experiment_succeeds_immediately() -> None:
    scenario = factories.scenario()
    first = factories.experiment(scenario, factories.SEARCH)
    do_all_work()
    second = factories.experiment(scenario, factories.SEARCH)
    assert (second.state, second.verdict) == ("succeeded", reloaded(first).verdict)


def test_a_run_is_claimed_before_cells_of_an_older_experiment() -> None:
    owner = factories.user()
    scenario = factories.scenario()
    factories.experiment(scenario, owner=owner)
    run = factories.run(scenario)
    claim = work_claim_next(worker="here")
    assert claim is not None
    assert claim.id == run.pk


def test_a_group_yields_to_a_run_and_keeps_its_measurements(settings: Any) -> None:
    settings.RUN_HEARTBEAT_SECONDS = 0.05
    scenario = factories.scenario(document=factories.cluster(nodes=60, waiting=400))
    many = {**factories.SWEEP, "settings": [{"queue": "waits", "field": "weight", "range": RANGE}]}
    experiment = factories.experiment(scenario, {**many, "run": {"cycles": 20}})
    run = factories.run(scenario)
    group = experiment.groups.order_by("number")[0]
    do_work(group)
    assert (group.state, group.losses) == ("queued", 0)
    assert len(group.measured) < len(group.cells)
    claim = work_claim_next(worker="here")
    assert claim is not None
    assert claim.id == run.pk


RANGE = {"from": 2, "to": 801, "step": 1}


def test_a_group_of_a_lost_worker_resumes_after_its_last_measurement() -> None:
    experiment = factories.experiment()
    group = experiment.groups.order_by("number")[0]
    claim = work_claim(kind=ExperimentGroup, id=group.pk, worker="gone")
    assert claim is not None
    do_all_work()
    entries = Cells(experiment).entries
    assert len(entries) == 12 - len(group.cells)
    claim.mine().update(measured=[[1.0, 2.0, 3.0]])
    worker_lost("gone")
    ExperimentGroup.objects.update(not_before=None)
    do_all_work()
    cells = Cells(reloaded(experiment))
    assert (cells.experiment.state, len(cells.rows)) == ("succeeded", 12)
    assert list(cells.rows[0].figures.values()) == [1.0, 2.0, 3.0], "measured cells are kept"


def test_a_cell_that_needs_too_much_memory_takes_no_other_cell_with_it(settings: Any) -> None:
    factories.experiment(factories.scenario(document=factories.cluster(nodes=3)))
    do_all_work()
    settings.RUN_MEMORY_MB = fork_server_megabytes() + 40
    nodes = [{"like": "n0", "values": [1, 2, 20_000]}]
    experiment = factories.experiment(written={**factories.SWEEP, "settings": nodes})
    do_all_work()
    *others, largest = Cells(reloaded(experiment)).rows
    assert [row.error for row in others] == ["", "", ""]
    assert largest.error.startswith("The experiment needed more memory than the limit of ")
    assert reloaded(experiment).state == "succeeded"


def fork_server_megabytes() -> int:
    """Return the address space that a child starts with."""
    [server] = fork_servers_of(os.getpid())
    [size] = re.findall(r"VmSize:\s+(\d+) kB", Path(f"/proc/{server}/status").read_text())
    return int(size) // 1024


def test_children_killed_at_different_cells_lose_no_cell(settings: Any) -> None:
    settings.RUN_HEARTBEAT_SECONDS = 0.05
    scenario = factories.scenario(document=factories.cluster(nodes=60, waiting=400))
    many = {**factories.SWEEP, "settings": [{"queue": "waits", "field": "weight", "range": RANGE}]}
    experiment = factories.experiment(scenario, {**many, "run": {"cycles": 20}})
    group = experiment.groups.order_by("number")[0]
    for _ in range(2):
        known = len(group.measured)
        with killed_child(when=lambda: measured_of(group) > known):  # noqa: B023 - used in this round
            do_work(group)
        assert (group.state, group.kills) == ("queued", 1)
        assert known < len(group.measured) < len(group.cells)
    assert not any("error" in entry for entry in group.measured)


def test_a_cell_whose_child_is_killed_twice_has_the_reason_as_its_error() -> None:
    experiment = factories.experiment()
    [first, *_] = experiment.groups.order_by("number")
    for _ in range(2):
        with killed_child(when=lambda: True):
            do_work(first)
    assert (first.state, first.kills) == ("queued", 0), "the next cell has two attempts again"
    [entry] = first.measured
    assert "was killed (SIGKILL)" in entry["error"]
    assert entry["error"].endswith("This happened twice.")


def measured_of(group: ExperimentGroup) -> int:
    return len(ExperimentGroup.objects.values_list("measured", flat=True).get(pk=group.pk))


def test_a_late_report_of_a_lost_worker_is_ignored() -> None:
    experiment = factories.experiment()
    group = experiment.groups.order_by("number")[0]
    claim = work_claim(kind=ExperimentGroup, id=group.pk, worker="gone")
    assert claim is not None
    worker_lost("gone")
    assert Watch(claim, threading.Event()).beat(0.5, "late") is False
    assert claim.mine().update(measured=[[9.0, 9.0, 9.0]]) == 0


def test_cancelling_an_experiment_keeps_its_measurements() -> None:
    experiment = factories.experiment()
    work_execute_next(worker="here", stopping=threading.Event())
    known = progress_of(experiment).measured
    cancelled = experiment_cancel(experiment=experiment)
    assert (cancelled.state, progress_of(cancelled).measured) == ("cancelled", known)
    assert known > 0
    do_all_work()
    assert progress_of(reloaded(experiment)).measured == known


def test_an_experiment_ends_with_the_errors_of_its_failed_groups() -> None:
    experiment = factories.experiment()
    ExperimentGroup.objects.update(state="failed", error="The worker was lost 3 times.")
    experiments_settle()
    rows = Cells(reloaded(experiment)).rows
    assert reloaded(experiment).state == "succeeded"
    assert {row.error for row in rows} == {"The worker was lost 3 times."}


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"settings": [{"queue": "nobody", "field": "weight", "values": [1]}]}, "settings[0].queue"),
        ({"settings": [{"like": "n9", "values": [1]}]}, "settings[0].like"),
        ({"figures": [{"figure": "evictions", "queue": "nobody"}]}, "figures"),
        ({"figures": [{"figure": "luck"}]}, "figures[0].figure"),
        ({"limit": 3}, "limit"),
        ({"surprise": 1}, "surprise"),
    ],
)
def test_an_invalid_experiment_is_refused_with_the_field(change: Json, path: str) -> None:
    with pytest.raises(Invalid) as refused:
        factories.experiment(written={**factories.SWEEP, **change})
    assert path in [problem.path for problem in refused.value.problems]
    assert not Experiment.objects.exists()
