"""Commands about a server's forecasts."""

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from planning.forecasts.chargeback import chargeback_csv
from planning.forecasts.clock import spelled
from planning.forecasts.costs import Costs, Prices, QueueCost
from queuecast.backend import Backend, Json
from queuecast.client import Client, on_server
from queuecast.forecast_tables import comparison, costs_table, forecast_tables, time_text
from queuecast.forecasts import prices, require_prices, seconds, targets_of, workload_options
from queuecast.plans import contents
from queuecast.problems import Refused
from queuecast.shown import Output, Table
from queuecast.terminal import progress_line

NO = 1
"""The exit code of a negative answer: a forecast failed, or did not finish in time."""
LOCAL_ONLY = {
    "real": "--real",
    "real_until": "--real-until",
    "starves_after": "--starves-after",
}
_PARTS = ("queues", "utilisation", "resources", "causes", "service", "fairness", "churn", "seeds")


def forecast(backend: Backend, args: argparse.Namespace) -> Output:
    """Forecast scenarios on the server, and compare all further ones with the first."""
    client = on_server(backend, "forecast")
    if wrong := [option for name, option in LOCAL_ONLY.items() if getattr(args, name)]:
        raise Refused(
            f"{', '.join(wrong)}: on a server use the pages of a forecast, or compute with --local."
        )
    if args.trace is None:
        raise Refused("Name a workload with --trace: a file, or a trace of the server.")
    require_prices(args)
    options, listed, trace = _options(args), _as_body(prices(args.prices)), _trace(client, args)
    begun = [client.forecast_start(name, trace=trace, **options) for name in args.scenarios]
    if args.no_wait:
        return _states(begun, "begun")
    over = []
    for name, one in zip(args.scenarios, begun, strict=True):
        with progress_line(f"forecast {name}") as progress:
            over.append(client.forecast_wait(one["id"], progress))
    if any(one["state"] != "succeeded" for one in over):
        return _states(over, "over")
    data = [_forecast_data(client, one, name, listed) for name, one in zip(args.scenarios, over, strict=True)]
    parts: list[Table | str] = [part for one in data for part in forecast_tables(one)]
    for one in data[1:]:
        found = client.forecast_compare(data[0]["id"], one["id"], listed)
        one["compared"] = {
            "says": found["sentence"],
            **{part: found[part] for part in ("queues", "fairness", "seeds")},
        }
        parts += comparison(data[0]["scenario"], one["scenario"], found)
    if args.chargeback:
        _charge(data[0]["costs"], args)
    return Output(data, parts, notes=[note for one in over for note in one["notes"]])


def _trace(client: Client, args: argparse.Namespace) -> str:
    """Return the trace of a forecast; a file is uploaded first."""
    path = Path(args.trace)
    if not path.is_file():
        return str(args.trace)
    found = client.trace_upload(contents([path])[0], name=path.name, format_name=args.format or "")
    client.notes.append(f"{path} was uploaded as trace {found['id']}.")
    return str(found["id"])


def _options(args: argparse.Namespace) -> dict[str, Any]:
    """Return the options of the command line as options of the API; without targets, the scenario's apply."""
    options = {**workload_options(args), "seeds": args.seeds}
    return {**options, "targets": targets_of(args)} if args.target else options


def _forecast_data(client: Client, over: Json, name: str, listed: Json | None) -> Json:
    found = client.forecast_verdict(over["id"])
    data = {
        "id": over["id"],
        "scenario": name,
        "begin": found["begin"],
        "end_seconds": over["options"]["horizon_seconds"],
        "verdict": found["findings"],
        **{part: found[part] for part in _PARTS},
    }
    return data if listed is None else {**data, "costs": client.forecast_cost(over["id"], listed)}


def forecast_list(backend: Backend, args: argparse.Namespace) -> Output:
    """List forecasts of the server, newest first, of all scenarios or of one."""
    client = on_server(backend, "forecasts")
    found = client.forecasts(args.scenario)
    names = {one["id"]: one["name"] for one in client.scenarios()}
    rows = [
        (
            one["id"], names.get(one["scenario"], one["scenario"]), one["scenario_revision"],
            one["trace_name"], spelled(one["options"]["horizon_seconds"]), one["state"], one["created"],
            one["owner"],
        )
        for one in found
    ]  # fmt: skip
    columns = ("FORECAST", "SCENARIO", "REVISION", "TRACE", "HORIZON", "STATE", "CREATED", "BY")
    empty = "No forecast yet: queuecast forecast SCENARIO --trace TRACE"
    return Output(found, [Table(columns, rows, empty=empty, wide=2)])


