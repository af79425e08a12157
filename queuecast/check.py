"""The command `check`: simulates a change against a snapshot and evaluates rules."""

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from planning.documents import clock_of
from planning.forecasts.record import Record
from queuecast import reports
from queuecast.applied import changed, refused_updates
from queuecast.backend import Backend, Json
from queuecast.core import faults, snapshot_document
from queuecast.effects import Effects
from queuecast.followed import followed
from queuecast.forecast_commands import requested_workload
from queuecast.forecast_rules import COMPARING_RULES, FORECAST_RULES
from queuecast.plans import Source, contents, read_bytes, read_changes
from queuecast.problems import Refused, Rejected, problem, refusal
from queuecast.rules import Rules
from queuecast.sending import bare_document
from queuecast.terminal import progress_line
from scheduler_core.explain.wording import listed

PASSED, FAILED, NOT_CHECKED = 0, 1, 2
_FILES = (".yaml", ".yml", ".json", ".gz")
"""Endings of files of a snapshot; a missing file with another one may be the name of a stored snapshot."""
_EMPTIED = problem(
    rule="conf.rejected",
    severity="error",
    path="scheduler_conf",
    message="the configuration is empty, and Volcano rejects it as a whole",
    fix="write the configuration, or leave out the ConfigMap: Volcano would keep its previous one",
)


def check(backend: Backend, args: argparse.Namespace) -> tuple[str, int]:
    """Return the report and the exit code: 0 if every rule holds, 1 if not, 2 if it cannot be checked.

    Raises Rejected if the report's format cannot contain the reason why the check is impossible.
    """
    return reported(args.report, lambda: _report(args, backend))


def reported(form: str, make: Callable[[], Json]) -> tuple[str, int]:
    """Return a report in a format with its exit code; if it cannot be made, why."""
    try:
        report = make()
    except Rejected as error:
        written = reports.refused(error, form)
        if not written:
            raise
        return written, NOT_CHECKED
    return reports.FORMS[form](report), PASSED if report["passed"] else FAILED


def _report(args: argparse.Namespace, backend: Backend) -> Json:
    rules = Rules.read(*_only(args.rules))
    snapshot, of_snapshot = _snapshot(args.against, backend)
    of_changes = Source(read_changes(contents(args.changes)))
    plan = changed(snapshot, bare_document(of_changes.reading))

    def place(one: Mapping[str, Any]) -> Json:
        """Return a problem with the line of the change, else of the snapshot's file."""
        placed = of_changes.placed(one, plan)
        return of_snapshot.placed(one, plan) if of_snapshot and not placed["document"] else placed

    emptied = [_EMPTIED] if of_changes.reading.scheduler_conf_text == "" else []
    if wrong := [*map(place, [*emptied, *faults(plan)]), *rules.unknown_names(plan)]:
        raise refusal(wrong)
    plan = followed(snapshot, plan)
    effects = Effects.of(snapshot, plan)
    if rules.need_a_forecast:
        at_once = {**snapshot, **({"now": clock} if (clock := clock_of(plan)) else {})}
        before = _forecast_without(args, at_once) if rules.compare_forecasts else None
        effects = effects.with_forecasts(_forecast(args, plan), before)
    return effects.report(rules.evaluate(effects.outcomes), place, refused_updates(snapshot, plan))


def _forecast(args: argparse.Namespace, plan: Json) -> Record:
    if args.trace is None:
        raise Refused(f"{', '.join(FORECAST_RULES)} require a workload: name it with --trace.")
    with progress_line("forecast") as progress:
        return requested_workload(args).forecast(plan, progress)


def _forecast_without(args: argparse.Namespace, snapshot: Json) -> Record:
    """Return the forecast without the change, or raise Refused with problems that say so."""
    try:
        return _forecast(args, snapshot)
    except Refused as error:
        says = f"{listed(sorted(COMPARING_RULES))} compare with the forecast without the change"
        found = [{**one, "message": f"{says}: {one['message']}"} for one in error.problems]
        raise refusal(found) if found else error from None


def _snapshot(against: list[str], backend: Backend) -> tuple[Json, Source | None]:
    """Return the base of the change: of files with their places, or of a server or folder, by name."""
    if len(against) == 1 and not Path(against[0]).exists() and Path(against[0]).suffix not in _FILES:
        return backend.snapshot_document(against[0]), None
    reading = read_bytes(contents([Path(name) for name in against]))
    return snapshot_document(reading), Source(reading)


def _only(path: Path) -> tuple[str, bytes]:
    ((name, content),) = contents([path])
    return name, content
