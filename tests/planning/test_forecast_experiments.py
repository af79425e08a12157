"""A forecast cell equals the same forecast on its own, whatever the cells share."""

import random
from math import inf
from statistics import mean
from typing import Any

import pytest

from planning.documents import encoded
from planning.experiments.cells import Cell, intervals_written
from planning.experiments.definition import Definition, grid_of, written_problems
from planning.experiments.figures import PARTS_OF_1, Figure, Goal, goal_of
from planning.experiments.forecast_cells import ForecastGrid
from planning.experiments.forecast_figures import FORECAST_MEASURES, OF_JOBS, figure_of_forecast
from planning.experiments.outcomes import Measurer, outcome_of
from planning.experiments.search import left_open, missed_goals, smallest
from planning.experiments.verification import sentence, verified
from planning.experiments.workload_settings import WorkSetting
from planning.forecasts.opening import opened
from planning.forecasts.record import Record, record_of
from planning.forecasts.targets import waits_of
from tests.builders import conf, node, podgroup, pods, queue, scenario
from tests.trials import trials

ACTIONS = "enqueue, allocate, reclaim, backfill"
PLUGINS = (["priority", "gang", "conformance"], ["predicates", "proportion"])
TRACE = """\
name,queue,submit_seconds,run_seconds,pods,min_member,cpu,memory
one,a,0,600,4,4,1,1Gi
two,b,60,900,3,3,1,1Gi
three,a,300,1200,2,2,1,1Gi
four,b,600,300,5,5,1,1Gi
five,a,1500,300,1,1,1,1Gi
six,b,1800,900,4,2,1,1Gi
"""
PATTERNS = [
    {"queue": "a", "jobs_per_hour": 12, "run_median": 300, "run_spread": 1.0, "requests": {"cpu": "1"}},
    {"queue": "b", "jobs_per_hour": 6, "run_median": 600, "pods": {1: 1, 3: 1}, "requests": {"cpu": "1"}},
]
RARE = {"queue": "a", "jobs_per_hour": 500, "by_hour": [1] + [0] * 23, "by_weekday": [1] + [0] * 6}
FIGURES = [
    Figure(kind, where, "cpu" if kind in ("deficit", *PARTS_OF_1) else "")
    for kind in FORECAST_MEASURES
    for where in (("",) if kind in PARTS_OF_1 else ("", "b"))
]


def cluster(dice: random.Random) -> dict[str, Any]:
    """Return two queues on one or two nodes of a pool, one of them with a running job."""
    nodes = [node(f"n{number}", cpu=4, memory="32Gi") for number in range(dice.randint(1, 2))]
    return scenario(
        nodes=nodes,
        queues=[queue("a", weight=dice.randint(1, 3)), queue("b")],
        podgroups=[podgroup("runs", queue="a", min_member=1, phase="Running")],
        pods=pods("runs", 2, node="n0", phase="Running", cpu=1),
        conf=conf(ACTIONS, *PLUGINS),
        now="2026-01-05T08:00:00Z",
    )


def experiment(settings: list[dict[str, Any]], **forecast: Any) -> dict[str, Any]:
    clock = {"horizon_seconds": 2700, "period_seconds": 20, "prices": {"resources": {"cpu": 0.1}}}
    work = {} if "patterns" in forecast else {"trace": "today"}
    figures = [
        {
            key: value
            for key, value in (("figure", one.kind), ("queue", one.queue), ("resource", one.resource))
            if value
        }
        for one in FIGURES
    ]
    written = {"name": "x", "scenario": "y", "settings": settings, "figures": figures}
    return written | {"forecast": {**work, **clock, **forecast}}


def grid(written: dict[str, Any], seed: int = 1) -> ForecastGrid:
    assert not written_problems(written)
    on, problems = grid_of(cluster(random.Random(seed)), written, TRACE)
    assert not problems, problems
    assert isinstance(on, ForecastGrid)
    return on


