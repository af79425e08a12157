"""Parsing and validation of experiments, for files, forms and API calls."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from itertools import islice
from typing import Any

import manifests
from manifests.document import Document, Steps
from manifests.paths import spell
from manifests.stream import read_documents
from planning.experiments.cells import Grid
from planning.experiments.figures import Figure, Goal, figure_of, goal_of
from planning.experiments.forecast_cells import ForecastGrid
from planning.experiments.forecast_problems import forecast_problems
from planning.experiments.goal_problems import goal_problems, kind_problems, unknown_resources
from planning.experiments.levels import Setting, UnusableSetting
from planning.experiments.search import by_price, goal_figures
from planning.experiments.settings import setting_of
from planning.experiments.space import Combination, Space
from planning.experiments.work import Work
from planning.rows import Problem
from planning.schema import Validator, faults
from scheduler_core.conf import parse_conf
from scheduler_core.errors import InputError
from scheduler_core.release import release_of

Json = Mapping[str, Any]

LIMIT = 1000
"""The default limit of simulated combinations."""
MOST_COMBINATIONS = 10**18
SWEEP, SEARCH = "sweep", "search"
OF_A_QUEUES_JOBS = frozenset(
    {"evictions", "waiting_pods", "waiting_jobs", "wait_p50", "wait_p95", "lost_hours", "cost"}
)
"""Figures of a queue that leave out the queues below it."""
DIRECTIONS = {"less": 1, "more": -1, None: 0}


@dataclass(frozen=True)
class Definition:
    """What an experiment measures, and its goals.

    Attributes
    ----------
    kind : str
        `SWEEP`, or `SEARCH` where there are goals.
    figures : tuple of Figure
        What is measured: the figures of the goals first, each once.
    directions : tuple of int
        For each figure 1 where less is better, -1 where more is better, 0 where it does not count.
    goals : tuple of Goal
        Empty for a sweep.
    limit : int
        The most combinations that are simulated.

    """

    kind: str
    figures: tuple[Figure, ...]
    directions: tuple[int, ...]
    goals: tuple[Goal, ...]
    limit: int

    @classmethod
    def of(cls, written: Json) -> "Definition":
        """Return the definition of a valid experiment."""
        goals = tuple(goal_of(goal) for goal in written.get("goals") or ())
        better = {figure: 1 if goal.most is not None else -1 for goal in goals for figure in [goal.figure]}
        for one in written.get("figures") or ():
            better[figure_of(one)] = DIRECTIONS[one.get("better")]
        ordered = list(dict.fromkeys([*goal_figures(goals), *better]))
        return cls(
            SEARCH if goals else SWEEP,
            tuple(ordered),
            tuple(better[figure] for figure in ordered),
            goals,
            written.get("limit", LIMIT),
        )

    def combinations(self, written: Json, space: Space) -> Iterator[Combination]:
        """Yield the combinations to simulate in order: a search by price, a sweep all or its sample."""
        if self.kind == SEARCH:
            return islice(by_price(space), self.limit)
        sample = written.get("sample")
        return iter(space.sample(sample["count"], sample.get("seed", 0)) if sample else space.product())


@cache
def experiment_schema() -> dict[str, Any]:
    """Return the published schema of an experiment."""
    held: dict[str, Any] = json.loads(
        files("planning.experiments").joinpath("experiment.json").read_text(encoding="utf-8")
    )
    return held


def written_problems(written: Any) -> list[Problem]:
    """Return all violations of the schema."""
    found = [
        _problem(fault.rule, fault.steps, fault.message, fault.fix)
        for fault in faults(Validator(experiment_schema()), written)
    ]
    if not found and not {"figures", "goals"} & written.keys():
        message = "the experiment has neither figures nor goals"
        found.append(_problem("missing", (), message, "write figures for a sweep, goals for a search"))
    if not found:
        found += [_problem(*one) for one in [*kind_problems(written), *goal_problems(written)]]
    return found


def experiment_read(text: str) -> tuple[dict[str, Any], list[Problem]]:
    """Return an experiment in YAML or JSON, with every problem and its line."""
    documents = [one for one in read_documents(text) if one.value is not None or one.faults]
    if len(documents) != 1:
        message = f"the text holds {len(documents)} documents"
        return {}, [_problem("documents", (), message, "write one experiment")]
    (document,) = documents
    if document.faults:
        return {}, [
            Problem(one.rule, "error", one.message, path=spell(one.steps), line=one.line + 1, fix=one.fix)
            for one in document.faults
        ]
    return _value(document)


def _value(document: Document) -> tuple[dict[str, Any], list[Problem]]:
    problems = [
        replace(problem, line=document.place(fault.steps).line + 1)
        for fault in faults(Validator(experiment_schema()), document.value)
        for problem in [_problem(fault.rule, fault.steps, fault.message, fault.fix)]
    ]
    if problems:
        return {}, problems
    written = json.loads(json.dumps(document.value))
    return written, written_problems(written)


def grid_of(
    document: Json, written: Json, workload: str = "", trace_queues: Collection[str] | None = None
) -> tuple[Grid, list[Problem]]:
    """Return the grid of a valid experiment over a scenario document, and why settings cannot move.

    The document may have its configuration as text; the number of cycles of each cell is the experiment's.
    `workload` is the text of the trace under which its cells are forecasts, `trace_queues` its queues if they
    are known; otherwise it is read.
    """
    grid, problems = _grid(document, written, workload)
    if isinstance(grid, ForecastGrid):
        problems += [
            Problem(f"experiment.{rule}", "error", message, path=path, fix=fix)
            for rule, path, message, fix in forecast_problems(
                grid.document, grid.settings, written, grid.work, trace_queues
            )
        ]
    return grid, problems


def known_grid(document: Json, written: Json, workload: str = "") -> Grid:
    """Return the grid of an experiment that had no problem when it was queued."""
    return _grid(document, written, workload)[0]


def _grid(document: Json, written: Json, workload: str) -> tuple[Grid, list[Problem]]:
    base = manifests.resolve(dict(document))
    forecast = written.get("forecast")
    if forecast is None:
        base["cycles"] = (written.get("run") or {}).get("cycles", 1)
    settings: list[Setting] = []
    problems = []
    for number, one in enumerate(written["settings"]):
        try:
            setting = setting_of(one, forecast)
            setting.levels(base)
            settings.append(setting)
            problems += _value_problems(base, setting, ("settings", number), one)
        except UnusableSetting as unusable:
            at = ("settings", number, unusable.key)
            problems.append(_problem(unusable.key, at, unusable.message, unusable.fix))
    if forecast is None:
        return Grid(base, settings), problems
    return ForecastGrid(base, settings, Work.of(forecast, workload)), problems


def _value_problems(document: Json, setting: Setting, at: Steps, written: Json) -> list[Problem]:
    """Return the values of a setting that no cell can have."""
    refusals = [setting.refusal(document, value) for value in setting.values]
    return [
        _problem("value", (*at, "values", place) if "values" in written else (*at, "range"), *refusal)
        for place, refusal in enumerate(refusals)
        if refusal
    ]


def size_problems(written: Json, definition: Definition, space: Space) -> list[Problem]:
    """Return why a sweep is too large, if it is; a search stops at its limit instead."""
    if space.size > MOST_COMBINATIONS:
        message = f"{space.size:.3g} combinations are more than {MOST_COMBINATIONS:.0g}"
        return [_problem("size", ("settings",), message, "write fewer settings or values")]
    sample = written.get("sample")
    size = min(space.size, sample["count"]) if sample else space.size
    if definition.kind == SEARCH or size <= definition.limit:
        return []
    message = f"{size} combinations are more than the limit of {definition.limit}"
    fix = "write a higher limit, fewer values, or sample: {count: N}"
    return [_problem("limit", ("limit",), message, fix)]


def name_problems(document: Json, definition: Definition, space: Space) -> list[Problem]:
    """Return the queues that figures and goals cannot be about, and duplicate settings."""
    queues = {queue["metadata"]["name"] for queue in document.get("queues") or ()}
    parents = {(queue.get("spec") or {}).get("parent") for queue in document.get("queues") or ()}
    unknown = {figure.queue for figure in definition.figures if figure.queue} - queues
    found = [
        _problem("queue", ("figures",), f"there is no queue {name!r}", "name a queue of the cluster")
        for name in sorted(unknown)
    ]
    found += [
        _problem("resource", ("figures",), f"the cluster has no resource {name!r}", "name one of its nodes")
        for name in unknown_resources(document, definition.figures)
    ]
    inner = parents if _is_tree(document) else set()
    for figure in definition.figures:
        if figure.queue in (parents if figure.kind == "cost" else inner) and figure.kind in OF_A_QUEUES_JOBS:
            message = f"{figure.kind} is of jobs, and queue {figure.queue!r} has none, only queues below it"
            found.append(_problem("queue", ("figures",), message, "name one of these queues"))
    names = [axis.name for axis in space.axes]
    doubled = sorted({name for name in names if names.count(name) > 1})
    return found + [
        _problem("name", ("settings",), f"several settings are called {name!r}", "give each its own name")
        for name in doubled
    ]


def _is_tree(document: Json) -> bool:
    """Return whether only queues without children can hold jobs."""
    try:
        conf = parse_conf(document.get("scheduler_conf"), release_of(document))
    except InputError:
        return False
    return conf.hierarchy_enabled("capacity")


def _problem(rule: str, steps: Steps, message: str, fix: str) -> Problem:
    return Problem(f"experiment.{rule}", "error", message, path=spell(steps) or None, fix=fix or None)


def figures_written(figures: Sequence[Figure], directions: Sequence[int]) -> list[dict[str, Any]]:
    """Return the figures for display: their name, and the better direction."""
    ways = {1: "less", -1: "more", 0: None}
    return [
        {"name": str(figure), "figure": figure.kind, "queue": figure.queue, "resource": figure.resource,
         "better": ways[way]}
        for figure, way in zip(figures, directions, strict=True)
    ]  # fmt: skip
