"""May this change be merged? It is simulated against a snapshot and held to rules."""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from queuecast import reports
from queuecast.desk import Desk, Json
from queuecast.effects import Effects
from queuecast.local import Local
from queuecast.plans import Source, changed, contents, faults, read, read_changes
from queuecast.problems import Rejected, refusal
from queuecast.rules import Rules

PASSED, FAILED, NOT_CHECKED = 0, 1, 2


def check(asked: argparse.Namespace, desk: Desk | None = None) -> tuple[str, int]:
    """Return the report and the exit code: 0 accepted and every rule kept, 1 not, 2 it cannot be checked.

    Raises Rejected where the form of the report has no place for what prevents the check.
    """
    try:
        report = _report(asked, desk)
    except Rejected as error:
        written = reports.refused(error, asked.report)
        if not written:
            raise
        return written, NOT_CHECKED
    return reports.FORMS[asked.report](report), PASSED if report["passed"] else FAILED


def _report(asked: argparse.Namespace, desk: Desk | None) -> Json:
    rules = Rules.read(*_only(asked.rules))
    snapshot = _snapshot(asked.against, desk)
    source = Source(read_changes(contents(asked.changes)))
    plan = changed(snapshot, source.reading.document)
    if wrong := faults(plan):
        raise refusal([source.placed(one, plan) for one in wrong])
    effects = Effects.of(snapshot, plan)

    def place(one: Mapping[str, Any]) -> Json:
        return source.placed(one, plan)

    return effects.report(rules.judged(effects.outcomes), place)


def _snapshot(against: list[str], desk: Desk | None) -> Json:
    """Return what the change is put over: files, or a snapshot of a server or a folder by its name."""
    if isinstance(desk, Local) and len(against) == 1 and not Path(against[0]).exists():
        return desk.snapshot_document(against[0])
    return read([Path(name) for name in against])


def _only(path: Path) -> tuple[str, bytes]:
    ((name, content),) = contents([path])
    return name, content