def alone(on: ForecastGrid, combination: Any, seed: int | None) -> tuple[Record, bytes]:
    """Return the record of a forecast that shares nothing, and the bytes of its result."""
    given = on.alone(combination, seed)
    going = opened(given.scenario, given.workload, given.options)
    result = going.replay.run()
    return record_of(going.document, result), encoded(result)


def check_every_cell(on: ForecastGrid) -> None:
    """Compare every cell, its figures and the bytes of its result, with the same forecast on its own."""
    bytes_of: list[bytes] = []
    replayed = on._replayed

    def noted(*given: Any) -> dict[str, Any]:
        bytes_of.append(encoded(found := replayed(*given)))
        return found

    on._replayed = noted  # type: ignore[method-assign]
    for combination in on.kindred(on.product()):
        bytes_of.clear()
        cell, seeds = on.cell(combination, FIGURES), on.seeds(combination)
        assert not cell.error
        found = [alone(on, combination, seed) for seed in seeds]
        assert bytes_of == [content for _, content in found]
        figures = [
            tuple(figure_of_forecast(one, record, on.work.prices) for one in FIGURES) for record, _ in found
        ]
        assert (cell.over or (cell.figures,)) == tuple(figures)


EVICTED = ("restart", "resume", "restart-job", "delete")
WEIGHT = {"queue": "b", "field": "weight", "values": [2, 4]}
NODES = {"like": "n0", "values": [1, 2]}
SEED = {"forecast": "seed", "values": [2]}
GOALS = [{"figure": "evictions", "at_most": 1}]


def test_a_cell_equals_the_same_forecast_on_its_own() -> None:
    rates = {"forecast": "rate", "values": [0.5, 2]}
    check_every_cell(grid(experiment([WEIGHT, NODES, rates])))


@pytest.mark.parametrize("seed", trials(range(4), always=1))
def test_cells_share_arrivals_and_equal_the_same_forecasts_on_their_own(seed: int) -> None:
    dice = random.Random(seed)
    settings = [
        WEIGHT,
        NODES,
        {"queue": "a", "field": "capability", "resource": "cpu", "values": ["3"]},
        {"queue": "b", "field": "reclaimable", "values": [False]},
        {"plugin": "predicates", "argument": "predicate.TaintEnable", "values": ["false"]},
        {"actions": True, "values": ["enqueue, allocate, backfill"]},
    ]
    rates = {"forecast": "rate", "values": [2.5]}
    changes = [{"at": "20m", "queue": "a", "set": {"weight": 5}}]
    chosen = [*dice.sample(settings, 3), rates]
    on = grid(experiment(chosen, changes=dice.choice([[], changes]), evicted=dice.choice(EVICTED)), seed)
    check_every_cell(on)
    assert on._shared.fitted == 2


def test_figures_of_jobs_do_not_depend_on_the_other_figures() -> None:
    on = grid(experiment([WEIGHT, NODES]))
    few = [figure for figure in FIGURES if figure.kind in OF_JOBS]
    for combination in on.product():
        whole, part = on.cell(combination, FIGURES), on.cell(combination, few)
        of = dict(zip(FIGURES, zip(whole.figures, whole.highest, strict=True), strict=True))
        assert list(zip(part.figures, part.highest, strict=True)) == [of[figure] for figure in few]


def test_a_cell_over_seeds_is_the_mean_of_the_forecasts_under_each_seed() -> None:
    on = grid(experiment([WEIGHT], seeds=3))
    check_every_cell(on)
    cell = on.cell((1,), FIGURES)
    assert len(cell.over) == 3
    assert cell.figures == tuple(mean(values) for values in zip(*cell.over, strict=True))
    assert all(low <= value <= high for (low, high), value in zip(cell.intervals, cell.figures, strict=True))
    assert any(low < high for low, high in cell.intervals)


