"""Tables that local and server forecasts share."""

from collections.abc import Sequence

from planning.forecasts.clock import moment_of
from planning.units import scale_of
from queuecast.backend import Json
from queuecast.shown import Table


def use_table(rows: Sequence[Json], begin: str) -> Table:
    """Return the usage of the nodes by resource; `begin` is the time of second 0."""
    cells = [
        (
            row["resource"],
            _percent(row["allocated"]),
            _percent(row["most_allocated"]),
            _percent(row["fragmented"]),
            _amount(row["most_fragmented"], row["resource"]),
            moment_of(row["most_fragmented_at"], begin) if row["most_fragmented"] else None,
        )
        for row in rows
        if row["resource"] != "pods"
    ]
    columns = ("RESOURCE", "ALLOCATED", "AT MOST", "FRAGMENTED OF FREE", "AT MOST", "WHEN")
    return Table(columns, cells, "Use of the nodes")


def seeds_table(first: str, second: str, rows: Sequence[Json]) -> Table:
    """Return how waits change over drawn workloads, each figure with its interval."""
    count = max((row["p95"]["change"]["seeds"] for row in rows), default=0)
    cells = [
        (
            row["queue"],
            _interval(row["mean"]["change"], "+"),
            _interval(row["p50"]["change"], "+"),
            _interval(row["p95"]["before"]),
            _interval(row["p95"]["after"]),
            _interval(row["p95"]["change"], "+"),
        )
        for row in rows
    ]
    head = f"{first} (A) and {second} (B) over {count} drawn workloads, 95 % intervals by Student's t"
    columns = ("QUEUE", "MEAN B - A", "P50 B - A", "P95 A", "P95 B", "P95 B - A")
    return Table(columns, cells, head, "No queue has jobs in both.")


def _interval(found: Json, sign: str = "") -> str:
    if found["low"] is None or found["high"] is None:
        return f"{found['mean']:{sign},.0f} s"
    return f"{found['mean']:{sign},.0f} s ({found['low']:{sign},.0f} to {found['high']:{sign},.0f})"


def _percent(part: float | None) -> str | None:
    return None if part is None else f"{part:.1%}".replace("%", " %")


def _amount(amount: float | None, resource: str) -> str | None:
    return None if amount is None else scale_of(resource, amount).say(amount)
