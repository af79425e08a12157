"""Commands about runs."""

import argparse
import time
import webbrowser
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from queuecast.backend import Backend, Json, Progress
from queuecast.client import on_server
from queuecast.connection import OVER
from queuecast.problems import unknown
from queuecast.shown import Output, Table, amounts, brief, percent
from queuecast.terminal import progress_line, watched_lines

NO = 1
"""The exit code of a negative answer: a failed run, a failed check, an undecided conflict."""
FINISHED = "finished"
"""The default of `wait`: any final state."""
STATES = (FINISHED, *OVER)
DECISION_FILTERS = ("job", "pod", "node", "action", "op")


def run(backend: Backend, args: argparse.Namespace) -> Output:
    """Run scenarios in parallel and wait for all of them."""
    started = [backend.run_start(name, cycles=args.cycles) for name in args.scenarios]
    if args.no_wait:
        return Output(started, [Table(("RUN", "STATE"), [(one["id"], one["state"]) for one in started])])
    over = []
    for number, one in enumerate(started, 1):
        with _progress(f"run {number} of {len(started)}", is_watched=args.watch) as progress:
            over.append(backend.run_wait(one["id"], progress))
    bodies = [_with_outcome(backend, one) for one in over]
    rows = [
        (one["id"], name, one["state"], len(one["victims"]), len(one["waiting"]), one.get("error"))
        for name, one in zip(args.scenarios, bodies, strict=True)
    ]
    columns = ("RUN", "SCENARIO", "STATE", "VICTIMS", "JOBS WAITING", "ERROR")
    failed = any(one["state"] != "succeeded" for one in over)
    victims = [_victims(body["victims"], f"Victims of {body['id']}") for body in bodies if args.watch]
    return Output(bodies, [Table(columns, rows), *victims], code=NO if failed else 0, notes=_notes(over))


def run_list(backend: Backend, args: argparse.Namespace) -> Output:
    """List runs, newest first, of all scenarios or of one."""
    found = backend.runs(args.scenario)
    names = {one["id"]: one["name"] for one in backend.scenarios()}
    rows = [
        (
            one["id"], names.get(one["scenario"], one["scenario"]), one["scenario_revision"], one["state"],
            one.get("created"), one.get("owner"),
        )
        for one in found
    ]  # fmt: skip
    columns = ("RUN", "SCENARIO", "REVISION", "STATE", "CREATED", "BY")
    return Output(found, [Table(columns, rows, empty="No run yet: queuecast run SCENARIO", wide=2)])


def wait(backend: Backend, args: argparse.Namespace) -> Output:
    """Wait until runs are finished, or until they reach a state; exits with 1 if one does not."""
    end = time.monotonic() + args.timeout
    over = []
    for number, name in enumerate(args.runs, 1):
        with progress_line(f"run {number} of {len(args.runs)}") as progress:
            over.append(backend.run_wait(name, progress, seconds=max(0.0, end - time.monotonic())))
    rows = [(one["id"], one["state"], one.get("error")) for one in over]
    wanted = OVER if args.state == FINISHED else (args.state,)
    reached = all(one["state"] in wanted for one in over)
    return Output(
        over, [Table(("RUN", "STATE", "ERROR"), rows)], code=0 if reached else NO, notes=_notes(over)
    )


def cancel(backend: Backend, args: argparse.Namespace) -> Output:
    """Cancel a queued run at once, signal a running one to stop."""
    found = on_server(backend, "cancel").run_cancel(args.run)
    return Output(found, [Table(("RUN", "STATE"), [(found["id"], found["state"])])])


def jobs_of_run(backend: Backend, args: argparse.Namespace) -> Output:
    """Show the result of a run for each job: pods, which of them wait, and what stopped the job."""
    found = backend.run_jobs(args.run)
    rows = [
        (one["job"], one["queue"], one["pods"], one["pending"], one["ready"], one["gate"], one["message"])
        for one in found
        if _waits(one) or not args.pending
    ]
    columns = ("JOB", "QUEUE", "PODS", "PENDING", "READY", "GATE", "MESSAGE")
    return Output(found, [Table(columns, rows, empty="No job.", wide=1)])


def victims(backend: Backend, args: argparse.Namespace) -> Output:
    """Show which pods a run evicts, for which pod, by which action."""
    found = backend.run_victims(args.run)
    return Output(found, [_victims(found)])


def _victims(found: Sequence[Json], title: str = "") -> Table:
    facts = ("pod", "queue", "for_pod", "action", "state", "job", "node", "for_queue", "cycle")
    columns = ("POD", "QUEUE", "FOR POD", "ACTION", "STATE", "JOB", "NODE", "FOR QUEUE", "CYCLE")
    rows = [tuple(one.get(fact) for fact in facts) for one in found]
    return Table(columns, rows, title if rows else "", empty="No pod is evicted.", wide=4)