def test_a_whole_factor_is_written_as_it_is_typed() -> None:
    for now, text in ((1.0, "1"), (0.5, "0.5"), (None, "None")):
        setting = WorkSetting("rate", (2,), 1.0, option="rate", now=now)
        assert str(setting.present({})) == text


def test_the_seed_may_vary_and_patterns_generate_the_workload() -> None:
    seeds = {"forecast": "seed", "values": [1, 2, 3]}
    check_every_cell(grid(experiment([seeds, WEIGHT], patterns=PATTERNS)))
    check_every_cell(grid(experiment([seeds])))


def test_a_queue_without_drawn_jobs_is_not_multiplied() -> None:
    rare = [{**PATTERNS[0]}, {**PATTERNS[1], "jobs_per_hour": 1e-6}]
    check_every_cell(grid(experiment([WEIGHT], patterns=rare, rates={"a": 2.0, "b": 3.0}, seed=1)))


@pytest.mark.parametrize("seed", trials(range(6), always=2))
def test_cells_that_differ_from_a_time_on_share_the_replay_before_it(seed: int) -> None:
    dice = random.Random(seed)
    moments = dice.sample(["08:07", "10m", 905, "1500", "08:40", 3], 2)
    settings = [
        {"queue": "b", "field": "weight", "values": [2, 4], "at": moments[0]},
        {"pool": "cpu 4, memory 32Gi, pods 110", "values": [3, 4], "at": moments[1]},
        {"queue": "a", "field": "capability", "resource": "cpu", "values": ["2"]},
    ]
    changes = [{"at": "20m", "queue": "a", "set": {"weight": 5}}]
    on = grid(experiment(settings, changes=dice.choice([[], changes])), seed)
    check_every_cell(on)
    # In each family with a timed change, all cells after the first continue the shared replay.
    assert on.continued == (1 + 1 + 3) * 2


def test_goals_on_waits_are_durations_with_the_meaning_of_a_target() -> None:
    on = grid(experiment([NODES]))
    record, _ = alone(on, (0,), None)
    waits = waits_of(record, "b")
    cell = on.cell((0,), [Figure("wait_p50", "b"), Figure("wait_p95", "b")])
    assert cell.figures == (waits.p50, waits.p95)
    assert cell.highest[1] == waits.p95_at_most
    assert goal_of({"figure": "wait_p95", "queue": "b", "at_most": "10m"}).most == 600.0


def test_a_goal_is_left_open_if_jobs_that_never_started_may_miss_it() -> None:
    goal = Goal(Figure("wait_p95", "b"), most=600.0)
    reaches = Cell((0,), 0.0, (300.0,), highest=(inf,))
    assert not missed_goals(reaches, [goal])
    assert "had not started" in left_open(reaches, [goal])
    assert not left_open(Cell((0,), 0.0, (300.0,), highest=(500.0,)), [goal])
    written = {**experiment([NODES], horizon_seconds=700), "goals": [{"figure": "wait_p95", "at_most": 700}]}
    entry = Measurer(grid(written), Definition.of({"goals": written["goals"]})).entry((0,))
    assert isinstance(entry, dict)
    assert "open" in entry["refused"]


def test_the_interval_of_a_utilisation_does_not_exceed_one() -> None:
    used, evicted = Figure("utilisation", resource="cpu"), Figure("evictions")
    cell = Cell((0,), 0.0, (0.95, 4.0), over=((0.9, 3.0), (1.0, 5.0)))
    written = intervals_written(cell, [used, evicted])
    assert written[str(used)]["high"] == 1.0
    assert written[str(evicted)]["high"] == cell.intervals[1][1] > 5.0


def test_the_whole_interval_over_seeds_must_reach_a_goal() -> None:
    goal = Goal(Figure("evictions"), most=5)
    assert missed_goals(Cell((0,), 0.0, (4.0,), over=((3.0,), (5.0,))), [goal])[0].by > 0
    assert not missed_goals(Cell((0,), 0.0, (4.0,), over=((4.0,), (4.0,))), [goal])


