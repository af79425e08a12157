"""What does each command about clusters, scenarios and their parts ask for, and how is its answer told?"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import manifests
from queuecast.client import Client
from queuecast.desk import Desk, Files, Json
from queuecast.exported import missing, unexported, written
from queuecast.jobs import job_manifest
from queuecast.lint import conf_file_findings, conf_text, plan_findings
from queuecast.plan_commands import exported_plan
from queuecast.plans import contents, new_problems
from queuecast.problems import Refused, errors_of
from queuecast.shown import Table, Told, brief, problems
from queuecast.terminal import progress_line

Command = Callable[[Desk, argparse.Namespace], Told]

NO = 1
"""The exit code of a command whose answer is no: a run failed, a lint found an error, nobody decided."""
STDIN = Path("-")


def import_cluster(desk: Desk, asked: argparse.Namespace) -> Told:
    """Read a cluster from files, or through the user's kubeconfig."""
    if asked.cluster:
        from queuecast.live import cluster_files  # the Kubernetes client is optional

        files, notes = cluster_files(
            kubeconfig=asked.kubeconfig, context=asked.context, config_map=asked.config_map
        )
        name = asked.name or asked.context or "cluster"
    else:
        files, notes = _inputs(asked.files), []
        name = asked.name or (asked.files[0].name.partition(".")[0] if asked.files else "")
    if not files:
        raise Refused("Name files, or use --cluster to read the live cluster of your kubeconfig.")
    with progress_line(f"import {name}") as progress:
        snapshot = desk.import_files(files, name=name, progress=progress, dry_run=asked.dry_run)
    held = ", ".join(f"{count} {kind}" for kind, count in snapshot["counts"].items() if count)
    head = f"Nothing was saved: {held}" if asked.dry_run else f"Snapshot {snapshot['id']}: {held}"
    return Told(snapshot, [head, problems(snapshot["problems"])], notes=notes)


def snapshot_list(desk: Desk, asked: argparse.Namespace) -> Told:
    """List snapshots, newest first."""
    found = desk.snapshots()
    rows = [
        (
            one["id"],
            one["name"],
            one["counts"].get("nodes"),
            one["counts"].get("queues"),
            one["counts"].get("pods"),
        )
        for one in found
    ]
    columns = ("ID", "NAME", "NODES", "QUEUES", "PODS")
    return Told(found, [Table(columns, rows, empty="No snapshot yet: queuecast import FILE…")])


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
        raise Refused("delete requires a server; with --local delete the file in the folder.")
    depending = desk.delete(f"{asked.kind}s", asked.name, dry_run=asked.dry_run)
    counts = ", ".join(f"{kind}: {count}" for kind, count in depending.items()) or "nothing else"
    line = f"{asked.name} {'would be' if asked.dry_run else 'was'} deleted. With it: {counts}"
    return Told({"deleted": not asked.dry_run, "with": depending}, [line])


def scenario_diff(desk: Desk, asked: argparse.Namespace) -> Told:
    """Show what differs from the snapshot."""
    found = desk.scenario_diff(asked.scenario)
    rows = [(one["kind"], one["name"], one["field"], *brief(one["before"], one["after"])) for one in found]
    return Told(found, [Table(("KIND", "NAME", "FIELD", "BEFORE", "AFTER"), rows, empty="No difference.")])


def scenario_rebase(desk: Desk, asked: argparse.Namespace) -> Told:
    """Rebase a scenario onto a newer snapshot."""
    if not isinstance(desk, Client):
        raise Refused("rebase requires a server; it does not work with --local.")
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
        (one["kind"], one["key"], one["field"], *brief(one["base"], one["ours"], one["theirs"]))
        for one in found["conflicts"]
    ]
    columns = ("KIND", "NAME", "FIELD", "BASE", "OURS", "THEIRS")
    yield Table(columns, rows, "Conflicts" if rows else "", "No conflict.")
    if found["problems"]:
        yield problems(found["problems"])
    if undecided:
        yield "Nothing was saved: choose --take ours (the scenario's) or --take theirs (the snapshot's)."


def scenario_export(desk: Desk, asked: argparse.Namespace) -> Told:
    """Write what makes the cluster the scenario: manifests, or a script."""
    if asked.form == "plan":
        plan, left = exported_plan(desk, asked.scenario)
        return Told(plan, [manifests.dump(plan)], code=NO if left else 0, notes=left)
    export = desk.scenario_export(asked.scenario)
    left = missing(export, asked.form)
    notes = [*left, *unexported(desk.scenario_diff(asked.scenario))]
    return Told(export, [written(export, asked.form)], code=NO if left else 0, notes=notes)


