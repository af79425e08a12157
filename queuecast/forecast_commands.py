"""Local commands about traces and forecasts."""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from planning.forecasts.backtest import Backtest, backtest, real_jobs, real_work
from planning.forecasts.causes import cause_rows
from planning.forecasts.clock import DAY, moment_of, spelled
from planning.forecasts.comparison import compared, cost_against_benefit
from planning.forecasts.costs import Costs, Prices, chargeback, chargeback_csv, costs
from planning.forecasts.document import Times
from planning.forecasts.preview import preview
from planning.forecasts.record import Record
from planning.forecasts.seeds import MOST_SEEDS, QueueChange, SeedRow, change_over_seeds, seed_rows
from planning.forecasts.service import churn, fairness_rows, service_rows
from planning.forecasts.targets import waits_of
from planning.forecasts.trace_texts import Read, csv_of
from planning.forecasts.usage import use_rows
from planning.forecasts.verdict import Finding, verdict
from planning.forecasts.workload import Fitting, more_of, own_trace
from queuecast import server_forecasts
from queuecast.backend import Backend, Json
from queuecast.forecast_tables import comparison, outcome_tables, seeds_table, time_text
from queuecast.forecasts import Workload, changes, factors, pairs, prices, read_trace, seconds
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
    work = requested_workload(args, None if args.trace else _real_work(args, documents[0]))
    targets = {queue: seconds(text, "--target") for queue, text in pairs(args.target, "--target").items()}
    listed, starves = prices(args.prices), seconds(args.starves_after or "10m", "--starves-after")
    records = []
    for name, document in zip(args.scenarios, documents, strict=True):
        with progress_line(f"forecast {name}") as progress:
            records.append(work.forecast(document, progress))
    found = [_forecast_data(record, targets, starves, listed) for record in records]
    data = [{"scenario": name, **one} for name, one in zip(args.scenarios, found, strict=True)]
    parts: list[Table | str] = []
    for name, record, one in zip(args.scenarios, records, found, strict=True):
        parts += _shown(name, record, one)
    for name, record, one in list(zip(args.scenarios, records, found, strict=True))[1:]:
        pair = compared(records[0], record)
        message = cost_against_benefit(pair, found[0].get("costs"), one.get("costs"))
        figures = {"queues": pair.queues, "fairness": pair.fairness}
        parts += comparison(args.scenarios[0], name, plain({"sentence": message, **figures}))
        data[args.scenarios.index(name)]["compared"] = {"says": message, **figures}
    if args.seeds:
        seeded = _over_seeds(args, documents, work)
        for name, rows in seeded.items():
            parts.append(seeds_table(args.scenarios[0], name, plain(rows)))
            data[args.scenarios.index(name)]["seeds"] = rows
    if args.real:
        right = _backtest(records[0], args, documents[0])
        parts += _backtest_shown(right)
        data[0]["backtest"] = right
    if args.chargeback:
        if "costs" not in found[0]:
            raise Refused("--chargeback requires --prices.")
        args.chargeback.write_text(chargeback_csv(found[0]["costs"]), encoding="utf-8")
    notes = [note for record in records for note in record.notes]
    return Output(plain(data), parts, notes=notes)


def requested_workload(args: argparse.Namespace, given: Read | None = None) -> Workload:
    """Return the workload, the clock and the changes of the options; `given` stands for the trace."""

    def length(name: str, default: float) -> float:
        text = getattr(args, name)
        return default if text is None else seconds(text, f"--{name.replace('_', '-')}")

    begin, horizon = length("begin", 0.0), length("horizon", DAY)
    if horizon <= 0:
        raise Refused("--horizon: a forecast lasts longer than 0 s.")
    read = given or read_trace(Path(args.trace), args.format or "")
    fitting = Fitting(
        queues=pairs(args.map, "--map"),
        rest=args.rest,
        begin=begin,
        end=begin + horizon,
        rate=args.rate,
        rates=factors(args.rate_of),
        size=args.size,
        run_time=args.run_time,
        node_constraints=args.node_constraints,
    )
    times = Times(
        horizon=horizon,
        period=length("period", 1.0),
        start_delay=length("start_delay", 0.0),
        termination=None if args.termination is None else length("termination", 0.0),
        evicted=args.evicted,
        checkpoint=length("checkpoint", 0.0),
        restore=length("restore", 0.0),
    )
    return Workload(read, fitting, times, changes(args.changes_file))