def test_a_proposal_is_verified_on_seeds_that_the_search_did_not_see() -> None:
    goals = [{"figure": "wait_p95", "queue": "b", "at_most": "15m"}]
    on = grid({**experiment([NODES], patterns=PATTERNS, seeds=4, unseen_seeds=6), "goals": goals})
    requested = Definition.of({"goals": goals})
    assert set(on.work.seeds) == {1, 2, 3, 4}
    assert set(on.work.unseen) == set(range(5, 11))
    found = smallest(on, requested.goals, limit=9)
    assert found.cell is not None
    measurer = Measurer(on, requested)
    kept = measurer.verification(found.cell.combination)
    assert (kept["seeds"], len(kept["figures"])) == (6, 1)
    cell = on.over(found.cell.combination, requested.figures, on.work.unseen)
    assert kept["figures"]["wait_p95 of b"] == cell.figures[0]
    assert kept["holds"] == (cell.figures[0] <= 900.0 and cell.highest[0] <= 900.0)


def test_a_failed_verification_is_stated_plainly() -> None:
    goal, figure = Goal(Figure("evictions"), most=5), Figure("evictions")
    kept = verified(Cell((1,), 1.0, (6.0,), over=((4.0,), (8.0,))), [goal], [figure], 2).to_keep([figure])
    assert (kept["holds"], kept["reached"]) == (False, 1)
    assert sentence(kept).startswith(
        "The proposal does not hold: over 2 workloads that the search did not see"
    )
    held = verified(Cell((1,), 1.0, (4.0,), over=((4.0,), (4.0,))), [goal], [figure], 2).to_keep([figure])
    assert sentence(held).startswith("Verified")


def test_a_workload_that_leaves_a_goal_open_does_not_reach_it_individually() -> None:
    goal, figure = Goal(Figure("wait_p95"), most=600.0), Figure("wait_p95")
    over, bounds = ((200.0,), (300.0,), (700.0,)), ((200.0,), (650.0,), (700.0,))
    cell = Cell((1,), 1.0, (400.0,), over=over, highest=(500.0,), highest_over=bounds)
    kept = verified(cell, [goal], [figure], 3).to_keep([figure])
    assert (kept["holds"], kept["reached"]) == (True, 1)


def test_a_stored_entry_restores_its_cell() -> None:
    on = grid(experiment([NODES], patterns=PATTERNS, seeds=2))
    measurer = Measurer(on, Definition.of(experiment([NODES])))
    outcome = outcome_of(on, (1,), measurer.entry((1,)))
    cell = on.cell((1,), Definition.of(experiment([NODES])).figures)
    assert (outcome.cell.figures, outcome.cell.intervals) == (cell.figures, cell.intervals)