def scenario_validate(desk: Desk, asked: argparse.Namespace) -> Told:
    """Show every problem of a scenario, errors first."""
    return _checked(desk.scenario_problems(asked.scenario))


def queue_list(desk: Desk, asked: argparse.Namespace) -> Told:
    """List the queues of a scenario."""
    return _queues(desk.queues(asked.scenario))


def queue_set(desk: Desk, asked: argparse.Namespace) -> Told:
    """Change fields of a queue."""
    patch = patch_of(asked.fields)
    return _edited(desk, asked, lambda: desk.queue_set(asked.scenario, asked.queue, patch), _queues)


def queue_add(desk: Desk, asked: argparse.Namespace) -> Told:
    """Add a queue."""
    fields = {"name": asked.queue, **patch_of(asked.fields)}
    return _edited(desk, asked, lambda: desk.queue_add(asked.scenario, fields), _queues)


def queue_remove(desk: Desk, asked: argparse.Namespace) -> Told:
    """Remove a queue; its jobs stay and find no queue."""

    def remove() -> Json:
        desk.queue_remove(asked.scenario, asked.queue, subtree=asked.subtree)
        return {"removed": asked.queue}

    return _edited(desk, asked, remove, lambda done: Told(done, [f"{asked.queue} was removed."]))


def _edited(
    desk: Desk, asked: argparse.Namespace, edit: Callable[[], Json], tell: Callable[[Json], Told]
) -> Told:
    """Make an edit and say with it which problems the scenario has since."""
    before = desk.scenario_problems(asked.scenario)
    done = tell(edit())
    found = new_problems(before, desk.scenario_problems(asked.scenario))
    return Told({**done.data, "problems": found}, [*done.parts, problems(found) if found else ""])


def conf_lint(desk: Desk, asked: argparse.Namespace) -> Told:
    """Check a scheduler configuration: its own text, or the ConfigMap that holds it."""
    ((label, content),) = _inputs([asked.file])
    return _checked(conf_file_findings(label, content))


def lint(desk: Desk, asked: argparse.Namespace) -> Told:
    """Check a plan in files: what Volcano refuses, and what it accepts although it is harmful."""
    return _checked(plan_findings(_inputs(asked.files)))


def _checked(found: list[Json]) -> Told:
    return Told(
        found, [problems(found) if found else "No problems found."], code=NO if errors_of(found) else 0
    )


def conf_set(desk: Desk, asked: argparse.Namespace) -> Told:
    """Replace the scheduler configuration of a scenario: by its text, or by the ConfigMap that holds it."""
    ((label, content),) = _inputs([asked.file])
    text = conf_text(label, content)
    try:
        found = desk.conf_set(asked.scenario, text)
    except Refused as refused:
        raise refused.in_file(label) from None
    return Told(found, [problems(found) if found else "Saved."])


def conf_patch(desk: Desk, asked: argparse.Namespace) -> Told:
    """Edit the scheduler configuration of a scenario by a JSON patch; other lines stay as they are."""
    try:
        operations = json.loads(_text(asked.file))
    except ValueError as error:
        raise Refused(f"{asked.file}: {error}") from None
    found = desk.conf_patch(asked.scenario, operations)
    return Told(found, [problems(found) if found else "Saved."])


def job_add(desk: Desk, asked: argparse.Namespace) -> Told:
    """Add a job to a scenario: a manifest, or one built from the options."""
    if asked.file and asked.name:
        raise Refused("Give --file or a name, not both: the manifest names its job itself.")
    text = _text(asked.file) if asked.file else manifests.dump(job_manifest(asked))

    def add() -> Json:
        return {"added": desk.job_add(asked.scenario, text)}

    def tell(done: Json) -> Told:
        return Told(done, [Table(("ADDED",), [(name,) for name in done["added"]])])

    return _edited(desk, asked, add, tell)


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
            raise Refused(f"{word!r} is not field=value.")
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


def _inputs(paths: Sequence[Path]) -> Files:
    """Return files by name; `-` is standard input."""
    return [
        ("standard input", sys.stdin.buffer.read()) if path == STDIN else contents([path])[0]
        for path in paths
    ]


def _text(path: Path) -> str:
    ((name, content),) = _inputs([path])
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise Refused(f"{name} is not UTF-8 text.") from None
