"""What does each command ask for, and how is its answer told?"""

import argparse
import json
import time
import webbrowser
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import manifests
from queuecast.client import Client
from queuecast.desk import Desk, Json
from queuecast.jobs import job_manifest
from queuecast.lint import conf_findings, plan_findings
from queuecast.plans import Refused, contents
from queuecast.shown import Table, Told, amounts, percent, problems
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

Command = Callable[[Desk, argparse.Namespace], Told]

NO = 1
"""The exit code of a command whose answer is no: a run failed, a lint found an error, nobody decided."""


def import_cluster(desk: Desk, asked: argparse.Namespace) -> Told:
    """Read a cluster from files, or through the user's kubeconfig."""
    if asked.cluster:
        from queuecast.live import cluster_files  # the Kubernetes client is optional

        files = cluster_files(kubeconfig=asked.kubeconfig, context=asked.context)
        name = asked.name or asked.context or "cluster"
    else:
        files = contents(asked.files)
        name = asked.name or (asked.files[0].name.partition(".")[0] if asked.files else "")
    if not files:
        raise Refused(["Name files, or use --cluster to read the live cluster of your kubeconfig."])
    with progress_line(f"import {name}") as progress:
        snapshot = desk.import_files(files, name=name, progress=progress)
    held = ", ".join(f"{count} {kind}" for kind, count in snapshot["counts"].items() if count)
    return Told(snapshot, [f"Snapshot {snapshot['id']}: {held}", problems(snapshot["problems"])])


def scenario_list(desk: Desk, asked: argparse.Namespace) -> Told:
    """List scenarios, last changed first."""
    return _scenarios(desk.scenarios())


def scenario_create(desk: Desk, asked: argparse.Namespace) -> Told:
    """Create a scenario on a snapshot."""
    return _scenarios(desk.scenario_create(asked.snapshot, asked.name))


def scenario_branch(desk: Desk, asked: argparse.Namespace) -> Told:
    """Branch a scenario."""
    return _scenarios(desk.scenario_branch(asked.scenario, asked.name))


def scenario_remove(desk: Desk, asked: argparse.Namespace) -> Told:
    """Remove a scenario with its runs."""
    desk.scenario_remove(asked.scenario)
    return Told({"removed": asked.scenario}, [f"{asked.scenario} was removed."])


def delete(desk: Desk, asked: argparse.Namespace) -> Told:
    """Delete a cluster, snapshot, run or workspace with everything that depends on it."""
    if not isinstance(desk, Client):
        raise Refused(["delete requires a server; with --local delete the file in the folder."])
    depending = desk.delete(f"{asked.kind}s", asked.name, dry_run=asked.dry_run)
    counts = ", ".join(f"{kind}: {count}" for kind, count in depending.items()) or "nothing else"
    line = f"{asked.name} {'would be' if asked.dry_run else 'was'} deleted. With it: {counts}"
    return Told({"deleted": not asked.dry_run, "with": depending}, [line])


def scenario_diff(desk: Desk, asked: argparse.Namespace) -> Told:
    """Show what differs from the snapshot."""
    found = desk.scenario_diff(asked.scenario)
    rows = [(one["kind"], one["name"], one["field"], *_shown(one["before"], one["after"])) for one in found]
    return Told(found, [Table(("KIND", "NAME", "FIELD", "BEFORE", "AFTER"), rows, empty="No difference.")])


def scenario_rebase(desk: Desk, asked: argparse.Namespace) -> Told:
    """Rebase a scenario onto a newer snapshot."""
    if not isinstance(desk, Client):
        raise Refused(["rebase requires a server; it does not work with --local."])
    found = desk.scenario_conflicts(asked.scenario, asked.snapshot)
    conflicts = found["conflicts"]
    if asked.dry_run or (conflicts and not asked.take):
        undecided = bool(conflicts) and not asked.take
        return Told(found, list(_carried(found, undecided)), code=NO if undecided else 0)
    choices = [{part: one[part] for part in _DECIDES} | {"take": asked.take} for one in conflicts]
    made = desk.scenario_rebase(asked.scenario, asked.snapshot, choices, revision=found["revision"])
    return _scenarios(made)


_DECIDES = ("kind", "key", "field")


def _carried(found: Json, undecided: bool) -> Iterator[Table | str]:
    rows = [
        (one["kind"], one["key"], one["field"], *_shown(one["base"], one["ours"], one["theirs"]))
        for one in found["conflicts"]
    ]
    columns = ("KIND", "NAME", "FIELD", "BASE", "OURS", "THEIRS")
    yield Table(columns, rows, "Conflicts" if rows else "", "No conflict.")
    if found["problems"]:
        yield problems(found["problems"])
    if undecided:
        yield "Nothing was saved: choose --take ours (the scenario's) or --take theirs (the snapshot's)."


def scenario_export(desk: Desk, asked: argparse.Namespace) -> Told:
    """Write what to apply to the cluster, as YAML."""
    text = desk.scenario_export(asked.scenario)
    return Told({"text": text}, [text])


def queue_list(desk: Desk, asked: argparse.Namespace) -> Told:
    """List the queues of a scenario."""
    return _queues(desk.queues(asked.scenario))


def queue_set(desk: Desk, asked: argparse.Namespace) -> Told:
    """Change fields of a queue."""
    return _queues(desk.queue_set(asked.scenario, asked.queue, patch_of(asked.fields)))


def conf_lint(desk: Desk, asked: argparse.Namespace) -> Told:
    """Check a scheduler configuration."""
    return _checked(conf_findings(_text(asked.file)))


