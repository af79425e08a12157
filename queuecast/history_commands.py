"""Commands about a scenario's history, release and first session."""

import argparse

from queuecast.backend import Backend, Json
from queuecast.client import on_server
from queuecast.commands import edited, scenarios
from queuecast.shown import Output, Table, amounts, brief, percent

IMPORTED = "imported"
"""The option value for the release of the snapshot."""


def scenario_rename(backend: Backend, args: argparse.Namespace) -> Output:
    """Give a scenario another name."""
    return scenarios(on_server(backend, "scenario rename").scenario_rename(args.scenario, args.name))


def undo(backend: Backend, args: argparse.Namespace) -> Output:
    """Undo the last revision of a scenario."""
    client = on_server(backend, "undo")
    return edited(backend, args, lambda: client.scenario_undo(args.scenario), scenarios)


def redo(backend: Backend, args: argparse.Namespace) -> Output:
    """Redo the last undone revision of a scenario."""
    client = on_server(backend, "redo")
    return edited(backend, args, lambda: client.scenario_redo(args.scenario), scenarios)


def revert(backend: Backend, args: argparse.Namespace) -> Output:
    """Revert a queue, an object or one of its fields to its state in the snapshot."""
    client = on_server(backend, "revert")
    named = (args.scenario, args.kind, args.name, args.field)
    return edited(backend, args, lambda: client.scenario_revert(*named), scenarios)


def history(backend: Backend, args: argparse.Namespace) -> Output:
    """Show who changed what in a scenario, newest first."""
    found = on_server(backend, "history").scenario_history(args.scenario)
    rows = [
        (
            one["revision"], one["created"][:19], one["user"], one["way"],
            one["kind"], one["key"], one["field"], *brief(one["before"], one["after"]),
        )
        for one in found
    ]  # fmt: skip
    columns = ("REVISION", "TIME", "BY", "WAY", "KIND", "NAME", "FIELD", "BEFORE", "AFTER")
    return Output(found, [Table(columns, rows, empty="No change yet.")])


def preview(backend: Backend, args: argparse.Namespace) -> Output:
    """Show what each queue deserves, can reach and holds when a session opens, without a run."""
    found = on_server(backend, "preview").scenario_preview(args.scenario)
    rows = [
        (
            one["queue"], amounts(one["deserved"]), amounts(one["allocated"]), percent(one["share"]),
            amounts(one["real_capability"]), amounts(one["request"]), one["running"], one["pending"],
        )
        for one in found["queues"]
    ]  # fmt: skip
    columns = (
        "QUEUE", "DESERVED", "ALLOCATED", "SHARE",
        "REAL CAPABILITY", "REQUEST", "PODS RUNNING", "PODS PENDING",
    )  # fmt: skip
    notes = [found[reason] for reason in ("obstacle", "error") if found[reason]]
    return Output(found, [Table(columns, rows, empty="No queue.", wide=4)], notes=notes)


def release(backend: Backend, args: argparse.Namespace) -> Output:
    """Show the simulated release of Volcano, or select one."""
    client = on_server(backend, "release")
    if args.release is None:
        return _release(client.release(args.scenario))
    name = "" if args.release == IMPORTED else args.release
    return edited(backend, args, lambda: client.release_set(args.scenario, name), _release)


def _release(found: Json) -> Output:
    row = (found["release"] or "-", found["imported"] or "-", found["rules_of"])
    return Output(found, [Table(("CHOSEN", "IMPORTED", "RULES OF"), [row])])
