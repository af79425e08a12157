"""Commands about clusters, scenarios and jobs."""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import manifests
from queuecast.backend import Backend, Files, Json
from queuecast.client import Client, on_server
from queuecast.conf_files import conf_text
from queuecast.jobs import job_fields
from queuecast.plans import contents, new_problems
from queuecast.problems import Refused, errors_of
from queuecast.shown import Output, Table, brief, problems
from queuecast.terminal import progress_line

NO = 1
"""The exit code of a negative answer: a failed run, a lint error, an undecided conflict."""
STDIN = Path("-")


def import_cluster(backend: Backend, args: argparse.Namespace) -> Output:
    """Read a cluster from files, or through the user's kubeconfig."""
    if args.cluster:
        from queuecast.live import cluster_files  # the Kubernetes client is optional

        files, notes = cluster_files(
            kubeconfig=args.kubeconfig, context=args.kube_context, config_map=args.config_map
        )
        name = args.name or args.kube_context or "cluster"
    else:
        files, notes = _inputs(args.files), []
        name = args.name or (args.files[0].name.partition(".")[0] if args.files else "")
    if not files:
        raise Refused("Name files, or use --cluster to read the live cluster of your kubeconfig.")
    with progress_line(f"import {name}") as progress:
        snapshot = backend.import_files(files, name=name, progress=progress, dry_run=args.dry_run)
    held = ", ".join(f"{count} {kind}" for kind, count in snapshot["counts"].items() if count)
    head = f"Nothing was saved: {held}" if args.dry_run else f"Snapshot {snapshot['id']}: {held}"
    return Output(snapshot, [head, problems(snapshot["problems"])], notes=notes)


def snapshot_list(backend: Backend, args: argparse.Namespace) -> Output:
    """List snapshots, newest first."""
    found = backend.snapshots()
    rows = [
        (
            one["id"],
            one["name"],
            one["counts"].get("nodes"),
            one["counts"].get("queues"),
            one["counts"].get("pods"),
            one.get("created"),
            one.get("cluster"),
        )
        for one in found
    ]
    columns = ("ID", "NAME", "NODES", "QUEUES", "PODS", "CREATED", "CLUSTER")
    return Output(found, [Table(columns, rows, empty="No snapshot yet: queuecast import FILE…", wide=2)])


def scenario_list(backend: Backend, args: argparse.Namespace) -> Output:
    """List scenarios, last changed first."""
    return scenarios(backend.scenarios())


def scenario_create(backend: Backend, args: argparse.Namespace) -> Output:
    """Create a scenario on a snapshot."""
    return scenarios(backend.scenario_create(args.snapshot, args.name))


def scenario_branch(backend: Backend, args: argparse.Namespace) -> Output:
    """Branch a scenario."""
    return scenarios(backend.scenario_branch(args.scenario, args.name))


def scenario_remove(backend: Backend, args: argparse.Namespace) -> Output:
    """Remove a scenario with its runs."""
    backend.scenario_remove(args.scenario)
    return Output({"removed": args.scenario}, [f"{args.scenario} was removed."])


def delete(backend: Backend, args: argparse.Namespace) -> Output:
    """Delete a cluster, snapshot, run, forecast, experiment or workspace with all that depends on it."""
    if not isinstance(backend, Client):
        raise Refused("delete requires a server; with --local delete the file in the folder.")
    depending = backend.delete(f"{args.kind}s", args.name, dry_run=args.dry_run)
    counts = ", ".join(f"{kind}: {count}" for kind, count in depending.items()) or "nothing else"
    line = f"{args.name} {'would be' if args.dry_run else 'was'} deleted. With it: {counts}"
    return Output({"deleted": not args.dry_run, "with": depending}, [line])


def scenario_diff(backend: Backend, args: argparse.Namespace) -> Output:
    """Show what differs from the snapshot."""
    found = backend.scenario_diff(args.scenario)
    rows = [(one["kind"], one["name"], one["field"], *brief(one["before"], one["after"])) for one in found]
    table = Table(("KIND", "NAME", "FIELD", "BEFORE", "AFTER"), rows, empty="No difference.")
    return Output(found, [table], code=NO if found and args.exit_code else 0)


def scenario_rebase(backend: Backend, args: argparse.Namespace) -> Output:
    """Rebase a scenario onto a newer snapshot."""
    client = on_server(backend, "rebase")
    found = client.scenario_conflicts(args.scenario, args.snapshot)
    conflicts = found["conflicts"]
    if args.dry_run or (conflicts and not args.take):
        undecided = bool(conflicts) and not args.take
        return Output(found, list(_carried(found, undecided)), code=NO if undecided else 0)
    choices = [{part: one[part] for part in _DECIDES} | {"take": args.take} for one in conflicts]
    with progress_line(f"rebase {args.scenario}") as progress:
        made = client.scenario_rebase(
            args.scenario, args.snapshot, choices, revision=found["revision"], progress=progress
        )
    return scenarios(made)


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


