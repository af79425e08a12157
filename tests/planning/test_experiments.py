"""The smallest change equals that of exhaustive search; a cell equals the same run on its own."""

import itertools
import json
import random
from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest

from planning.experiments.cells import Cell, Grid, front
from planning.experiments.definition import Definition, name_problems
from planning.experiments.figures import MEASURES, Figure, Goal
from planning.experiments.levels import UnusableSetting
from planning.experiments.search import (
    at_the_end,
    by_price,
    goal_figures,
    missed_goals,
    smallest,
    why_none,
    why_smallest,
)
from planning.experiments.settings import setting_of
from queuecast.experiment_tables import sentence
from scheduler_core import Options, simulate_document
from tests.builders import amounts, conf, node, podgroup, pods, queue, scenario
from tests.trials import trials

ACTIONS = ("enqueue, allocate, backfill", "enqueue, allocate, reclaim, backfill")
PLUGINS = (
    ["priority", "gang", "conformance"],
    ["predicates", ("overcommit", {"overcommit-factor": 1.2}), "proportion"],
)


def cluster(dice: random.Random) -> dict[str, Any]:
    """Return a cluster with two full queues and a queue with pending pods, of random sizes."""
    names = ("a", "b", "c")
    nodes = [node(f"n{number}", cpu=8, memory="32Gi") for number in range(dice.randint(1, 3))]
    running, room = [], {one["metadata"]["name"]: 8 for one in nodes}
    groups = []
    for name in names[:2]:
        groups.append(podgroup(f"run-{name}", queue=name, min_member=1, phase="Running"))
        for number in range(dice.randint(1, 8)):
            free = next((at for at, cores in room.items() if cores), None)
            if free is not None:
                room[free] -= 1
                running += pods(f"run-{name}", 1, first=number, node=free, phase="Running", cpu=1)
    waiting = dice.randint(1, 8)
    groups.append(podgroup("wait", queue="c", min_member=dice.randint(1, waiting)))
    return scenario(
        nodes=nodes,
        queues=[queue(name, weight=dice.randint(1, 4)) for name in names],
        podgroups=groups,
        pods=[*running, *pods("wait", waiting, cpu=1)],
        conf=conf(dice.choice(ACTIONS), *PLUGINS),
        cycles=2,
    )


def grid(dice: random.Random) -> Grid:
    settings = [
        {"queue": "c", "field": "weight", "values": [1, 2, 4, 8], "price": dice.randint(1, 3)},
        {
            "queue": "a",
            "field": "capability",
            "resource": "cpu",
            "values": ["2", "4", "6"],
            "price": dice.randint(1, 3),
        },
        {"like": "n0", "values": [1, 2], "price": dice.randint(1, 6)},
        {"values": [*ACTIONS]},
    ]
    chosen = sorted(dice.sample(range(4), 3))
    return Grid(cluster(dice), [setting_of(settings[place]) for place in chosen])


def goals(dice: random.Random) -> list[Goal]:
    return [
        Goal(Figure("waiting_pods", "c"), most=dice.randint(0, 3)),
        *dice.sample(
            [
                Goal(Figure("evictions"), most=dice.randint(0, 3)),
                Goal(Figure("allocated", "a", "cpu"), least=1000.0 * dice.randint(1, 4)),
                Goal(Figure("share", "b"), most=1.5),
            ],
            dice.randint(0, 2),
        ),
    ]


def check_against_every_combination(seed: int) -> str:
    dice = random.Random(seed)
    on, wanted = grid(dice), goals(dice)
    cells = [on.cell(combination, goal_figures(wanted)) for combination in on.product()]
    reached = [cell for cell in cells if not missed_goals(cell, wanted)]
    found = smallest(on, wanted, limit=on.size)
    if reached:
        assert found.status == "found"
        assert found.cell in reached
        assert found.cell.price == min(cell.price for cell in reached)
    else:
        assert found.status == "impossible"
        assert len(found.tried) == on.size
        assert found.missed
    return found.status


