"""The core does not fail on thousands of mutated recorded scenarios."""

from __future__ import annotations

import pytest

from scheduler_core import Options, prepare, simulate_document
from scheduler_core.explain import text
from scheduler_core.framework import node_columns, scores_together
from scheduler_core.victims import preempt_bound, reclaim_bound
from tests.builders import Object
from tests.scheduler_core.mutations import mutated
from tests.trials import trials

EVERY_TIME, MANY = 80, 5000
SLICES = 8


def fault_in(number: int) -> str:
    """Return how the core fails on a mutated scenario, empty if it does not."""
    result = simulate_document(mutated(number))
    return f"{number}: {result['fault']}" if "fault" in result else ""


def part_of(count: int, part: int) -> range:
    return range(count * part // SLICES, count * (part + 1) // SLICES)


@pytest.mark.parametrize("part", range(SLICES))
def test_core_does_not_fail_on_mutated_scenarios(part: int) -> None:
    assert [fault for number in part_of(EVERY_TIME, part) if (fault := fault_in(number))] == []


@pytest.mark.long
@pytest.mark.parametrize("part", range(SLICES))
def test_core_does_not_fail_on_thousands_of_mutated_scenarios(part: int) -> None:
    assert [fault for number in part_of(MANY, part) if (fault := fault_in(number))] == []


@pytest.mark.parametrize("number", trials(range(240), always=6))
def test_every_waiting_job_of_a_mutated_scenario_is_explained(number: int) -> None:
    scenario = mutated(number)
    prepared = prepare(scenario)
    result = prepared.simulate()
    plain = prepared.simulate(options=Options(explain=False))
    assert ("error" in result) == ("error" in plain)
    if "error" in result:
        return
    for cycle, other in zip(result["cycles"], plain["cycles"], strict=True):
        assert cycle["decisions"] == other["decisions"], "explanations do not change decisions"
    list(text.lines(text.Selection(), prepared.document, result, prepared.simulate))


def test_mutated_scenario_is_deterministic_by_number() -> None:
    assert [mutated(number) for number in range(20)] == [mutated(number) for number in range(20)]


@pytest.mark.parametrize("number", trials(range(600), always=24))
def test_single_and_batch_node_queries_give_the_same_result(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = mutated(number)
    assert answered_with(1, scenario, monkeypatch) == answered_with(10**9, scenario, monkeypatch)


def answered_with(few: int, scenario: Object, monkeypatch: pytest.MonkeyPatch) -> Object:
    """Return the result when up to `few` nodes are queried one by one."""
    for module in (node_columns, scores_together, preempt_bound, reclaim_bound):
        monkeypatch.setattr(module, "FEW", few)
    monkeypatch.setattr(node_columns, "FEW_OF_A_CLASS", few)
    return simulate_document(scenario)
