"""The commands `sweep` and `search`, simulated by a server or on this machine."""

import argparse
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from math import isfinite

from planning.experiments.cells import Cell, Grid, front, intervals_written
from planning.experiments.definition import DIRECTIONS, LIMIT, SEARCH, SWEEP, Definition, size_problems
from planning.experiments.figures import Figure, figure_of, goal_of
from planning.experiments.forecast_cells import ForecastGrid
from planning.experiments.search import at_the_end, goal_figures, left_open, remark, smallest
from planning.experiments.space import Combination
from planning.experiments.verification import verified
from queuecast.backend import Backend, Json
from queuecast.client import Client
from queuecast.core import introduced
from queuecast.effects import changes
from queuecast.experiment_tables import cells_table, is_parquet, missed_table, verdict_parts, write_cells
from queuecast.experiments import Experiment
from queuecast.problems import Refused
from queuecast.server import Failure
from queuecast.shown import Output
from queuecast.terminal import progress_line

NO = 1
"""The exit code of a search without a result, or with a proposal that failed its verification."""
_of_this_process: Grid | None = None


def sweep(backend: Backend, args: argparse.Namespace) -> Output:
    """Simulate every combination of an experiment's settings, or a sample, and print a table of figures."""
    experiment = Experiment.read(args.experiment)
    written = experiment.part("figures")
    if isinstance(backend, Client) and not args.processes:
        head, rows = _on_server(backend, experiment, SWEEP)
        if args.to:
            write_cells(args.to, rows, lambda: backend.experiment_cells_parquet(head["experiment"]))
        return _swept(head, rows)
    if args.to and is_parquet(args.to):
        raise Refused("Only a server writes Parquet. Leave out --local and --processes, or name a .csv file.")
    grid = experiment.grid(backend, SWEEP)
    question = Definition.of(experiment.of_kind(SWEEP))
    figures = [figure_of(one) for one in written]
    if wrong := size_problems(experiment.written, question, grid):
        raise Refused(f"{experiment.label}: {wrong[0].message}. {str(wrong[0].fix).capitalize()}.")
    combinations = list(question.combinations(experiment.written, grid))
    with _measuring(grid, figures, args.processes) as measure:
        together = grid.kindred(combinations)
        counted = _counted(measure(together), len(together), experiment.written["name"])
        known = dict(zip(together, counted, strict=True))
    cells = [known[combination] for combination in combinations]
    best = {cell.combination for cell in front(cells, [DIRECTIONS[one.get("better")] for one in written])}
    rows = [_row(grid, figures, cell) | {"front": cell.combination in best} for cell in cells]
    if args.to:
        write_cells(args.to, rows)
    return _swept({"grid_size": grid.size}, rows)


def _swept(head: Json, rows: list[Json]) -> Output:
    return Output({**head, "cells": rows}, [cells_table(rows)])


def search(backend: Backend, args: argparse.Namespace) -> Output:
    """Find the smallest change of an experiment's settings that reaches its goals."""
    experiment = Experiment.read(args.experiment)
    written = experiment.part("goals")
    if isinstance(backend, Client) and not args.processes:
        head, _ = _on_server(backend, experiment, SEARCH)
        return _answered(experiment, head["verdict"], [], {"experiment": head["experiment"]})
    grid = experiment.grid(backend, SEARCH)
    goals = [goal_of(one) for one in written]
    limit = experiment.written.get("limit", LIMIT)
    figures = goal_figures(goals)

    def accepted(cell: Cell) -> bool:
        """Return whether no goal is left open, the webhook accepts the change, and it causes no new error."""
        if left_open(cell, goals):
            return False
        found = introduced(grid.document, grid.changed(cell.combination))
        return not any(one["severity"] == "error" for one in found)

    with _measuring(grid, figures, args.processes) as measure:
        found = smallest(grid, goals, limit=limit, measure=measure, acceptable=accepted)
    verification = None
    if found.status == "found" and found.cell and isinstance(grid, ForecastGrid) and grid.work.unseen:
        cell = grid.over(found.cell.combination, figures, grid.work.unseen)
        verification = verified(cell, goals, figures, len(grid.work.unseen)).to_keep(figures)
    verdict = {
        "status": found.status,
        "cell": _row(grid, figures, found.cell) if found.cell else None,
        "tried": len(found.tried),
        "grid_size": grid.size,
        "refused": found.refused,
        "failed": found.failed,
        "missed": [{"goal": str(missed.goal), "by": missed.by} for missed in found.missed],
        "at_the_end": at_the_end(grid, found.cell.combination) if found.cell else [],
        "verification": verification,
    }
    edits = changes(grid.document, grid.changed(found.cell.combination)) if found.cell else []
    return _answered(experiment, verdict, edits, {})