def test_a_pool_loses_nodes_that_hold_only_pods_of_their_own() -> None:
    document = cluster(random.Random(1))
    document["nodes"] = [node(f"n{number}", cpu=4, memory="32Gi") for number in range(3)]
    own = pods("own", 3, phase="Running", cpu="100m")
    for number, (pod, kind) in enumerate(zip(own, ("DaemonSet", "DaemonSet", "Node"), strict=True)):
        pod["spec"] |= {"nodeName": f"n{number}", "schedulerName": "default-scheduler"}
        pod["metadata"]["ownerReferences"] = [{"kind": kind, "name": "own", "uid": "u"}]
    document["pods"] += own
    written = {
        **experiment([{"pool": "cpu 4, memory 32Gi, pods 110", "values": [1]}]),
        "figures": [{"figure": "evictions"}],
    }
    on, problems = grid_of(document, written, TRACE)
    assert problems == []
    assert on is not None
    document["pods"][-1]["metadata"]["ownerReferences"][0]["kind"] = "ReplicaSet"
    _, problems = grid_of(document, written, TRACE)
    assert "only 1 of 3 nodes" in problems[0].message


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"forecast": {"trace": "t", "rest": "nobody"}}, "takes no jobs in the scenario"),
        ({"forecast": {"trace": "t", "horizon_seconds": 1e9, "period_seconds": 1}}, "sessions"),
        ({"settings": [{**WEIGHT, "at": "2d"}]}, "after the end of the forecast"),
        ({"settings": [{**WEIGHT, "at": "soon"}]}, "not a moment of the forecast"),
        ({"settings": [{**NODES, "at": "1h"}]}, "only queues and pools"),
        ({"settings": [{"pool": "cpu 4, memory 32Gi, pods 110", "values": [0]}]}, "hold no pods"),
        ({"settings": [{"pool": "none", "values": [3]}]}, "there is no pool 'none'"),
        ({"settings": [{"forecast": "rate", "values": [0]}]}, "not a factor"),
        ({"settings": [{"forecast": "seed", "values": [1.5]}]}, "not a seed"),
        ({"forecast": {"patterns": [{**PATTERNS[0], "requests": {"cpu": "x"}}]}}, "not an amount of 0"),
        ({"forecast": {"patterns": [{**PATTERNS[0], "requests": {"gpus": "1"}}]}}, "cannot request"),
        ({"forecast": {"patterns": [{**PATTERNS[0], "run_spread": 1e300}]}}, "run_spread is out of range"),
        ({"forecast": {"patterns": [{**PATTERNS[0], "by_hour": [1e300] * 24}]}}, "weight of by_hour"),
        ({"forecast": {"patterns": PATTERNS, "window_begin_seconds": 1e9}}, "jobs would be drawn"),
        ({"forecast": {"patterns": [RARE], "horizon_seconds": 1e6}}, "moments would be drawn"),
        ({"goals": GOALS, "settings": [SEED]}, "not a change that a user could make"),
        ({"settings": [SEED], "forecast": {"trace": "t", "seeds": 2}}, "the seed varies"),
    ],
)  # fmt: skip
def test_impossible_forecasts_are_refused_with_the_reason(change: dict[str, Any], says: str) -> None:
    written = {**experiment([WEIGHT]), "figures": [{"figure": "evictions"}], **change}
    assert not written_problems(written)
    _, problems = grid_of(cluster(random.Random(1)), written, TRACE)
    assert says in " ".join(problem.message for problem in problems)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"figures": [{"figure": "share"}]}, "a forecast has no figure share"),
        ({"forecast": None}, "a run has no figure wait_p95"),
        ({"figures": [{"figure": "cost"}], "forecast": {"trace": "t"}}, "needs prices"),
        ({"run": {"cycles": 2}}, "runs or forecasts"),
        ({"forecast": {"trace": "t", "seed": 1, "seeds": 2}}, "seed and seeds"),
        ({"goals": [{"figure": "wait_p95", "at_most": "long"}]}, "not a length of time"),
        ({"forecast": {"trace": "t", "patterns": PATTERNS}}, "exclude each other"),
    ],
)
def test_incompatible_keys_are_refused_with_the_reason(change: dict[str, Any], says: str) -> None:
    written = {**experiment([WEIGHT]), "figures": [{"figure": "wait_p95"}], **change}
    written = {key: value for key, value in written.items() if value is not None}
    assert says in " ".join(problem.message for problem in written_problems(written))


def test_problems_inside_the_forecast_have_their_whole_path() -> None:
    pattern = {**PATTERNS[0], "requests": {"cpu": "-1"}}
    for forecast, path in (
        ({"trace": "t", "changes": [{"at": 0}]}, "forecast.changes[0]"),
        ({"trace": "t", "queues": {"a": "nobody"}}, "forecast.queues.a"),
        ({"patterns": [PATTERNS[0], pattern]}, "forecast.patterns[1].requests.cpu"),
    ):
        written = {**experiment([WEIGHT]), "figures": [{"figure": "evictions"}], "forecast": forecast}
        _, problems = grid_of(cluster(random.Random(1)), written, TRACE)
        assert path in [problem.path for problem in problems]
