"""Parts of experiments that no search can use, refused before anything is simulated."""

from typing import Any

import pytest

from planning.experiments.definition import (
    Definition,
    experiment_read,
    grid_of,
    name_problems,
    size_problems,
    written_problems,
)
from planning.experiments.levels import PRESENT, UnusableSetting
from planning.experiments.settings import setting_of
from planning.experiments.space import Axis, Space
from tests.builders import conf, node, queue, scenario


def test_a_setting_of_thousands_of_values_is_refused_before_they_are_written_down() -> None:
    for ends in (
        {"from": 1, "to": 10**12, "step": 1},
        {"from": 1, "to": 2, "step": 0.000001},
        {"from": "9" * 5000, "to": "9" * 5000, "step": 1},
        {"from": -1, "to": 1, "step": 1},
    ):
        with pytest.raises(UnusableSetting, match="at most"):
            setting_of({"queue": "a", "field": "weight", "range": ends})


def test_levels_keep_the_order_and_the_spelling_of_the_first_of_equal_values() -> None:
    written = {"queue": "a", "field": "deserved", "resource": "cpu", "values": ["4", "1", "1000m", "2", "1"]}
    document = {"queues": [{"metadata": {"name": "a"}, "spec": {"deserved": {"cpu": "2"}}}]}
    levels = setting_of(written).levels(document)
    assert [(level.value, level.price) for level in levels] == [(None, 0.0), ("4", 1.0), ("1", 1.0)]


def test_a_grid_that_cannot_be_counted_is_refused() -> None:
    moved = {"queue": "a", "field": "weight", "values": list(range(1, 1001))}
    settings = [{**moved, "name": f"weight {number}"} for number in range(8)]
    written = {**with_goal(figure="evictions", at_most=1), "settings": settings}
    grid = Space([Axis(one["name"], 0, (PRESENT,) * 1000) for one in settings])
    problems = size_problems(written, Definition.of(written), grid)
    assert [(problem.path, bool(problem.fix)) for problem in problems] == [("settings", True)]


def with_goal(**goal: Any) -> dict[str, Any]:
    return {"name": "x", "scenario": "s", "settings": [{"like": "n0", "values": [1]}], "goals": [goal]}


@pytest.mark.parametrize(
    ("goal", "path"),
    [
        ({"figure": "evictions", "at_most": "few"}, "goals[0].at_most"),
        ({"figure": "evictions", "at_most": "nan"}, "goals[0].at_most"),
        ({"figure": "evictions", "at_most": float("nan")}, "goals[0].at_most"),
        ({"figure": "evictions", "at_least": "inf"}, "goals[0].at_least"),
        ({"figure": "evictions", "at_least": 1e300}, "goals[0].at_least"),
        ({"figure": "evictions", "at_most": "1_000"}, "goals[0].at_most"),
        ({"figure": "evictions", "at_most": "\u0661"}, "goals[0].at_most"),
        ({"figure": "share", "at_most": ""}, "goals[0].at_most"),
        ({"figure": "utilisation", "resource": "cpu", "at_least": "50%"}, "goals[0].at_least"),
        ({"figure": "deserved", "resource": "cpu", "at_least": "lots"}, "goals[0].at_least"),
        ({"figure": "deserved", "resource": "cpu", "at_least": "4", "at_most": "3500m"}, "goals[0].at_most"),
        ({"figure": "evictions", "at_least": 5, "at_most": 1}, "goals[0].at_most"),
    ],
)
def test_a_limit_that_no_value_can_be_compared_with_is_refused(goal: dict[str, Any], path: str) -> None:
    problems = written_problems(with_goal(**goal))
    assert [(problem.path, bool(problem.fix)) for problem in problems] == [(path, True)]


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"sample": {"count": 1}}, "sample"),
        ({"run": {"cycles": 2.0}}, "run.cycles"),
        ({"settings": [{"like": "n0", "values": [1], "price": 1e300}]}, "settings[0].price"),
        ({"settings": [{"like": "n0", "values": [1], "price": float("nan")}]}, "settings[0].price"),
        ({"settings": [{"like": f"n{number}", "values": [1]} for number in range(9)]}, "settings"),
        ({"forecast": {"trace": "t", "horizon_seconds": 0}}, "forecast.horizon_seconds"),
        ({"forecast": {"trace": "t", "seeds": 2.0}}, "forecast.seeds"),
        ({"forecast": {"trace": "t", "termination_seconds": "soon"}}, "forecast.termination_seconds"),
    ],
)
def test_parts_that_the_search_cannot_use_are_refused_with_the_fix(change: dict[str, Any], path: str) -> None:
    problems = written_problems({**with_goal(figure="evictions", at_most=1), **change})
    assert [(problem.path, bool(problem.fix)) for problem in problems] == [(path, True)]
    assert len(problems[0].message) < 100


@pytest.mark.parametrize(
    ("setting", "fix"),
    [
        ({"field": "wieght", "values": [1]}, "write 'weight'"),
        (
            {"field": "parent", "values": ["b"]},
            "write one of capability, deserved, guarantee, priority, reclaimable, weight",
        ),
        (
            {"field": "deserved", "resource": "cpu", "values": ["abc"]},
            "write a number with an optional suffix, such as 500m, 2 or 1.5Gi",
        ),
    ],
)
def test_a_value_that_is_refused_has_advice_to_follow(setting: dict[str, Any], fix: str) -> None:
    written = {**with_goal(figure="evictions", at_most=1), "settings": [{"queue": "a", **setting}]}
    problems = written_problems(written)
    if not problems:
        document = scenario(nodes=[node("n", cpu=8)], queues=[queue("a")], conf=conf("allocate", ["gang"]))
        _, problems = grid_of(document, written)
    assert [(problem.rule, problem.fix) for problem in problems] == [("experiment.value", fix)]


def test_a_figure_of_a_resource_that_nothing_in_the_cluster_names_is_refused() -> None:
    document = scenario(
        nodes=[node("n0", cpu=8)], queues=[queue("a")], podgroups=[], pods=[], conf=conf("allocate", ["gang"])
    )
    written = with_goal(figure="deserved", resource="gpu", at_least="1")
    grid, _ = grid_of(document, written)
    problems = name_problems(document, Definition.of(written), grid)
    assert [problem.message for problem in problems] == ["the cluster has no resource 'gpu'"]
    written = with_goal(figure="deserved", resource="cpu", at_least="1")
    assert not name_problems(document, Definition.of(written), grid)


@pytest.mark.parametrize(
    "text", ["5", "[]", "x", "true", "{settings: [5], goals: [x], name: a, scenario: b}"]
)
def test_a_text_that_is_not_a_mapping_is_refused(text: str) -> None:
    _, problems = experiment_read(text)
    assert problems
    assert all(problem.rule == "experiment.type" for problem in problems)
