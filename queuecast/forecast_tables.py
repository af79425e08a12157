"""Tables that local and server forecasts share."""

from collections.abc import Iterator, Sequence

from planning.forecasts.brief import beyond_first
from planning.forecasts.clock import moment_of, spelled
from planning.units import scale_of
from queuecast.backend import Json
from queuecast.shown import Table

MONEY = ("charged", "allocated", "borrowed", "lent", "idle", "lost")


def forecast_tables(found: Json) -> Iterator[Table]:
    """Yield verdict, waits, their causes, service, use of the nodes, and costs of a forecast."""
    yield verdict_table(found)
    yield waits_table(found["queues"])
    if found["seeds"]:
        yield _drawn_table(found["seeds"])
    yield from _outcome_tables(found)
    if "costs" in found:
        yield costs_table(found["costs"])


def verdict_table(found: Json) -> Table:
    """Return the findings of a forecast, of each kind the first few."""
    rows = [
        (one["tone"], "" if one["at"] is None else moment_of(one["at"], found["begin"]), one["says"])
        for one in found["verdict"]
    ]
    head = f"Forecast of {found['scenario']} over {spelled(found['end_seconds'])}"
    folded = {*beyond_first(one["kind"] for one in found["verdict"])}
    columns = ("", _when(found["begin"]), "WHAT")
    return Table(columns, rows, head, "Nothing happens.", folded=folded)


def _when(begin: str, head: str = "WHEN") -> str:
    """Return the head of a column of moments, which have the clock of the forecast if it has one."""
    return f"{head} (UTC)" if begin else head


def costs_table(found: Json) -> Table:
    """Return the costs of each queue."""
    rows = [
        (one["queue"] or "(no queue)", *(f"{one[part]:,.2f}" for part in MONEY)) for one in found["queues"]
    ]
    head = f"Costs in {found['currency']}; the nodes cost {found['nodes']:,.2f}"
    return Table(("QUEUE", *(part.upper() for part in MONEY)), rows, head)


def _outcome_tables(found: Json) -> Iterator[Table]:
    """Yield causes of waits, service of the queues, fairness, and usage of the nodes of a forecast."""
    yield causes_table(found["causes"])
    yield service_table(found["service"], found["begin"])
    yield fairness_table(found["fairness"], found["churn"])
    yield _use_table(found["resources"], found["begin"])


def waits_table(found: Sequence[Json]) -> Table:
    """Return the waits of each queue of a server's forecast."""
    rows = [
        (
            one["queue"], one["jobs"], one["started"], time_text(one["wait_p50"]), time_text(one["wait_p95"]),
            time_text(one["wait_longest"]), one["target_status"] or None, one["evictions"],
            time_text(one["lost_seconds"]),
        )
        for one in found
    ]  # fmt: skip
    columns = (
        "QUEUE", "JOBS", "STARTED", "WAIT P50", "WAIT P95", "LONGEST", "TARGET", "EVICTIONS", "LOST RUN TIME",
    )  # fmt: skip
    head = "Waits of jobs submitted during the forecast; those that have not started count until its end"
    return Table(columns, rows, head)


def _drawn_table(found: Sequence[Json]) -> Table:
    """Return the waits of each queue over drawn workloads, each figure with its interval."""
    rows = [
        (one["queue"], one["mean"]["seeds"], *(_interval(one[part]) for part in ("mean", "p50", "p95")))
        for one in found
    ]
    head = "Waits over drawn workloads: means, 95 % intervals by Student's t"
    return Table(("QUEUE", "WORKLOADS", "MEAN WAIT", "WAIT P50", "WAIT P95"), rows, head)


def causes_table(rows: Sequence[Json]) -> Table:
    """Return why the jobs of each queue waited."""
    parts = ("waited", "closed", "at_capability", "above_deserved", "no_room", "not_placed", "delays")
    cells = [(row["queue"], row["jobs"], *(_cause(row, part) for part in parts)) for row in rows]
    columns = ("QUEUE", "JOBS", *(part.replace("_", " ").upper() for part in parts))
    return Table(columns, cells, "Why jobs waited, all waits added up", "No job was submitted.")


