"""Commands about a server's traces and wait targets."""

import argparse
from collections.abc import Iterator, Mapping, Sequence

from planning.forecasts.clock import spelled
from queuecast.backend import Backend, Json
from queuecast.client import on_server
from queuecast.forecasts import seconds
from queuecast.plans import contents
from queuecast.problems import Refused
from queuecast.shown import Output, Table


def trace_upload(backend: Backend, args: argparse.Namespace) -> Output:
    """Store a workload trace on the server."""
    [file] = contents([args.file])
    name = args.name or args.file.name
    found = on_server(backend, "trace upload").trace_upload(file, name=name, format_name=args.format or "")
    return Output(found, [_traces([found])], notes=found["notes"])


def trace_list(backend: Backend, args: argparse.Namespace) -> Output:
    """List the traces on the server, newest first."""
    found = on_server(backend, "trace list").traces()
    return Output(found, [_traces(found)])


def _traces(found: Sequence[Json]) -> Table:
    rows = [
        (one["id"], one["name"], one["jobs"], one["pods"], spelled(one["span_seconds"]), one["format"],
         one["created"])
        for one in found
    ]  # fmt: skip
    columns = ("ID", "NAME", "JOBS", "PODS", "SPAN", "FORMAT", "CREATED")
    return Table(columns, rows, empty="No trace yet: queuecast trace upload FILE", wide=2)


def trace_preview(backend: Backend, args: argparse.Namespace) -> Output:
    """Show the contents of a trace on the server: queues, sizes, run times."""
    found = on_server(backend, "trace preview").trace_preview(args.trace)
    head = f"{found['jobs']:,} jobs over {spelled(found['span'])}"
    return Output(found, [head, *preview_tables(found)], notes=found["notes"])


def preview_tables(found: Json) -> Iterator[Table]:
    """Yield the contents of a trace as tables: queues, pods per job, run times and their source."""
    devices = list(found["queues"][0]["device_hours"]) if found["queues"] else []
    rows = [
        (one["queue"], one["jobs"], one["pods"], _time(one["run_median"]), _time(one["run_p95"]),
         round(one["pod_hours"], 1), *(round(hours, 1) for hours in one["device_hours"].values()))
        for one in found["queues"]
    ]  # fmt: skip
    columns = ("QUEUE", "JOBS", "PODS", "RUN TIME P50", "RUN TIME P95", "POD-HOURS")
    yield Table((*columns, *(f"{device.upper()}-HOURS" for device in devices)), rows)
    yield Table(("PODS", "JOBS"), list(found["sizes"].items()), "Pods per job")
    limits = [
        ("longer" if limit == "inf" else spelled(float(limit)), count)
        for limit, count in found["run_times"].items()
    ]
    yield Table(("AT MOST", "JOBS"), limits, "Run times")
    yield Table(("RUN TIME FROM", "JOBS"), list(found["sources"].items()), "Origin of run times")


def trace_delete(backend: Backend, args: argparse.Namespace) -> Output:
    """Delete a trace on the server; its forecasts remain."""
    on_server(backend, "trace delete").trace_delete(args.trace)
    return Output({"deleted": args.trace}, [f"{args.trace} was deleted; its forecasts remain."])


def target_list(backend: Backend, args: argparse.Namespace) -> Output:
    """List the wait targets of a scenario."""
    return _targets(on_server(backend, "target list").targets(args.scenario))


def target_set(backend: Backend, args: argparse.Namespace) -> Output:
    """Set wait targets of a scenario; other queues keep theirs, and an empty time removes one."""
    client = on_server(backend, "target set")
    words = dict(word.rpartition("=")[::2] for word in args.targets)
    if "" in words:
        raise Refused("Write each target as QUEUE=TIME.")
    wanted = {queue: seconds(text, queue) if text else None for queue, text in words.items()}
    return _targets(client.targets_change(args.scenario, wanted))


def _targets(found: Mapping[str, float]) -> Output:
    rows = [(queue, spelled(target)) for queue, target in sorted(found.items())]
    empty = "No wait target yet: queuecast target set SCENARIO QUEUE=10m"
    return Output({"targets": dict(found)}, [Table(("QUEUE", "P95 OF WAIT AT MOST"), rows, empty=empty)])


def _time(value: float | None) -> str | None:
    return None if value is None else spelled(value)
