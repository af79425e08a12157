"""What does each command about runs ask for, and how is its answer told?"""

import argparse
import time
import webbrowser
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import manifests
from queuecast.client import Client
from queuecast.desk import Desk, Json
from queuecast.problems import Refused
from queuecast.shown import Table, Told, amounts, brief, percent
from queuecast.terminal import progress_line
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

NO = 1
"""The exit code of a command whose answer is no: a run failed, a check found an error, nobody decided."""


def run(desk: Desk, asked: argparse.Namespace) -> Told:
    """Run scenarios at once and wait for all of them."""
    started = [desk.run_start(name, cycles=asked.cycles) for name in asked.scenarios]
    if asked.no_wait:
        return Told(started, [Table(("RUN", "STATE"), [(one["id"], one["state"]) for one in started])])
    over = []
    for number, one in enumerate(started, 1):
        with progress_line(f"run {number} of {len(started)}") as progress:
            over.append(desk.run_wait(one["id"], progress))
    bodies = [_with_outcome(desk, one) for one in over]
    rows = [
        (one["id"], name, one["state"], len(one["victims"]), len(one["waiting"]), one.get("error"))
        for name, one in zip(asked.scenarios, bodies, strict=True)
    ]
    columns = ("RUN", "SCENARIO", "STATE", "VICTIMS", "JOBS WAITING", "ERROR")
    failed = any(one["state"] != "succeeded" for one in over)
    return Told(bodies, [Table(columns, rows)], code=NO if failed else 0, notes=_notes(over))


def queues_of_run(desk: Desk, asked: argparse.Namespace) -> Told:
    """Show the result of a run for each queue."""
    found = desk.run_queues(asked.run)
    rows = [
        (one["queue"], amounts(one["deserved"]), amounts(one["allocated"]), percent(one["share"]))
        for one in found
    ]
    return Told(found, [Table(("QUEUE", "DESERVED", "ALLOCATED", "SHARE"), rows)])


def compare(desk: Desk, asked: argparse.Namespace) -> Told:
    """Show runs side by side, differences first."""
    found = desk.compare(asked.runs)
    return Told(found, list(_comparison(found)), notes=_notes(found["runs"]))


def explain(desk: Desk, asked: argparse.Namespace) -> Told:
    """Explain why a job waits, a queue has its amounts, a pod is evicted, a node is full."""
    document, result = desk.run_documents(asked.run)
    story, lines = STORIES[asked.what]
    prepared = prepare(manifests.resolve(document))
    try:
        told = story(dict(prepared.document), result, asked.name)
        loops = [loop for loop in result.get("loops", ()) if told.get("job") in loop.get("jobs", ())]
        said = [line for loop in loops for line in text.loop_lines(loop)] + list(lines(told))
        if asked.what == "job" and asked.unblock:
            limits = Limits(milliseconds=asked.seconds * 1000, timer=lambda: time.perf_counter() * 1000)
            found = unblocking(prepared.document, told["job"], prepared.simulate, limits)
            told = {**told, "unblocking": found}
            said += text.unblocking_lines(found)
    except Unknown as error:
        raise Refused(f"Run {asked.run}: {error}.") from None
    return Told(told, ["\n".join(said)], notes=result["notes"])


def _notes(runs: Sequence[Json]) -> list[str]:
    """Return what runs leave out and assume; one without a result has no notes yet."""
    return [note for run in runs for note in run.get("notes", ())]


def open_page(desk: Desk, asked: argparse.Namespace) -> Told:
    """Open the page of a scenario or a run in the browser."""
    if not isinstance(desk, Client):
        raise Refused("open requires a server; files have no pages.")
    address = desk.page(asked.kind, asked.name)
    if not asked.print:
        webbrowser.open(address)
    return Told({"address": address}, [address])


def _comparison(found: Json) -> Iterator[Table]:
    letters = [chr(ord("A") + place) for place in range(len(found["runs"]))]
    facts = ("id", "bound", "victims_committed", "victims_new", "victims_gone", "jobs_pending")
    heads = [
        (letter, *(one[fact] for fact in facts)) for letter, one in zip(letters, found["runs"], strict=True)
    ]
    yield Table(("", "RUN", "PLACED", "VICTIMS", "NEW", "GONE", "JOBS WAITING"), heads, "Runs")
    settings = [(one["kind"], one["name"], one["field"], *brief(*one["values"])) for one in found["settings"]]
    yield Table(("KIND", "NAME", "FIELD", *letters), settings, "Settings that differ", "Same settings.")
    for kind, head, cell, title, empty in (
        ("queues", "QUEUE", _queue_cell, "Queues whose share differs", "Same figures for every queue."),
        ("victims", "POD", _victim_cell, "Victims that differ", "Same victims."),
        ("jobs", "JOB", _job_cell, "Jobs with a different outcome", "Every job has the same outcome."),
    ):
        rows = [(line["name"], *map(cell, line["runs"])) for line in found[kind] if line["differs"]]
        yield Table((head, *letters), rows, title, empty)


def _queue_cell(held: Mapping[str, Any] | None) -> str:
    return percent(held["share"]) if held else "absent"


def _victim_cell(held: Mapping[str, Any] | None) -> str:
    return "evicted" if held else "not evicted"


def _job_cell(held: Mapping[str, Any] | None) -> str:
    return f"{held['pending']} of {held['pods']} pods wait" if held else "absent"


def _with_outcome(desk: Desk, run: Json) -> Json:
    """Return a run with its victims and with the jobs that wait; one that failed has neither."""
    if run["state"] != "succeeded":
        return {**run, "victims": [], "waiting": []}
    waiting = [job for job in desk.run_jobs(run["id"]) if job["pending"]]
    return {**run, "victims": desk.run_victims(run["id"]), "waiting": waiting}


STORIES: Mapping[str, tuple[Callable[[Json, Json, str], Json], Callable[[Json], Iterator[str]]]] = {
    "job": (job_story, text.job_lines),
    "queue": (queue_story, text.queue_lines),
    "pod": (pod_story, text.pod_lines),
    "node": (node_story, text.node_lines),
}
"""Of each thing that can be explained: its story, and how it is told."""
