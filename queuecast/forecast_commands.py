"""Local commands about traces and forecasts."""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from planning.forecasts.backtest import Backtest, backtest, real_jobs, real_work
from planning.forecasts.causes import cause_rows
from planning.forecasts.chargeback import chargeback_csv, costs_body
from planning.forecasts.clock import spelled
from planning.forecasts.comparison import compared, cost_against_benefit
from planning.forecasts.costs import costs
from planning.forecasts.figures import wait_rows
from planning.forecasts.preview import preview
from planning.forecasts.record import Record
from planning.forecasts.seeds import MOST_SEEDS, SeedRow, change_over_seeds, over_seeds, seed_rows
from planning.forecasts.service import churn, fairness_rows, service_rows
from planning.forecasts.trace_texts import Read, csv_of
from planning.forecasts.usage import use_rows
from planning.forecasts.verdict import utilisations, verdict
from planning.forecasts.workload import more_of, own_trace
from queuecast import server_forecasts
from queuecast.backend import Backend, Json
from queuecast.forecast_tables import comparison, forecast_tables, time_text
from queuecast.forecasts import (
    Workload,
    prices,
    read_trace,
    require_prices,
    seconds,
    targets_of,
    workload_options,
)
from queuecast.local import Local
from queuecast.plans import read
from queuecast.problems import Refused
from queuecast.server_traces import preview_tables
from queuecast.shown import Output, Table
from queuecast.terminal import progress_line


def trace_show(backend: Backend, args: argparse.Namespace) -> Output:
    """Show the contents of a workload trace: queues, arrivals, sizes, run times."""
    there = read_trace(args.trace, args.format or "")
    seen = preview(there.trace)
    head = f"{there.format}: {seen.jobs:,} jobs over {spelled(seen.span)}"
    found = {**plain(seen), "run_times": {f"{limit:g}": count for limit, count in seen.run_times.items()}}
    return Output(plain(seen), [head, *preview_tables(found)], notes=seen.notes)


def trace_generate(backend: Backend, args: argparse.Namespace) -> Output:
    """Generate more work like that of a trace, as CSV."""
    there = read_trace(args.trace, args.format or "")
    made = more_of(there.trace, seconds=seconds(args.horizon, "--horizon"), seed=args.seed)
    text = csv_of(made)
    return Output({"jobs": len(made.jobs), "csv": text}, [text], notes=made.notes)


def trace_own(backend: Backend, args: argparse.Namespace) -> Output:
    """Print the finished jobs of a snapshot as a workload trace, as CSV."""
    own = own_trace(backend.snapshot_document(args.snapshot))
    text = csv_of(own)
    return Output({"jobs": len(own.jobs), "csv": text}, [text], notes=own.notes)


def forecast(backend: Backend, args: argparse.Namespace) -> Output:
    """Forecast scenarios under a workload trace: waits, starvation, lost run time and costs."""
    if not isinstance(backend, Local):
        return server_forecasts.forecast(backend, args)
    if args.no_wait:
        raise Refused("--no-wait requires a server.")
    documents = [backend.scenario_document(name) for name in args.scenarios]
    require_prices(args)
    _require_seeds(args)
    targets, listed = targets_of(args), prices(args.prices)
    work = requested_workload(args, None if args.trace else _real_work(args, documents[0]), targets)
    starves = seconds(args.starves_after or "10m", "--starves-after")
    records = []
    for name, document in zip(args.scenarios, documents, strict=True):
        with progress_line(f"forecast {name}") as progress:
            records.append(work.forecast(document, progress))
    paid = [] if listed is None else [costs(record, listed) for record in records]
    data = [
        {"scenario": name, **_forecast_data(record, targets, starves)}
        for name, record in zip(args.scenarios, records, strict=True)
    ]
    for one, owed in zip(data, paid, strict=False):
        one["costs"] = costs_body(owed)
    drawn = _over_seeds(args, documents, work) if args.seeds else [[] for _ in records]
    for one, rows in zip(data, drawn, strict=True):
        one["seeds"] = over_seeds(rows)
    parts: list[Table | str] = [part for one in data for part in forecast_tables(plain(one))]
    for number, one in enumerate(data[1:], start=1):
        pair = compared(records[0], records[number])
        message = cost_against_benefit(pair, (paid[0], paid[number]) if paid else None)
        seeds = change_over_seeds(drawn[0], drawn[number])
        figures = {"queues": pair.queues, "fairness": pair.fairness, "seeds": seeds}
        parts += comparison(args.scenarios[0], one["scenario"], plain({"sentence": message, **figures}))
        one["compared"] = {"says": message, **figures}
    if args.real:
        right = _backtest(records[0], args, documents[0])
        parts += _backtest_shown(right)
        data[0]["backtest"] = right
    if args.chargeback:
        args.chargeback.write_text(chargeback_csv(paid[0]), encoding="utf-8")
    notes = [note for record in records for note in record.notes]
    return Output(plain(data), parts, notes=notes)


