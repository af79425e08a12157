"""Arguments of the commands about traces, forecasts and wait targets."""

import argparse
from pathlib import Path

from planning.constraint_choices import LIKE_QUEUE, NODE_CONSTRAINTS
from planning.forecasts.options import LEAVE_OUT, RUNNING_JOBS
from queuecast import forecast_commands, forecast_lists, server_forecasts, server_traces
from queuecast.parsing import Groups, add_command, add_group
from scheduler_core.replay.timeline import EVICTED
from traces import FORMATS


def add_forecast_commands(groups: Groups) -> None:
    """Add the commands."""
    _add_traces(groups)
    _add_targets(groups)
    _add_forecast(groups)
    _add_kept(groups)


def _add_traces(groups: Groups) -> None:
    trace = add_group(groups, "trace", "show, generate, own, upload, list, preview, delete")
    add_command(trace, "own", forecast_commands.trace_own).add_argument("snapshot", help="id or name")
    for name, do in (("show", forecast_commands.trace_show), ("generate", forecast_commands.trace_generate)):
        command = add_command(trace, name, do)
        command.add_argument("trace", type=Path, help="a workload trace, plain or gzip")
        command.add_argument(
            "--format", choices=tuple(FORMATS), help="its format (default: recognised by its first line)"
        )
        if name == "generate":
            command.add_argument("--horizon", default="7d", help="how much time it covers (%(default)s)")
            command.add_argument("--seed", type=int, default=1, help="the same seed draws the same jobs")
    upload = add_command(trace, "upload", server_traces.trace_upload, edits=True)
    upload.add_argument("file", type=Path, help="a workload trace, plain or gzip")
    upload.add_argument("--name", default="", help="its name on the server (default: that of the file)")
    upload.add_argument(
        "--format", choices=tuple(FORMATS), help="its format (default: recognised by its first line)"
    )
    add_command(trace, "list", server_traces.trace_list)
    add_command(trace, "preview", server_traces.trace_preview).add_argument("trace", help="id or name")
    delete = add_command(trace, "delete", server_traces.trace_delete, edits=True)
    delete.add_argument("trace", help="id or name")


def _add_targets(groups: Groups) -> None:
    target = add_group(groups, "target", "list, set")
    add_command(target, "list", server_traces.target_list).add_argument("scenario")
    change = add_command(target, "set", server_traces.target_set, edits=True)
    change.add_argument("scenario")
    change.add_argument("targets", nargs="+", metavar="QUEUE=TIME", help="research=10m; research= for none")


def _add_forecast(groups: Groups) -> None:
    forecast = add_command(groups, "forecast", forecast_commands.forecast)
    forecast.add_argument("scenarios", nargs="+", metavar="SCENARIO")
    forecast.add_argument(
        "--trace", help="the workload: a file, or a trace of the server by id or name (the jobs of --real)"
    )
    forecast.add_argument("--no-wait", action="store_true", help="on a server: start it and do not wait")
    forecast.add_argument(
        "--seeds",
        type=int,
        default=0,
        metavar="N",
        help="also under N workloads drawn like the trace, for intervals",
    )
    add_workload(forecast)
    forecast.add_argument(
        "--target", action="append", default=[], metavar="QUEUE=TIME", help="wait target: a=10m"
    )
    forecast.add_argument("--starves-after", metavar="TIME", help="the shortest starvation to report (10m)")
    _add_prices(forecast)
    forecast.add_argument(
        "--real", nargs="+", type=Path, metavar="FILE", help="a later snapshot: how right was the forecast?"
    )
    forecast.add_argument(
        "--real-until", metavar="TIME", help="when the later snapshot was taken, after the first"
    )


def _add_prices(command: argparse.ArgumentParser) -> None:
    command.add_argument("--prices", type=Path, help="prices per hour: pools and resources, as YAML")
    command.add_argument("--chargeback", type=Path, metavar="FILE", help="write what each queue pays, as CSV")


