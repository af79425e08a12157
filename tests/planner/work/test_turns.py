"""The order of queued runs, and runs that need no computation."""

from datetime import timedelta

import pytest
from django.utils import timezone

from planner.runs.models import Run
from planner.runs.selectors.steps import decisions
from planner.runs.services.runs import run_create
from planner.runs.services.simulations import find_twin
from planner.scenarios.services.scenarios import scenario_create
from planner.work.turns import work_claim_next
from tests import factories
from tests.worker import do_work


@pytest.mark.django_db
def test_the_owner_with_fewer_running_runs_goes_first_then_the_oldest_run() -> None:
    greedy, modest = factories.user("greedy"), factories.user("modest")
    scenario = factories.scenario()
    many = [run_create(scenario=scenario, user=greedy) for _ in range(3)]
    few = [run_create(scenario=scenario, user=modest) for _ in range(2)]
    order = []
    while (claim := work_claim_next(worker="w")) is not None:
        order.append(claim.id)
    assert order == [run.pk for run in (many[0], few[0], many[1], few[1], many[2])]


@pytest.mark.django_db
def test_a_run_in_back_off_does_not_block_others() -> None:
    scenario = factories.scenario()
    lost, fresh = factories.run(scenario), factories.run(scenario)
    Run.objects.filter(pk=lost.pk).update(not_before=timezone.now() + timedelta(seconds=60))
    claim = work_claim_next(worker="w")
    assert claim is not None
    assert claim.id == fresh.pk


@pytest.mark.django_db
def test_a_claim_makes_a_fixed_number_of_queries_per_kind_of_work(django_assert_num_queries) -> None:
    scenario = factories.scenario()
    for _ in range(5):
        factories.run(scenario)
    # Three for each awaited kind (runs, imports, rebases, forecasts), one for experiments, six for the claim.
    with django_assert_num_queries(13 + 6):
        assert work_claim_next(worker="w")


@pytest.mark.django_db(transaction=True)
def test_equal_inputs_are_computed_once_and_both_runs_have_all_rows() -> None:
    scenario = factories.scenario()
    first, second = (factories.run(scenario) for _ in range(2))
    for run in (first, second):
        do_work(run)
    assert first.result_id == second.result_id
    assert "simulate_ms" in first.timings
    assert "simulate_ms" not in second.timings
    assert second.engine_version == first.engine_version
    assert [row.queue for row in first.queue_outcomes.all()] == [
        row.queue for row in second.queue_outcomes.all()
    ]
    assert len(decisions(first)) == len(decisions(second)) > 0
    assert first.outcome_id == second.outcome_id


@pytest.mark.django_db(transaction=True)
def test_a_result_is_not_shared_across_engines_options_inputs_or_extenders(settings) -> None:
    scenario = factories.scenario()
    done = factories.run(scenario)
    do_work(done)
    same = factories.run(scenario)
    assert find_twin(same) is not None
    assert find_twin(factories.run(scenario, explain=False)) is None
    assert find_twin(factories.run(scenario, cycles=2)) is None
    other = scenario_create(snapshot=scenario.snapshot, name="another", owner=factories.user())
    assert find_twin(factories.run(other)) is None
    settings.RUN_EXTENDER_HOSTS = ["scores.example:8888"]
    assert find_twin(same) is None
    settings.RUN_EXTENDER_HOSTS = []
    Run.objects.filter(pk=done.pk).update(engine_version="an older one")
    assert find_twin(same) is None