def requested_workload(
    args: argparse.Namespace, given: Read | None = None, targets: Mapping[str, float] | None = None
) -> Workload:
    """Return the workload with the options of the command line; `given` stands for the trace."""
    options = {**workload_options(args), "targets": targets or {}}
    return Workload.of(given or read_trace(Path(args.trace), args.format or ""), options)


def _forecast_data(record: Record, targets: Mapping[str, float], starves: float) -> dict[str, Any]:
    return {
        "begin": record.begin,
        "end_seconds": record.end,
        "verdict": verdict(record, targets, starves_after=starves),
        "queues": wait_rows(record, targets),
        "utilisation": utilisations(record),
        "resources": use_rows(record),
        "causes": cause_rows(record),
        "service": service_rows(record),
        "fairness": fairness_rows(record),
        "churn": churn(record),
    }


def _require_seeds(args: argparse.Namespace) -> None:
    if args.seeds and not 2 <= args.seeds <= MOST_SEEDS:
        raise Refused(f"--seeds: choose 2 to {MOST_SEEDS}.")


def _over_seeds(args: argparse.Namespace, documents: Sequence[Json], work: Workload) -> list[list[SeedRow]]:
    """Return the waits of each scenario under workloads of several seeds."""
    found: list[list[SeedRow]] = [[] for _ in documents]
    for seed in range(1, args.seeds + 1):
        drawn = work.drawn(seed)
        with progress_line(f"drawn workload {seed} of {args.seeds}") as progress:
            for rows, document in zip(found, documents, strict=True):
                rows += seed_rows(drawn.forecast(document, progress), seed)
    return found


def _real_work(args: argparse.Namespace, document: Json) -> Read:
    """Return the jobs that really arrived, as a workload."""
    if not args.real:
        raise Refused("Name a workload with --trace, or a later snapshot with --real.")
    return Read(real_work(read(args.real), _beginning(document)), "kubernetes")


def _beginning(document: Json) -> str:
    begin = str(document.get("now") or "")
    if not begin:
        raise Refused("--real requires a scenario that says its time: write now: 2026-01-01T12:00:00Z.")
    return begin


def _backtest(record: Record, args: argparse.Namespace, document: Json) -> Backtest:
    until = seconds(args.real_until, "--real-until") if args.real_until else None
    later = read(args.real)
    return backtest(record, real_jobs(later, _beginning({"now": record.begin})), until, later, document)


def _backtest_shown(found: Backtest) -> Iterator[Table | str]:
    yield found.says
    rows = [
        (one.queue, one.jobs, time_text(one.mean_error), time_text(one.p95_error),
         time_text(one.predicted_p95), time_text(one.real_p95))
        for one in found.queues
    ]  # fmt: skip
    columns = ("QUEUE", "JOBS", "MEAN ERROR", "P95 ERROR", "PREDICTED P95", "REAL P95")
    yield Table(columns, rows, "Error of the predicted waits", "No job started in both.")
    reasons = [
        (one.queue, one.off, one.job, time_text(one.predicted), time_text(one.real), cause.says)
        for one in found.partings
        for cause in one.causes
    ]
    head = "Where they diverge first, and possible causes"
    yield Table(("QUEUE", "JOBS OFF", "FIRST", "PREDICTED", "REAL", "MAY BE WHY"), reasons, head, "Nowhere.")


def plain(value: Any) -> Any:
    """Return a value as JSON data: dataclasses as objects, null for what is not a number."""
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if isinstance(value, float) and not isfinite(value):
        return None
    return value
