"""The command `explain`, by the core."""

import argparse
import time
from collections.abc import Callable, Iterator, Mapping

import manifests
from queuecast.backend import Backend, Json
from queuecast.parsing import Groups, add_command
from queuecast.problems import unknown
from queuecast.shown import Output
from scheduler_core import prepare
from scheduler_core.explain import (
    Limits,
    Unknown,
    job_story,
    node_story,
    pod_story,
    queue_story,
    text,
    unblocking,
)

STORIES: Mapping[str, tuple[Callable[[Json, Json, str], Json], Callable[[Json], Iterator[str]]]] = {
    "job": (job_story, text.job_lines),
    "queue": (queue_story, text.queue_lines),
    "pod": (pod_story, text.pod_lines),
    "node": (node_story, text.node_lines),
}
"""The explanation of each kind of object, and its table."""


def add_explain_command(groups: Groups) -> None:
    """Add the command."""
    command = add_command(groups, "explain", explain)
    command.add_argument("run")
    command.add_argument("what", choices=tuple(STORIES))
    command.add_argument("name", help="namespace/name of a job or pod, or name of a queue or node")
    command.add_argument(
        "--unblock", action="store_true", help="search for changes that would let the job run"
    )
    command.add_argument("--seconds", type=float, default=5.0, help="how long to search (%(default)s)")


def explain(backend: Backend, args: argparse.Namespace) -> Output:
    """Explain why a job waits, a queue has its amounts, a pod is evicted, a node is full."""
    document, result = backend.run_documents(args.run)
    story, lines = STORIES[args.what]
    prepared = prepare(manifests.resolve(document))
    try:
        body = story(dict(prepared.document), result, args.name)
        loops = [loop for loop in result.get("loops", ()) if body.get("job") in loop.get("jobs", ())]
        printed = [line for loop in loops for line in text.loop_lines(loop)] + list(lines(body))
        if args.what == "job" and args.unblock:
            limits = Limits(milliseconds=args.seconds * 1000, timer=lambda: time.perf_counter() * 1000)
            found = unblocking(prepared.document, body["job"], prepared.simulate, limits)
            body = {**body, "unblocking": found}
            printed += text.unblocking_lines(found)
    except Unknown:
        raise unknown(args.what, args.name, _names(result, args.what), where="in the run") from None
    return Output(body, ["\n".join(printed)], notes=result["notes"])


def _names(result: Json, what: str) -> list[str]:
    """Return the names of a run's objects of a kind."""
    cycles = result.get("cycles") or [{"podgroups": (), "nodes": (), "at_end": {}}]
    groups = cycles[-1]["podgroups"]
    named = {
        "job": groups,
        "pod": [{"name": task["pod"]} for group in groups for task in group["tasks"]],
        "queue": cycles[-1]["at_end"].get("queues") or (),
        "node": cycles[-1]["nodes"],
    }
    return [str(one["name"]) for one in named[what]]
