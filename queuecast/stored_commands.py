"""Commands about clusters, imports, labels, audit and prices on a server."""

import argparse
from typing import Any

from queuecast.backend import Backend, Json
from queuecast.client import on_server
from queuecast.problems import Refused
from queuecast.shown import Output, Table, brief


def cluster_list(backend: Backend, args: argparse.Namespace) -> Output:
    """List the clusters whose snapshots the server stores."""
    found = on_server(backend, "cluster").clusters()
    rows = [(one["id"], one["name"], one["created"]) for one in found]
    return Output(
        found, [Table(("ID", "NAME", "CREATED"), rows, empty="No cluster yet: queuecast import FILE…")]
    )


def import_list(backend: Backend, args: argparse.Namespace) -> Output:
    """List the imports that a worker reads or has read, newest first."""
    return _imports(on_server(backend, "imports").imports())


def import_cancel(backend: Backend, args: argparse.Namespace) -> Output:
    """Cancel a queued import at once, signal a running one to stop."""
    return _imports(on_server(backend, "imports").import_cancel(args.name))


def _imports(found: Json | list[Json]) -> Output:
    rows = [
        (one["id"], one["name"], one["state"], f"{one['progress']:.0%}", one["snapshot"], one["error"])
        for one in (found if isinstance(found, list) else [found])
    ]
    columns = ("ID", "NAME", "STATE", "PROGRESS", "SNAPSHOT", "ERROR")
    return Output(found, [Table(columns, rows, empty="No large import yet.")])


def label(backend: Backend, args: argparse.Namespace) -> Output:
    """Change note and tags of a scenario or a run, or archive it; creates no revision."""
    given = {"note": args.note, "tags": args.tag, "archived": args.archived}
    labels = {name: value for name, value in given.items() if value is not None}
    if not labels:
        raise Refused(
            "Name what to change: --note, --tag, --archive or --unarchive.", code="nothing_to_change"
        )
    if labels.get("tags") == [""]:
        labels["tags"] = []
    found = on_server(backend, "label").label(f"{args.kind}s", args.name, labels)
    row = (found["name"], found["note"], " ".join(found["tags"]), bool(found["archived"]))
    return Output(found, [Table(("NAME", "NOTE", "TAGS", "ARCHIVED"), [row])])


def workspace_history(backend: Backend, args: argparse.Namespace) -> Output:
    """Show actions on members, tokens, invitations, links, prices and scenarios, newest first."""
    found = on_server(backend, "workspace").workspace_history(args.workspace)
    facts = ("created", "actor", "action", "kind", "subject", "before", "after")
    rows = [tuple(one[fact] for fact in facts) for one in found]
    columns = ("TIME", "BY", "ACTION", "KIND", "SUBJECT", "BEFORE", "AFTER")
    return Output(found, [Table(columns, rows, empty="Nothing yet.")])


def workspace_changes(backend: Backend, args: argparse.Namespace) -> Output:
    """Show the changes of all scenarios of a workspace, including removed ones, newest first."""
    found = on_server(backend, "workspace").workspace_changes(args.workspace)
    rows = [
        (
            one["created"], one["user"], one["scenario_name"], one["revision"], one["kind"], one["key"],
            one["field"], *brief(one["before"], one["after"]),
        )
        for one in found
    ]  # fmt: skip
    columns = ("TIME", "BY", "SCENARIO", "REVISION", "KIND", "NAME", "FIELD", "BEFORE", "AFTER")
    return Output(found, [Table(columns, rows, empty="No change yet.")])


def price_list(backend: Backend, args: argparse.Namespace) -> Output:
    """Show the prices of a workspace, per hour."""
    return _prices(on_server(backend, "price").prices(args.workspace))


def price_set(backend: Backend, args: argparse.Namespace) -> Output:
    """Replace the prices of a workspace by those of a file."""
    from queuecast.forecasts import prices  # with the core

    listed = prices(args.file)
    assert listed is not None, "argparse requires the file"
    written = {"pools": listed.pools, "resources": listed.resources, "currency": listed.currency}
    return _prices(on_server(backend, "price").prices_set(written, args.workspace))


def _prices(found: Json) -> Output:
    rows = [
        (kind, name, price, found["currency"])
        for kind in ("pools", "resources")
        for name, price in found[kind].items()
    ]
    return Output(found, [Table(("KIND", "NAME", "PER HOUR", "CURRENCY"), rows, empty="No price yet.")])


def status(backend: Backend, args: argparse.Namespace) -> Output:
    """Show how busy the installation is: queued and running work, and live workers."""
    found = on_server(backend, "status").status()
    states = sorted({state for kind in _WORK for state in found[kind]})
    rows: list[tuple[Any, ...]] = [(kind, *(found[kind].get(state, 0) for state in states)) for kind in _WORK]
    workers = [(one["name"], one["places"], one["engine_version"], one["seen"]) for one in found["workers"]]
    return Output(
        found,
        [
            Table(("WORK", *(state.upper() for state in states)), rows),
            Table(("WORKER", "PLACES", "ENGINE", "SEEN"), workers, empty="No worker is running."),
        ],
    )


_WORK = ("runs", "imports", "forecasts")