def _cause(row: Json, part: str) -> str:
    resource = row["resources"].get(part)
    return f"{time_text(row[part])}{f' ({resource})' if resource else ''}"


def _use_table(rows: Sequence[Json], begin: str) -> Table:
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
    columns = ("RESOURCE", "ALLOCATED", "AT MOST", "FRAGMENTED OF FREE", "AT MOST", _when(begin))
    return Table(columns, cells, "Use of the nodes")


def service_table(rows: Sequence[Json], begin: str) -> Table:
    """Return the service of each queue; `begin` is the time of second 0."""
    cells = [
        (
            row["queue"],
            row["finished"],
            *(time_text(row[f"turnaround_{part}"]) for part in ("p50", "p95")),
            *(_ratio(row[f"slowdown_{part}"]) for part in ("p50", "p95")),
            time_text(row["starved_seconds"] or None),
            None if row["starved_from"] is None else moment_of(row["starved_from"], begin),
            ", ".join(_amount(amount, name) or "" for name, amount in row["lacked"].items()) or None,
        )
        for row in rows
    ]
    columns = (
        "QUEUE", "FINISHED", "TURNAROUND P50", "P95", "SLOWDOWN P50", "P95", "LONGEST STARVATION",
        _when(begin, "SINCE"), "LACKED ON AVERAGE",
    )  # fmt: skip
    return Table(columns, cells, "Service of the queues; turnaround and slowdown of finished jobs")


def fairness_table(rows: Sequence[Json], churn: Json) -> Table:
    """Return how evenly each resource was divided, and what evictions cost."""
    cells = [
        (row["resource"], _ratio(row["jain_index"]), _amount(row["lacked"], row["resource"])) for row in rows
    ]
    head = "Fairness"
    if churn["per_1000_pod_hours"] is not None:
        head += (
            f"; {churn['per_1000_pod_hours']:,.2f} evictions per 1,000 pod-hours,"
            f" {_percent(churn['lost_part'])} of the pods' time lost"
        )
    return Table(("RESOURCE", "JAIN'S INDEX", "LACKED ON AVERAGE"), cells, head)


def comparison(first: str, second: str, found: Json) -> Iterator[Table | str]:
    """Yield the comparison of two forecasts: waits by queue, the sentence, fairness, drawn workloads."""
    rows = [
        (
            one["queue"], one["jobs"], one["longer"], one["shorter"], *map(time_text, one["p50"]),
            *map(time_text, one["p95"]), f"{one['hours']:+,.1f} h",
        )
        for one in found["queues"]
    ]  # fmt: skip
    columns = ("QUEUE", "JOBS", "LONGER", "SHORTER", "P50 A", "P50 B", "P95 A", "P95 B", "WAITING")
    yield Table(columns, rows, f"{first} (A) and {second} (B), job by job")
    yield str(found["sentence"])
    if found["fairness"]:
        yield _fairness_changes(found["fairness"])
    if found.get("seeds"):
        yield seeds_table(first, second, found["seeds"])


def _fairness_changes(rows: Sequence[Json]) -> Table:
    """Return how evenly each resource is divided in two forecasts."""
    cells = [
        (
            row["resource"],
            *map(_ratio, row["jain_index"]),
            *(_amount(amount, row["resource"]) for amount in row["lacked"]),
        )
        for row in rows
    ]
    columns = ("RESOURCE", "JAIN'S INDEX A", "B", "LACKED ON AVERAGE A", "B")
    return Table(columns, cells, "Fairness")


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
    mean = _signed(found["mean"], sign)
    if found["low"] is None or found["high"] is None:
        return mean
    return f"{mean} ({_signed(found['low'], sign)} to {_signed(found['high'], sign)})"


def _signed(value: float, sign: str) -> str:
    return f"{sign if value > 0 else ''}{spelled(value)}"


def time_text(value: float | None) -> str | None:
    """Return a duration, None if there is none."""
    return None if value is None else spelled(value)


def _ratio(value: float | None) -> str | None:
    return None if value is None else f"{value:,.2f}"


def _percent(part: float | None) -> str | None:
    return None if part is None else f"{part:.1%}".replace("%", " %")


def _amount(amount: float | None, resource: str) -> str | None:
    return None if amount is None else scale_of(resource, amount).say(amount)