def forecast_wait(backend: Backend, args: argparse.Namespace) -> Output:
    """Wait until forecasts are finished; exits with 1 if one has no result by then."""
    client = on_server(backend, "forecasts wait")
    end = time.monotonic() + args.timeout
    over = []
    for number, name in enumerate(args.forecasts, 1):
        with progress_line(f"forecast {number} of {len(args.forecasts)}") as progress:
            left = max(0.0, end - time.monotonic())
            over.append(client.forecast_wait(name, progress, seconds=left))
    return _states(over, "over")


def _states(found: Sequence[Json], expected: str) -> Output:
    rows = [
        (one["id"], one["state"], spelled(one["simulated_seconds"]), one["jobs_done"], one["error"])
        for one in found
    ]
    has_result = all(one["state"] == "succeeded" for one in found)
    table = Table(("FORECAST", "STATE", "SIMULATED", "JOBS DONE", "ERROR"), rows)
    return Output(list(found), [table], code=0 if has_result or expected == "begun" else NO)


def forecast_cancel(backend: Backend, args: argparse.Namespace) -> Output:
    """Cancel a queued forecast at once, signal a running one to stop."""
    return _states([on_server(backend, "forecasts cancel").forecast_cancel(args.forecast)], "begun")


def forecast_show(backend: Backend, args: argparse.Namespace) -> Output:
    """Show the verdict of a forecast."""
    client = on_server(backend, "forecasts show")
    one = client.forecast_wait(args.forecast, seconds=0.0)
    if one["state"] != "succeeded":
        return _states([one], "over")
    data = _forecast_data(client, one, args.forecast, None)
    return Output(data, list(forecast_tables(data)), notes=one["notes"])


def forecast_jobs(backend: Backend, args: argparse.Namespace) -> Output:
    """Show the jobs of a forecast, the longest waits first."""
    asks = {"ordering": "-wait_seconds", **({"queue": args.queue} if args.queue else {})}
    found = on_server(backend, "forecasts jobs").forecast_jobs(args.forecast, **asks)
    rows = [
        (one["job"], one["queue"], one["pods"], time_text(one["wait_seconds"]),
         *(time_text(one[moment]) for moment in ("submitted", "started", "finished")),
         one["evictions"], time_text(one["lost_seconds"]))
        for one in found
    ]  # fmt: skip
    columns = (
        "JOB",
        "QUEUE",
        "PODS",
        "WAIT",
        "SUBMITTED",
        "STARTED",
        "FINISHED",
        "EVICTIONS",
        "LOST RUN TIME",
    )
    return Output(found, [Table(columns, rows, empty="No job.")])


def forecast_evictions(backend: Backend, args: argparse.Namespace) -> Output:
    """Show the evictions of a forecast, in order."""
    asks = {"queue": args.queue} if args.queue else {}
    found = on_server(backend, "forecasts evictions").forecast_evictions(args.forecast, **asks)
    rows = [
        (
            time_text(one["t"]),
            one["pod"],
            one["queue"],
            one["for_job"],
            one["for_queue"],
            time_text(one["ran_seconds"]),
        )
        for one in found
    ]
    columns = ("AFTER", "POD", "QUEUE", "FOR JOB", "FOR QUEUE", "HAD RUN")
    return Output(found, [Table(columns, rows, empty="No pod is evicted.")])


def forecast_compare(backend: Backend, args: argparse.Namespace) -> Output:
    """Compare two forecasts of the same work, job by job."""
    found = on_server(backend, "forecasts compare").forecast_compare(args.before, args.after)
    return Output(found, list(comparison(args.before, args.after, found)))


def forecast_cost(backend: Backend, args: argparse.Namespace) -> Output:
    """Show the cost of each queue under the prices of a file, else under those of the workspace."""
    found = on_server(backend, "forecasts cost").forecast_cost(args.forecast, _as_body(prices(args.prices)))
    if args.chargeback:
        _charge(found, args)
    return Output(found, [costs_table(found)])


def forecast_moment(backend: Backend, args: argparse.Namespace) -> Output:
    """Create a scenario of the cluster as it is at a moment of a forecast."""
    at = seconds(args.at, "AT")
    found = on_server(backend, "forecasts moment").forecast_moment(args.forecast, at, args.name)
    return Output(found, [Table(("ID", "NAME"), [(found["id"], found["name"])])])


def _as_body(listed: Prices | None) -> Json | None:
    if listed is None:
        return None
    return {"pools": listed.pools, "resources": listed.resources, "currency": listed.currency}


def _charge(found: Json, args: argparse.Namespace) -> None:
    rows = [QueueCost(**{name: row[name] for name in QueueCost.__annotations__}) for row in found["queues"]]
    held = Costs(tuple(rows), found["nodes"], found["pools"], found["currency"])
    args.chargeback.write_text(chargeback_csv(held), encoding="utf-8")
