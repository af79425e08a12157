"""Tables and files of an experiment's cells, and the result of a search."""

import csv
import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from planning.experiments.figure_texts import figure_text, goal_text
from planning.experiments.search import why_none, why_smallest
from planning.experiments.verification import sentence as verification_sentence
from queuecast.backend import Json
from queuecast.shown import Table
from traces.text import counted


def verdict_parts(verdict: Json, *, is_of_forecasts: bool) -> list[Table | str]:
    """Return the result of a search; a failed verification comes first."""
    lines, kept = [sentence(verdict, is_of_forecasts=is_of_forecasts)], verdict["verification"]
    shown = [cells_table([verdict["cell"]])] if verdict["cell"] else []
    if not kept:
        return [*lines, *shown]
    verified = verification_sentence(kept)
    return [*lines, *shown, verified] if kept["holds"] else [verified, *lines, *shown]


def sentence(verdict: Json, *, is_of_forecasts: bool) -> str:
    """Return the result of a search in words, without its verification."""
    status, tried, size = verdict["status"], verdict["tried"], verdict["grid_size"]
    if status == "found":
        kept = verdict["verification"]
        under = "" if not kept or kept["holds"] else " under the workloads of the search"
        if tried == 1:
            return f"Nothing needs to change: the scenario reaches every goal as it is{under}."
        done = "tried" if verdict.get("failed") else "forecast" if is_of_forecasts else "simulated"
        return (
            f"The smallest change that reaches every goal{under}. {tried:,} of"
            f" {counted(size, 'combination')} were {done};"
            f" {why_smallest(verdict, is_of_forecasts=is_of_forecasts)}"
        )
    why = why_none(verdict, is_of_forecasts=is_of_forecasts)
    closest = " This one comes closest:" if verdict["cell"] else ""
    if status == "impossible":
        done = "the only one was tried" if size == 1 else f"all {size:,} were tried"
        return f"No combination can be proposed: {done}. {why}{closest}"
    cheapest, were = ("cheapest", "was") if tried == 1 else (f"{tried:,} cheapest", "were")
    return (
        f"Undecided: the {cheapest} of {counted(size, 'combination')} {were} tried. {why} Write a"
        f" higher limit to continue.{closest}"
    )


def cells_table(rows: Sequence[Json]) -> Table:
    """Return cells as a table; all rows have the same settings and figures."""
    has_front = any("front" in row for row in rows)
    measured: Json = max((row["figures"] for row in rows), key=len, default={})
    head = [*(rows[0]["settings"] if rows else ()), "PRICE", *measured]
    lines = [_line(row, len(measured)) + (["*" if row["front"] else ""] if has_front else []) for row in rows]
    return Table([*head, *(["FRONT"] if has_front else [])], lines)


def _line(row: Json, width: int) -> list[Any]:
    figures = [row["error"]] if row["error"] else [_figure_cell(row, name) for name in row["figures"]]
    figures += [""] * (width - len(figures))
    return [*row["settings"].values(), f"{row['price']:g}", *figures]


def _figure_cell(row: Json, name: str) -> str:
    ends = row.get("intervals", {}).get(name)
    interval = f" ({figure_text(name, ends['low'])} to {figure_text(name, ends['high'])})" if ends else ""
    return figure_text(name, row["figures"][name]) + interval


def is_parquet(file: Path) -> bool:
    """Return whether the name of a file is one of Parquet."""
    return file.suffix == ".parquet"


def write_cells(file: Path, rows: Sequence[Json], parquet: Callable[[], bytes] | None = None) -> None:
    """Write cells to a file by its extension: CSV, or Parquet from a server."""
    if is_parquet(file):
        assert parquet is not None, "who has no server is refused before"
        file.write_bytes(parquet())
    else:
        file.write_text(cells_csv(rows), encoding="utf-8")


def cells_csv(rows: Sequence[Json]) -> str:
    """Return cells as CSV, each figure in full."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    measured: Json = max((row["figures"] for row in rows), key=len, default={})
    seeded = [name for name in measured if any(row.get("intervals") for row in rows)]
    ends = [f"{name} {end}" for name in seeded for end in ("low", "high")]
    writer.writerow([*(rows[0]["settings"] if rows else ()), "price", *measured, *ends, "front", "error"])
    for row in rows:
        figures = ["" if value is None else repr(value) for value in row["figures"].values()]
        figures += [""] * (len(measured) - len(figures))
        held = row.get("intervals") or {}
        figures += (
            [repr(held[name][end]) for name in seeded for end in ("low", "high")]
            if held
            else [""] * len(ends)
        )
        writer.writerow([*row["settings"].values(), row["price"], *figures, int(row["front"]), row["error"]])
    return text.getvalue()


def missed_table(missed: Sequence[Json]) -> Table:
    """Return the missed goals, and by how much."""
    return Table(
        ("GOAL", "MISSED BY"),
        [(goal_text(one["goal"]), figure_text(one["goal"], one["by"])) for one in missed],
    )
