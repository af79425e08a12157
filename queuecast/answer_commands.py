"""Commands about a server's run: verdict, nodes, and what unblocks a job."""

import argparse
from collections.abc import Iterator

from queuecast.backend import Backend, Json
from queuecast.client import on_server
from queuecast.run_commands import job_key
from queuecast.shown import Output, Table, amounts
from queuecast.terminal import progress_line

NO = 1
"""The exit code of a search that failed, or was cancelled."""


def verdict(backend: Backend, args: argparse.Namespace) -> Output:
    """Show the verdict on a run in sentences, worst first."""
    found = on_server(backend, "verdict").run_verdict(args.run)
    rows = [(line["level"], line["sentence"]) for line in found["lines"]]
    return Output(
        found, [Table(("LEVEL", "FINDING"), rows, empty="Nothing to report.")], notes=found["notes"]
    )


def nodes_of_run(backend: Backend, args: argparse.Namespace) -> Output:
    """Show each node at the end of a run: used and free resources, and the number of its pods."""
    found = on_server(backend, "nodes").run_nodes(args.run)
    rows = [
        (one["node"], one["pods"], amounts(one["used"]), amounts(one["free"]), amounts(one["total"]))
        for one in found
    ]
    return Output(found, [Table(("NODE", "PODS", "USED", "FREE", "TOTAL"), rows, empty="No node.", wide=1)])


def unblock(backend: Backend, args: argparse.Namespace) -> Output:
    """Let the server search for the smallest changes with which a waiting job runs, cheapest first."""
    client = on_server(backend, "unblock")
    job = job_key(backend, args.run, args.job)
    found = client.unblocking_start(args.run, job)
    if not (args.no_wait or args.try_only):
        with progress_line(f"unblock {args.job}") as progress:
            found = client.unblocking_wait(args.run, job, progress)
    failed = found["state"] in ("failed", "cancelled")
    return Output(found, list(_unblocking(found)), code=NO if failed else 0)


def _unblocking(search: Json) -> Iterator[Table | str]:
    found = search["found"]
    if found is None:
        yield search["error"] or f"The search is {search['state']}; nothing is found yet."
        return
    if not found["waits"]:
        yield f"Job {search['job']} has, or is pipelined to, what it needs."
        return
    rows = [(one["reason"]["sentence"], one["runs"], one["cost"]) for one in found["changes"]]
    columns = ("CHANGE", "THE JOB RUNS", "PODS OF OTHER JOBS LOST")
    yield Table(columns, rows, empty="No change was found that lets it run.")
    yield "\n".join(one["sentence"] for one in found["not_enough"])
    if found["stopped"]:
        yield found["stopped"]["sentence"]