def scenario_export(backend: Backend, args: argparse.Namespace) -> Output:
    """Write what turns the cluster into the scenario: manifests, a script, or a plan."""
    from queuecast.exported import missing, removed_fields, unexported, written  # with the core
    from queuecast.plan_commands import exported_plan

    if args.form == "plan":
        plan, left = exported_plan(backend, args.scenario)
        return Output(plan, [manifests.dump(plan)], code=NO if left else 0, notes=left)
    export = backend.scenario_export(args.scenario)
    left = missing(export, args.form)
    notes = [*left, *removed_fields(export), *unexported(backend.scenario_diff(args.scenario))]
    return Output(export, [written(export, args.form)], code=NO if left else 0, notes=notes)


def scenario_validate(backend: Backend, args: argparse.Namespace) -> Output:
    """Show every problem of a scenario, errors first."""
    return _checked(backend.scenario_problems(args.scenario))


def edited(
    backend: Backend, args: argparse.Namespace, edit: Callable[[], Json], tell: Callable[[Json], Output]
) -> Output:
    """Make an edit or its dry run, and report the problems that it causes."""
    before = backend.scenario_problems(args.scenario)
    body = edit()
    if args.try_only and isinstance(backend, Client):
        found = body.get("problems", [])
    else:
        found = new_problems(before, backend.scenario_problems(args.scenario))
    done = tell(body)
    return Output({**done.data, "problems": found}, [*done.parts, problems(found) if found else ""])


def conf_lint(backend: Backend, args: argparse.Namespace) -> Output:
    """Check a scheduler configuration: its own text, or the ConfigMap that contains it."""
    from queuecast.lint import conf_file_findings  # with the core

    ((label, content),) = _inputs([args.file])
    return _checked(conf_file_findings(label, content))


def lint(backend: Backend, args: argparse.Namespace) -> Output:
    """Check a plan in files: what Volcano refuses, and what it accepts although it is harmful."""
    from queuecast.lint import plan_findings  # with the core

    return _checked(plan_findings(_inputs(args.files)))


def _checked(found: list[Json]) -> Output:
    return Output(
        found, [problems(found) if found else "No problems found."], code=NO if errors_of(found) else 0
    )


def conf_set(backend: Backend, args: argparse.Namespace) -> Output:
    """Replace the scheduler configuration of a scenario by a text, or by the ConfigMap that contains it."""
    ((label, content),) = _inputs([args.file])
    text = conf_text(label, content)
    try:
        found = backend.conf_set(args.scenario, text)
    except Refused as refused:
        raise refused.in_file(label) from None
    return _conf_saved(found, args)


def conf_patch(backend: Backend, args: argparse.Namespace) -> Output:
    """Edit the scheduler configuration of a scenario by a JSON patch; other lines are unchanged."""
    try:
        operations = json.loads(_text(args.file))
    except ValueError as error:
        raise Refused(f"{args.file}: {error}") from None
    found = backend.conf_patch(args.scenario, operations)
    return _conf_saved(found, args)


def _conf_saved(found: list[Json], args: argparse.Namespace) -> Output:
    done = "Accepted." if args.try_only else "Saved."
    return Output(found, [problems(found) if found else done])


def job_add(backend: Backend, args: argparse.Namespace) -> Output:
    """Add a job to a scenario: a manifest, or one with the fields of the options."""
    if args.file and args.name:
        raise Refused("Give --file or a name, not both: the manifest names its job itself.")

    def add() -> Json:
        if args.file:
            return {"added": backend.job_add(args.scenario, _text(args.file))}
        return {"added": backend.job_create(args.scenario, job_fields(args))}

    def tell(done: Json) -> Output:
        return Output(done, [Table(("ADDED",), [(name,) for name in done["added"]])])

    return edited(backend, args, add, tell)


def scenarios(found: Json | list[Json]) -> Output:
    """Return the table of one or several scenarios."""
    rows = found if isinstance(found, list) else [found]
    table = Table(
        ("ID", "NAME", "REVISION", "SNAPSHOT", "PARENT", "UPDATED"),
        [
            (one["id"], one["name"], one["revision"], one["snapshot"], one.get("parent"), one.get("updated"))
            for one in rows
        ],
        empty="No scenario yet: queuecast scenario create NAME --snapshot SNAPSHOT",
        wide=2,
    )
    return Output(found, [table])


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