def _add_kept(groups: Groups) -> None:
    """Add the commands about forecasts on a server."""
    words = (
        "list, show, wait, cancel, queues, causes, service, fairness, jobs, evictions, compare, cost, moment"
    )
    kept = add_group(groups, "forecasts", words)
    listed = add_command(kept, "list", server_forecasts.forecast_list)
    listed.add_argument("scenario", nargs="?", default="")
    wait = add_command(kept, "wait", server_forecasts.forecast_wait)
    wait.add_argument("forecasts", nargs="+", metavar="FORECAST")
    wait.add_argument(
        "--timeout", type=float, default=3600.0, metavar="SECONDS", help="the longest wait (3600)"
    )
    for name, do in (
        ("show", server_forecasts.forecast_show),
        ("cancel", server_forecasts.forecast_cancel),
        ("queues", forecast_lists.forecast_queues),
        ("causes", forecast_lists.forecast_causes),
        ("service", forecast_lists.forecast_service),
        ("fairness", forecast_lists.forecast_fairness),
        ("jobs", server_forecasts.forecast_jobs),
        ("evictions", server_forecasts.forecast_evictions),
        ("cost", server_forecasts.forecast_cost),
        ("moment", server_forecasts.forecast_moment),
    ):
        command = add_command(kept, name, do)
        command.add_argument("forecast", help="id, or the name of a scenario: its newest one")
        if name in ("jobs", "evictions"):
            command.add_argument("--queue", default="", help="only of this queue")
        if name == "cost":
            _add_prices(command)
        if name == "moment":
            command.add_argument("at", help="time after the beginning: 90, 10m, 1h30m")
            command.add_argument("--name", default="", help="name of the new scenario")
    compare = add_command(kept, "compare", server_forecasts.forecast_compare)
    compare.add_argument("before", metavar="FORECAST")
    compare.add_argument("after", metavar="FORECAST")


def add_workload(command: argparse.ArgumentParser) -> None:
    """Add the options that fit a trace to a scenario, and those of the forecast's clock."""
    command.add_argument(
        "--format", choices=tuple(FORMATS), help="format of the trace (default: recognised by its first line)"
    )
    command.add_argument("--horizon", metavar="TIME", help="how long it lasts: 90, 10m, 12h, 2d (1d)")
    command.add_argument("--period", metavar="TIME", help="time from one session to the next (1s)")
    command.add_argument("--begin", metavar="TIME", help="where the window of the trace begins (0)")
    command.add_argument(
        "--map",
        action="append",
        default=[],
        metavar="FROM=TO",
        help="queue of the trace = queue of the scenario",
    )
    command.add_argument(
        "--rest", default="", metavar="QUEUE", help="the queue for all other jobs of the trace"
    )
    for name, message in (("rate", "jobs"), ("size", "pods per job"), ("run-time", "run times")):
        command.add_argument(
            f"--{name}", type=_factor, default=1.0, metavar="FACTOR", help=f"multiply the {message}"
        )
    command.add_argument(
        "--rate-of", action="append", default=[], metavar="QUEUE=FACTOR", help="multiply the jobs of a queue"
    )
    command.add_argument(
        "--node-constraints",
        choices=tuple(NODE_CONSTRAINTS),
        default=LIKE_QUEUE,
        help="tolerations and node selectors of the trace's pods (like those of their queue)",
    )
    command.add_argument(
        "--running-jobs",
        choices=tuple(RUNNING_JOBS),
        default=LEAVE_OUT,
        help="jobs of the trace that run when its window begins (leave_out); placed first, they run for what"
        " remains of their run time",
    )
    command.add_argument("--start-delay", metavar="TIME", help="from the bind until the pod runs (0)")
    command.add_argument("--termination", metavar="TIME", help="how long evicted pods terminate (their own)")
    command.add_argument(
        "--evicted", choices=EVICTED, default=EVICTED[0], help="what happens to evicted pods (restart)"
    )
    command.add_argument("--checkpoint", metavar="TIME", help="time between two checkpoints (none)")
    command.add_argument("--restore", metavar="TIME", help="time to read a checkpoint (0)")
    command.add_argument(
        "--changes", dest="changes_file", type=Path, metavar="FILE", help="timed changes, as YAML"
    )


def _factor(text: str) -> float:
    """Return a factor; argparse reports one that is not above 0."""
    value = float(text)
    if not 0 < value < 1e6:
        raise argparse.ArgumentTypeError(f"{text} is not a factor above 0")
    return value