def lint(desk: Desk, asked: argparse.Namespace) -> Told:
    """Check a plan in files: what Volcano refuses, and what it accepts although it is harmful."""
    return _checked(plan_findings(contents(asked.files)))


def _checked(found: list[Json]) -> Told:
    wrong = any(one["severity"] == "error" for one in found)
    return Told(found, [problems(found) if found else "No problems found."], code=NO if wrong else 0)


def conf_set(desk: Desk, asked: argparse.Namespace) -> Told:
    """Replace the scheduler configuration of a scenario."""
    found = desk.conf_set(asked.scenario, _text(asked.file))
    return Told(found, [problems(found) if found else "Saved."])


def conf_patch(desk: Desk, asked: argparse.Namespace) -> Told:
    """Edit the scheduler configuration of a scenario by a JSON patch; other lines stay as they are."""
    try:
        operations = json.loads(_text(asked.file))
    except ValueError as error:
        raise Refused([f"{asked.file}: {error}"]) from None
    found = desk.conf_patch(asked.scenario, operations)
    return Told(found, [problems(found) if found else "Saved."])


def job_add(desk: Desk, asked: argparse.Namespace) -> Told:
    """Add a job to a scenario: a manifest, or one built from the options."""
    text = _text(asked.file) if asked.file else manifests.dump(job_manifest(asked))
    added = desk.job_add(asked.scenario, text)
    return Told(added, [Table(("ADDED",), [(name,) for name in added])])


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
        raise Refused([f"Run {asked.run}: {error}."]) from None
    return Told(told, ["\n".join(said)], notes=result["notes"])


def _notes(runs: Sequence[Json]) -> list[str]:
    """Return what runs leave out and assume; one without a result has no notes yet."""
    return [note for run in runs for note in run.get("notes", ())]


def open_page(desk: Desk, asked: argparse.Namespace) -> Told:
    """Open the page of a scenario or a run in the browser."""
    if not isinstance(desk, Client):
        raise Refused(["open requires a server; files have no pages."])
    address = desk.page(asked.kind, asked.name)
    if not asked.print:
        webbrowser.open(address)
    return Told({"address": address}, [address])


def patch_of(fields: Sequence[str]) -> Json:
    """Return the merge patch that ``field=value`` words spell; an empty value removes the field.

    >>> patch_of(["weight=4", "capability.cpu=8", "reclaimable=false", "parent="])
    {'weight': 4, 'capability': {'cpu': '8'}, 'reclaimable': False, 'parent': None}
    >>> patch_of(["guarantee.nvidia.com/gpu=2"])
    {'guarantee': {'resource': {'nvidia.com/gpu': '2'}}}
    """
    patch: Json = {}
    for word in fields:
        way, equals, text = word.partition("=")
        if not equals:
            raise Refused([f"{word!r} is not field=value."])
        field, _, inner = way.partition(".")
        if not inner:
            patch[field] = _typed(field, text)
        elif field == "guarantee":
            patch.setdefault("guarantee", {"resource": {}})["resource"][inner] = _typed(field, text)
        else:
            patch.setdefault(field, {})[inner] = _typed(field, text)
    return patch


def _typed(field: str, text: str) -> Any:
    if text == "":
        return None
    if field in ("weight", "priority") and text.lstrip("-").isdecimal():
        return int(text)
    if field == "reclaimable" and text in ("true", "false"):
        return text == "true"
    return text


def _scenarios(found: Json | list[Json]) -> Told:
    rows = found if isinstance(found, list) else [found]
    table = Table(
        ("ID", "NAME", "REVISION", "SNAPSHOT"),
        [(one["id"], one["name"], one["revision"], one["snapshot"]) for one in rows],
        empty="No scenario yet: queuecast scenario create NAME --snapshot SNAPSHOT",
    )
    return Told(found, [table])


def _queues(found: Json | list[Json]) -> Told:
    rows = [
        (
            one["name"], one.get("parent"), one.get("weight"), one.get("reclaimable"),
            _quantities((one.get("guarantee") or {}).get("resource")),
            _quantities(one.get("deserved")), _quantities(one.get("capability")),
        )
        for one in (found if isinstance(found, list) else [found])
    ]  # fmt: skip
    columns = ("QUEUE", "PARENT", "WEIGHT", "RECLAIMABLE", "GUARANTEE", "DESERVED", "CAPABILITY")
    return Told(found, [Table(columns, rows)])


def _quantities(held: Mapping[str, Any] | None) -> str:
    return " ".join(f"{name}={quantity}" for name, quantity in (held or {}).items())


def _text(path: Path) -> str:
    ((name, content),) = contents([path])
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise Refused([f"{name} is not UTF-8 text."]) from None


def _comparison(found: Json) -> Iterator[Table]:
    letters = [chr(ord("A") + place) for place in range(len(found["runs"]))]
    facts = ("id", "bound", "victims_committed", "victims_new", "victims_gone", "jobs_pending")
    heads = [
        (letter, *(one[fact] for fact in facts)) for letter, one in zip(letters, found["runs"], strict=True)
    ]
    yield Table(("", "RUN", "PLACED", "VICTIMS", "NEW", "GONE", "JOBS WAITING"), heads, "Runs")
    settings = [
        (one["kind"], one["name"], one["field"], *_shown(*one["values"])) for one in found["settings"]
    ]
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


def _shown(*values: Any) -> list[Any]:
    """Return values for cells; a whole object, or a text of many lines, is only there or not."""
    return ["present" if isinstance(value, Mapping) or "\n" in str(value) else value for value in values]


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