def decisions(backend: Backend, args: argparse.Namespace) -> Output:
    """Show the steps of a run in the order taken."""
    filters = {name: value for name in DECISION_FILTERS if (value := getattr(args, name))}
    if args.job:
        filters["job"] = job_key(backend, args.run, args.job)
    found = backend.run_decisions(args.run, **filters)
    facts = ("seq", "cycle", "action", "op", "pod", "node", "for_pod", "state", "job", "reason")
    columns = ("STEP", "CYCLE", "ACTION", "OP", "POD", "NODE", "FOR POD", "STATE", "JOB", "REASON")
    rows = [tuple(one[fact] for fact in facts) for one in found]
    return Output(found, [Table(columns, rows, empty="No decision.", wide=2)])


def queues_of_run(backend: Backend, args: argparse.Namespace) -> Output:
    """Show the result of a run for each queue."""
    found = backend.run_queues(args.run)
    rows = [
        (
            one["queue"], amounts(one["deserved"]), amounts(one["allocated"]), percent(one["share"]),
            amounts(one.get("request")), amounts(one.get("real_capability")), one.get("weight"),
        )
        for one in found
    ]  # fmt: skip
    columns = ("QUEUE", "DESERVED", "ALLOCATED", "SHARE", "REQUEST", "REAL CAPABILITY", "WEIGHT")
    return Output(found, [Table(columns, rows, wide=3)])


def compare(backend: Backend, args: argparse.Namespace) -> Output:
    """Show runs side by side, differences first."""
    found = backend.compare(args.runs)
    return Output(found, list(_comparison(found)), notes=_notes(found["runs"]))


def job_key(backend: Backend, run: str, name: str) -> str:
    """Return the name of a job in a run: its PodGroup; a vcjob is found by its own name as well."""
    spelled = name if "/" in name else f"default/{name}"
    known = [str(one["job"]) for one in backend.run_jobs(run)]
    if spelled in known:
        return spelled
    from scheduler_core.explain import podgroup_keys

    document, _ = backend.run_documents(run)
    found = next((key for key in podgroup_keys(document, spelled) if key in known), None)
    if found is None:
        raise unknown("job", name, known, where="in the run")
    return found


def _progress(what: str, *, is_watched: bool) -> AbstractContextManager[Progress | None]:
    return watched_lines(what) if is_watched else progress_line(what)


def _notes(runs: Sequence[Json]) -> list[str]:
    """Return what runs do not model and assume; a run without a result has no notes yet."""
    return [note for run in runs for note in run.get("notes", ())]


def open_page(backend: Backend, args: argparse.Namespace) -> Output:
    """Open the page of a scenario or a run in the browser."""
    address = on_server(backend, "open").page(args.kind, args.name)
    if not args.print:
        webbrowser.open(address)
    return Output({"address": address}, [address])


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
        ("queues", "QUEUE", _queue_cell, "Queues that differ: share", "Same figures for every queue."),
        ("victims", "POD", _victim_cell, "Victims that differ", "Same victims."),
        ("jobs", "JOB", _job_cell, "Jobs with a different outcome", "Every job has the same outcome."),
    ):
        rows = [(line["name"], *map(cell, line["runs"])) for line in found[kind] if line["differs"]]
        yield Table((head, *letters), rows, title, empty)


def _queue_cell(held: Mapping[str, Any] | None) -> str:
    return percent(held["share"]) if held else "absent"


def _victim_cell(held: Mapping[str, Any] | None) -> str:
    if not held:
        return "not evicted"
    purpose = held.get("for_job") or held["for_pod"]
    return f"evicted for {purpose}" if purpose else "evicted"


def _job_cell(held: Mapping[str, Any] | None) -> str:
    if not held:
        return "absent"
    has_none = _waits(held) and not held["pods"]
    return "waits for its first pods" if has_none else f"{held['pending']} of {held['pods']} pods wait"


def _with_outcome(backend: Backend, run: Json) -> Json:
    """Return a run with its victims and waiting jobs; a failed run has neither."""
    if run["state"] != "succeeded":
        return {**run, "victims": [], "waiting": []}
    waiting = [job for job in backend.run_jobs(run["id"]) if _waits(job)]
    return {**run, "victims": backend.run_victims(run["id"]), "waiting": waiting}


def _waits(job: Mapping[str, Any]) -> bool:
    """Return whether a job of a run waits; older servers name its waiting pods only."""
    return bool(job.get("waits", job["pending"]))