def _answered(experiment: Experiment, verdict: Json | None, edits: Sequence[Json], more: Json) -> Output:
    """Return the result of a search; None if it was stopped before it was decided."""
    if verdict is None:
        raise Refused("The search was stopped before it was decided.", code="cancelled")
    is_found, row = verdict["status"] == "found", verdict["cell"]
    parts_of = ("status", "tried", "grid_size", "missed", "at_the_end", "verification")
    body, verification = {key: verdict[key] for key in parts_of}, verdict["verification"]
    note = remark(verdict, experiment.written)
    data = {
        **body,
        "remark": note,
        "smallest" if is_found else "closest": row,
        "changes": list(edits),
        **more,
    }
    forecast = "forecast" in experiment.written
    parts = verdict_parts(verdict, is_of_forecasts=forecast)
    if verdict["missed"]:
        parts.append(missed_table(verdict["missed"]))
    if verdict["at_the_end"] and not is_found:
        bounds = ", ".join(verdict["at_the_end"])
        parts.append(f"At the end of their values: {bounds}. Further values may reach the goals.")
    if note:
        parts.append(note)
    holds = is_found and (verification is None or verification["holds"])
    return Output(data, parts, code=0 if holds else NO)


def _on_server(client: Client, experiment: Experiment, kind: str) -> tuple[Json, list[Json]]:
    """Return the result of a server, and its cells; a refusal names the lines of the file."""
    name = experiment.written["name"]
    try:
        begun = client.experiment_start(experiment.on_server(client, kind))
    except Failure as failure:
        problems = [experiment.placed(one) for one in failure.problems]
        body = {"code": failure.code, "message": failure.message, "problems": problems}
        raise Failure(failure.status, body) from None
    with progress_line(f"{kind} {name}") as progress:
        over = client.experiment_wait(begun["id"], progress)
    if over["state"] == "cancelled" and kind == SWEEP:
        client.notes.append("The experiment was cancelled; these cells were measured before.")
    head = {"grid_size": over["grid_size"], "experiment": over["id"], "verdict": over["verdict"]}
    return head, client.experiment_cells(over["id"]) if kind == SWEEP else []


def _row(grid: Grid, figures: Sequence[Figure], cell: Cell) -> Json:
    names = [setting.name for setting in grid.settings]
    values = [value if isfinite(value) else None for value in cell.figures]
    return {
        "settings": dict(zip(names, grid.values(cell.combination), strict=True)),
        "price": cell.price,
        "figures": dict(zip(map(str, figures), values, strict=True)) if values else {},
        "error": cell.error,
        "intervals": intervals_written(cell, figures),
    }


@contextmanager
def _measuring(
    grid: Grid, figures: Sequence[Figure], processes: int | None
) -> Iterator[Callable[[Sequence[Combination]], Iterable[Cell]]]:
    """Return an ordered simulator of combinations with several processes; each reads the cluster once."""
    count = min(processes or os.cpu_count() or 1, grid.size)
    if count == 1:
        yield lambda combinations: (grid.cell(one, figures) for one in combinations)
        return
    with ProcessPoolExecutor(count, initializer=_begin, initargs=(grid,)) as pool:

        def by_processes(combinations: Sequence[Combination]) -> Iterable[Cell]:
            share = max(1, len(combinations) // (8 * count))
            return pool.map(_cell, combinations, [figures] * len(combinations), chunksize=share)

        yield by_processes


def _begin(grid: Grid) -> None:
    global _of_this_process
    _of_this_process = grid


def _cell(combination: Combination, figures: Sequence[Figure]) -> Cell:
    assert _of_this_process is not None, "the pool begins with the grid"
    return _of_this_process.cell(combination, figures)


def _counted(cells: Iterable[Cell], size: int, name: str) -> Iterator[Cell]:
    with progress_line(f"sweep {name}") as progress:
        for number, cell in enumerate(cells, 1):
            if progress:
                progress(number / size, f"{number} of {size} combinations")
            yield cell