def _forecast_data(
    record: Record, targets: Mapping[str, float], starves: float, listed: Prices | None
) -> dict[str, Any]:
    queues = [
        {
            "queue": queue,
            **asdict(waits_of(record, queue)),
            "evictions": int(record.jobs.evictions[record.jobs.of_queue(queue)].sum()),
            "lost_seconds": float(record.jobs.lost[record.jobs.of_queue(queue)].sum()),
        }
        for queue in sorted({*record.jobs.queues, *targets})
    ]
    found: dict[str, Any] = {
        "begin": record.begin,
        "end_seconds": record.end,
        "verdict": verdict(record, targets, starves_after=starves),
        "queues": queues,
        "resources": use_rows(record),
        "causes": cause_rows(record),
        "service": service_rows(record),
        "fairness": fairness_rows(record),
        "churn": churn(record),
    }
    return found if listed is None else {**found, "costs": costs(record, listed)}


def _shown(name: str, record: Record, found: Mapping[str, Any]) -> Iterator[Table | str]:
    findings: Sequence[Finding] = found["verdict"]
    rows = [
        (one.tone, "" if one.at is None else moment_of(one.at, record.begin), one.says) for one in findings
    ]
    yield Table(
        ("", "WHEN", "WHAT"), rows, f"Forecast of {name} over {spelled(record.end)}", "Nothing happens."
    )
    waits = [
        (
            one["queue"], one["jobs"], one["started"], time_text(one["p50"]), time_text(one["p95"]),
            time_text(one["longest"]), one["evictions"], time_text(one["lost_seconds"]),
        )
        for one in found["queues"]
    ]  # fmt: skip
    columns = ("QUEUE", "JOBS", "STARTED", "WAIT P50", "WAIT P95", "LONGEST", "EVICTIONS", "LOST RUN TIME")
    yield Table(columns, waits, "Waits of jobs submitted during the forecast")
    yield from outcome_tables(plain(found))
    if "costs" in found:
        held: Costs = found["costs"]
        money = ("charged", "allocated", "borrowed", "lent", "idle", "lost")
        cells = [
            (one["queue"] or "(no queue)", *(f"{one[part]:,.2f}" for part in money))
            for one in chargeback(held)
        ]
        head = f"Costs in {held.currency}; the nodes cost {held.nodes:,.2f}"
        yield Table(("QUEUE", *(part.upper() for part in money)), cells, head)


def _over_seeds(
    args: argparse.Namespace, documents: Sequence[Json], work: Workload
) -> dict[str, list[QueueChange]]:
    """Return each further scenario compared with the first under workloads of several seeds."""
    if len(args.scenarios) < 2:
        raise Refused("--seeds compares scenarios: name two or more.")
    if not 2 <= args.seeds <= MOST_SEEDS:
        raise Refused(f"--seeds: choose 2 to {MOST_SEEDS}.")
    found: dict[str, list[SeedRow]] = {name: [] for name in args.scenarios}
    for seed in range(1, args.seeds + 1):
        drawn = work.drawn(seed)
        with progress_line(f"drawn workload {seed} of {args.seeds}") as progress:
            for name, document in zip(args.scenarios, documents, strict=True):
                found[name] += seed_rows(drawn.forecast(document, progress), seed)
    first, *others = args.scenarios
    return {name: change_over_seeds(found[first], found[name]) for name in others}


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