def test_the_smallest_change_equals_that_of_exhaustive_search() -> None:
    statuses = [check_against_every_combination(seed) for seed in range(10, 15)]
    assert {"found", "impossible"} == set(statuses)


@pytest.mark.long
def test_the_smallest_change_equals_that_of_exhaustive_search_on_two_hundred_clusters() -> None:
    for seed in [*range(10), *range(15, 20), *range(1000, 1200)]:
        check_against_every_combination(seed)


@pytest.mark.parametrize("waiting", range(1, 20, 3))
def test_the_number_of_nodes_that_a_gang_needs_is_found(waiting: int) -> None:
    document = scenario(
        nodes=[node("n0", cpu=4, memory="64Gi")],
        queues=[queue("a")],
        podgroups=[podgroup("gang", queue="a", min_member=waiting)],
        pods=pods("gang", waiting, cpu=1),
        conf=conf(ACTIONS[0], *PLUGINS),
    )
    on = Grid(document, [setting_of({"like": "n0", "range": {"from": 1, "to": 8, "step": 1}})])
    found = smallest(on, [Goal(Figure("waiting_pods"), most=0)], limit=100)
    assert found.cell is not None
    assert found.status == "found"
    assert found.cell.price == max(0, -(-waiting // 4) - 1)


def test_a_search_ended_by_its_limit_is_undecided_and_names_the_closest_cell() -> None:
    dice = random.Random(3)
    on = grid(dice)
    found = smallest(on, [Goal(Figure("waiting_pods"), most=-1)], limit=4)
    assert (found.status, len(found.tried), found.grid_size) == ("undecided", 4, on.size)
    assert found.cell is not None
    assert found.missed[0].by == found.cell.figures[0] + 1


def test_a_change_that_may_not_be_proposed_is_neither_the_closest_nor_said_to_miss_a_goal() -> None:
    on = grid(random.Random(5))
    found = smallest(
        on, [Goal(Figure("waiting_pods"), least=0)], limit=on.size, acceptable=lambda cell: False
    )
    assert (found.status, found.cell, found.refused, found.missed) == ("impossible", None, on.size, ())
    kept = {"tried": 5, "refused": 1, "failed": 2}
    assert why_none(kept, is_of_forecasts=False) == (
        "Of 5 combinations, 2 miss a goal, 1 reaches every goal but is refused by the webhook and"
        " 2 could not be simulated."
    )


def test_changes_that_may_not_be_proposed_are_skipped() -> None:
    on = grid(random.Random(5))
    anything = [Goal(Figure("waiting_pods"), least=0)]
    assert smallest(on, anything, limit=9).cell == on.cell((0, 0, 0), goal_figures(anything))
    other = smallest(on, anything, limit=9, acceptable=lambda cell: any(cell.combination))
    assert other.cell is not None
    assert any(other.cell.combination)


@pytest.mark.parametrize("seed", range(5))
def test_combinations_are_listed_once_each_by_rising_price(seed: int) -> None:
    on = grid(random.Random(seed))
    order = list(by_price(on))
    prices = [on.price(combination) for combination in order]
    assert sorted(order) == sorted(on.product())
    assert prices == sorted(prices)


@pytest.mark.parametrize("seed", range(5))
def test_a_cell_has_the_figures_of_the_same_run_on_its_own(seed: int) -> None:
    on = grid(random.Random(seed))
    figures = every_figure()
    for combination in on.sample(8, seed):
        alone = simulate_document(on.changed(combination), Options(explain=False))
        assert on.cell(combination, figures).figures == tuple(figure.of(alone) for figure in figures)


def every_figure() -> list[Figure]:
    return [
        Figure(kind, "a" if kind in ("deserved", "allocated", "share") else "", "cpu") for kind in MEASURES
    ]


def single_session_grid(dice: random.Random) -> Grid:
    """Return a grid of weights and one other setting, in a cluster that runs one session."""
    settings = [
        {"queue": "c", "field": "weight", "values": [1, 2, 4, 8, 16, 32]},
        {"queue": "a", "field": "weight", "values": [1, 2, 3]},
        dice.choice(
            [
                {"queue": "a", "field": "capability", "resource": "cpu", "values": ["2", "6"]},
                {"values": [*ACTIONS]},
                {"like": "n0", "values": [1]},
            ]
        ),
    ]
    return Grid({**cluster(dice), "cycles": 1}, [setting_of(one) for one in settings])


@cache
def results_on_their_own(seed: int) -> Mapping[tuple[int, ...], Any]:
    """Return the result of every combination of such a grid, each simulated without the others."""
    on = single_session_grid(random.Random(seed))
    return {
        combination: simulate_document(on.changed(combination), Options(explain=False))
        for combination in on.product()
    }


@pytest.mark.parametrize("seed", trials(range(12), always=6))
def test_cells_with_equal_openings_have_the_figures_of_the_same_run_on_its_own(seed: int) -> None:
    """The fast path against the plain one, for every figure and every cell."""
    on = single_session_grid(random.Random(seed))
    figures = every_figure()
    for combination, alone in results_on_their_own(seed).items():
        assert on.cell(combination, figures).figures == tuple(figure.of(alone) for figure in figures)


@pytest.mark.parametrize("seed", trials(range(8), always=4))
def test_cells_over_one_state_have_the_figures_of_the_same_run_on_its_own(seed: int) -> None:
    """Compare cells whose settings keep the state (queues, configuration) or change it (nodes)."""
    dice = random.Random(seed)
    settings = [
        {"queue": "c", "field": "deserved", "resource": "cpu", "values": ["2", "4", "12"]},
        {"queue": "b", "field": "capability", "resource": "cpu", "values": ["1", "3"]},
        {"queue": "a", "field": "reclaimable", "values": [False]},
        {"queue": "a", "field": "guarantee", "resource": "cpu", "values": ["1", "2"]},
        {"plugin": "overcommit", "argument": "overcommit-factor", "values": [1.0, 3.0]},
        {"values": [*ACTIONS, "allocate, preempt"]},
        {"like": "n0", "values": [1, 2]},
    ]
    plugins = (PLUGINS[0], ["predicates", "overcommit", dice.choice(("proportion", "capacity"))])
    document = {**cluster(dice), "cycles": 1, "scheduler_conf": conf(dice.choice(ACTIONS), *plugins)}
    on = Grid(document, [setting_of(one) for one in dice.sample(settings, 3)])
    figures = [
        Figure(kind, name, "cpu")
        for kind in MEASURES
        for name in (("",) if kind == "utilisation" else ("", "a", "c"))
    ]
    for combination in on.sample(14, seed):
        alone = simulate_document(on.changed(combination), Options(explain=False))
        assert "error" not in alone
        assert on.cell(combination, figures).figures == tuple(figure.of(alone) for figure in figures)
    few = dice.sample(figures, 2)
    for combination in on.sample(6, seed):
        alone = simulate_document(on.changed(combination), Options(explain=False))
        assert on.cell(combination, few).figures == tuple(figure.of(alone) for figure in few)


def test_shared_results_differ_only_in_the_weights() -> None:
    """Cells that share a simulation have the same bytes, except for the weights in them."""
    shared = 0
    for seed in range(6):
        on, known = single_session_grid(random.Random(seed)), dict[str, Any]()
        for combination, alone in results_on_their_own(seed).items():
            key = on._openings.key(combination, on.parts(combination))
            alone = without_weights(alone)
            shared += bool(key) and key in known
            if key:
                assert json.dumps(known.setdefault(key, alone)) == json.dumps(alone)
    assert shared > 25


def without_weights(actual: Any) -> Any:
    """Return a result without the weights that it quotes from the queues."""
    if isinstance(actual, dict):
        return {name: without_weights(value) for name, value in actual.items() if name != "weight"}
    return [without_weights(value) for value in actual] if isinstance(actual, list) else actual


def test_a_sample_of_cells_is_determined_by_its_seed() -> None:
    on = grid(random.Random(1))
    drawn = on.sample(10, 7)
    assert drawn == on.sample(10, 7) == sorted(set(drawn))
    assert len(drawn) == 10
    assert drawn != on.sample(10, 8)
    assert on.sample(10_000, 7) == list(on.product())


def test_the_front_contains_the_cells_that_no_other_dominates() -> None:
    dice = random.Random(2)
    cells = [
        Cell((number,), float(dice.randint(0, 5)), (float(dice.randint(0, 5)), float(dice.randint(0, 5))))
        for number in range(60)
    ]
    directions = [1, -1]

    def costs(cell: Cell) -> tuple[float, ...]:
        return (cell.price, *(way * value for way, value in zip(directions, cell.figures, strict=True)))

    def beats(one: Cell, other: Cell) -> bool:
        pairs = list(zip(costs(one), costs(other), strict=True))
        return all(x <= y for x, y in pairs) and any(x < y for x, y in pairs)

    assert front(cells, directions) == [
        cell for cell in cells if not any(beats(other, cell) for other in cells)
    ]


def test_an_unlimited_figure_that_does_not_count_leaves_the_front_as_it_is() -> None:
    worse, better = (Cell((place,), float(place), (3.0, float("inf"))) for place in (1, 0))
    assert front([worse, better], [1, 0]) == [better]


def test_figures_of_all_queues_count_the_leaves_of_the_tree_once() -> None:
    document = scenario(
        nodes=[node("n0", cpu=8, memory="32Gi")],
        queues=[
            queue("top", deserved=amounts(cpu=4)),
            queue("below", parent="top", deserved=amounts(cpu=4)),
        ],
        podgroups=[podgroup("run", queue="below", phase="Running")],
        pods=pods("run", 3, node="n0", phase="Running", cpu=1),
        conf=conf(ACTIONS[0], PLUGINS[0], ["predicates", ("capacity", {"enableHierarchy": True})]),
    )
    result = simulate_document(document)
    assert Figure("allocated", "", "cpu").of(result) == 3000
    assert Figure("deserved", "", "cpu").of(result) == 4000
    assert Figure("share", "top").of(result) == 0.75


def test_figures_of_jobs_are_refused_for_a_queue_that_holds_none() -> None:
    tree = conf(ACTIONS[0], PLUGINS[0], ["predicates", ("capacity", {"enableHierarchy": True})])
    queues = [queue("top"), queue("below", parent="top")]
    settings = [{"queue": "below", "field": "weight", "values": [2]}]
    for figure, configuration, refused in (
        ({"figure": "evictions", "queue": "top"}, tree, True),
        ({"figure": "evictions", "queue": "below"}, tree, False),
        ({"figure": "share", "queue": "top"}, tree, False),
        ({"figure": "evictions", "queue": "top"}, conf(ACTIONS[0], *PLUGINS), False),
        ({"figure": "cost", "queue": "top"}, conf(ACTIONS[0], *PLUGINS), True),
    ):
        document = {**cluster(random.Random(1)), "queues": queues, "scheduler_conf": configuration}
        on = Grid(document, [setting_of(one) for one in settings])
        found = name_problems(document, Definition.of({"figures": [figure]}), on)
        assert [problem.rule for problem in found] == ["experiment.queue"] * refused, figure


def test_a_search_names_the_settings_at_either_end_of_their_values() -> None:
    settings = [
        {"queue": "c", "field": "weight", "values": [1, 2, 8, 16]},
        {"values": [ACTIONS[1], "enqueue, allocate"]},
    ]
    document = {**cluster(random.Random(1)), "queues": [queue("c", weight=4)]}
    on = Grid(document, [setting_of(one) for one in settings])
    weights = [on.axes[0].value(place) for place in range(5)]
    named = {
        weight: at_the_end(on, (place, len(on.axes[1].levels) - 1)) for place, weight in enumerate(weights)
    }
    assert named == {4: [], 2: [], 8: [], 1: ["c.weight"], 16: ["c.weight"]}


def test_a_proposal_names_the_cheaper_combinations_without_an_outcome() -> None:
    assert why_smallest({"failed": 0}, is_of_forecasts=False) == (
        "every cheaper one misses a goal, or is one that the webhook refuses."
    )
    assert why_smallest({"failed": 2}, is_of_forecasts=True) == (
        "2 of them could not be forecast, and every other cheaper one misses a goal, leaves one open, or is"
        " one that the webhook refuses."
    )


def test_a_single_combination_is_not_called_each_of_them() -> None:
    assert why_none({"tried": 1}, is_of_forecasts=False) == "It misses a goal."
    kept = {"tried": 1, "grid_size": 1, "status": "impossible", "cell": None, "verification": None}
    assert sentence(kept, is_of_forecasts=False) == (
        "No combination can be proposed: the only one was tried. It misses a goal."
    )
    assert sentence({**kept, "grid_size": 4, "status": "undecided"}, is_of_forecasts=False).startswith(
        "Undecided: the cheapest of 4 combinations was tried."
    )


def test_a_broken_combination_is_a_cell_with_its_error() -> None:
    document = cluster(random.Random(1))
    on = Grid(document, [setting_of({"queue": "c", "field": "weight", "values": ["many"]})])
    broken = on.cell((1,), [Figure("evictions")])
    assert "many" in broken.error
    assert broken.figures == ()


def test_levels_are_priced_by_their_distance_from_the_current_one() -> None:
    document = scenario(queues=[queue("a", weight=3, capability={"memory": "64Gi"})])
    weight = setting_of({"queue": "a", "field": "weight", "values": [1, 2, 3, 4, 5], "price": 2})
    memory = setting_of(
        {"queue": "a", "field": "capability", "resource": "memory", "values": ["65536Mi", "128Gi"]}
    )
    unset = setting_of({"queue": "a", "field": "deserved", "resource": "cpu", "values": ["4", "2"]})
    assert [(level.value, level.price) for level in weight.levels(document)] == [
        (None, 0), (2, 2), (4, 2), (1, 4), (5, 4),
    ]  # fmt: skip
    assert [(level.value, level.price) for level in memory.levels(document)] == [(None, 0), ("128Gi", 1)]
    assert [(level.value, level.price) for level in unset.levels(document)] == [(None, 0), ("2", 1), ("4", 2)]
    no_limit = setting_of({"queue": "a", "field": "capability", "resource": "cpu", "values": ["2", "8", "4"]})
    assert [(level.value, level.price) for level in no_limit.levels(document)] == [
        (None, 0), ("8", 1), ("4", 2), ("2", 3),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ({"queue": "nobody", "field": "weight", "values": [1]}, "there is no queue 'nobody'"),
        ({"like": "n99", "values": [1]}, "there is no node 'n99'"),
        ({"plugin": "binpack", "argument": "binpack.weight", "values": [1]}, "no plugin 'binpack'"),
        ({"queue": "a", "field": "deserved", "values": ["1"]}, "deserved needs a resource"),
        (
            {"queue": "a", "field": "weight", "range": {"from": "1Gi", "to": "2", "step": 1}},
            "different suffixes",
        ),
    ],
)
def test_objects_missing_from_the_cluster_are_named(written: dict[str, Any], says: str) -> None:
    with pytest.raises(UnusableSetting, match=says):
        Grid(cluster(random.Random(1)), [setting_of(written)])


def test_every_kind_of_setting_changes_only_its_own_part() -> None:
    document = cluster(random.Random(4))
    for written, part in (
        ({"queue": "a", "field": "guarantee", "resource": "cpu", "values": ["1"]}, "queues"),
        ({"plugin": "overcommit", "argument": "overcommit-factor", "values": [2]}, "scheduler_conf"),
        ({"values": [ACTIONS[0], ACTIONS[1]]}, "scheduler_conf"),
        ({"like": "n0", "values": [2]}, "nodes"),
    ):
        on = Grid(document, [setting_of(written)])
        changed = on.changed((1,))
        assert {name for name in document if changed[name] != document[name]} == {part}
    assert changed["nodes"][-1]["metadata"]["name"] == "n0-2"


def test_the_grid_size_is_the_product_of_the_levels() -> None:
    on = grid(random.Random(6))
    assert on.size == len(list(on.product())) == len(set(itertools.chain(on.product())))
