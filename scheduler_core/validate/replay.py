"""The form of the key `replay` of a scenario."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.conf import parse_conf
from scheduler_core.errors import ConfError
from scheduler_core.problem import Place
from scheduler_core.release import DEFAULT_RELEASE, Release
from scheduler_core.validate.fields import (
    Check,
    flag,
    is_object,
    list_of,
    map_of,
    number,
    once,
    one_of,
    record,
    text,
    whole,
)
from scheduler_core.validate.kinds import KINDS, TIMED
from scheduler_core.validate.report import Report

SHORTEST_PERIOD = 0.001
LONGEST = 1e9
MOST_SESSIONS = 1_000_000_000

CREATED = {
    **{name: KINDS[name][1] for name in ("podgroups", "pods", "nodes", "queues", "jobs")},
    **TIMED,
}
REPLACED = {name: KINDS[name][1] for name in ("queues", "nodes")}


def _objects(kinds: Mapping[str, Check]) -> Check:
    """Return a check that accepts lists of whole objects of these kinds, and nothing else."""

    def check(value: Any, place: Place, report: Report) -> None:
        if not is_object(value):
            report.wrong_type(place, "an object of lists", value)
            return
        for name, things in value.items():
            if name not in kinds:
                message = f"is not supported; supported: {', '.join(kinds)}"
                report.add(
                    "replay.unknown", "error", (place, name), message, fix="remove it or correct its name"
                )
            else:
                list_of(kinds[name])(things, (place, name), report)

    return check


def _names(*kinds: str) -> Check:
    """Return a check that accepts lists of names of objects of these kinds, and nothing else."""

    def check(value: Any, place: Place, report: Report) -> None:
        if not is_object(value):
            report.wrong_type(place, "an object of lists of names", value)
            return
        for kind, names in value.items():
            if kind not in kinds:
                message = f"is not supported; supported: {', '.join(kinds)}"
                report.add("replay.unknown", "error", (place, kind), message, fix="remove it")
            else:
                list_of(text)(names, (place, kind), report)

    return check


def _conf(value: Any, place: Place, report: Report) -> None:
    """Accept a configuration that Volcano accepts, as a structure."""
    if not is_object(value):
        report.wrong_type(place, "an object with actions and tiers", value)
        return
    _accept(value, DEFAULT_RELEASE, place, report)


def _accept(value: Any, release: Release, place: Place, report: Report) -> None:
    try:
        parse_conf(value, release)
    except ConfError as error:
        message = f"is rejected as a whole by Volcano: {error}"
        report.add(
            "conf.rejected", "error", place, message, fix="Volcano would keep its previous configuration"
        )


def check_confs(document: Mapping[str, Any], release: Release, report: Report) -> None:
    """Check the configurations of events as a release reads them; the default one accepts all of them."""
    if release == DEFAULT_RELEASE or any(problem.severity == "error" for problem in report.problems):
        return
    place: Place = (((), "replay"), "events")
    report.set_subject("replay", ((), "replay"))
    for position, event in enumerate((document.get("replay") or {}).get("events") or ()):
        if "scheduler_conf" in event:
            at = ((place, position), "scheduler_conf")
            _accept(event["scheduler_conf"], release, at, report)


EVENT = record(
    {
        "at": number(0.0, LONGEST),
        "create": _objects(CREATED),
        "replace": _objects(REPLACED),
        "delete": _names("nodes", "jobs"),
        "drain": _names("nodes"),
        "lose": _names("nodes"),
        "abort": _names("jobs"),
        "resume": _names("jobs"),
        "close": _names("queues"),
        "open": _names("queues"),
        "scheduler_conf": _conf,
    },
    required=["at"],
)

_FIELDS = record(
    {
        "period_seconds": number(SHORTEST_PERIOD, LONGEST),
        "horizon_seconds": number(0.0, LONGEST),
        "start_delay_seconds": number(0.0, LONGEST),
        "termination_seconds": number(0.0, LONGEST),
        "evicted": one_of("restart", "resume", "restart-job", "delete", "owner"),
        "pull_seconds": map_of(number(0.0, LONGEST)),
        "checkpoint_seconds": number(0.0, LONGEST),
        "restore_seconds": number(0.0, LONGEST),
        "create_rate": number(0.0, LONGEST),
        "create_burst": whole(1),
        "controller_seconds": number(0.0, LONGEST),
        "terminal_phase_first": flag,
        "exit_code_on_termination": whole(0, 255),
        "targeted_restart_keeps_podgroup": flag,
        "events": list_of(once(EVENT)),
    },
    required=["horizon_seconds"],
)


def _sessions(replay: Any) -> float:
    seconds: float = replay["horizon_seconds"]
    return seconds / (replay.get("period_seconds") or 1)


def timeline(value: Any, place: Place, report: Report) -> None:
    """Accept the timeline of a scenario."""
    report.set_subject("replay", place)
    found = report.found()
    _FIELDS(value, place, report)
    if found == report.found() and _sessions(value) > MOST_SESSIONS:
        message = f"would take more than {MOST_SESSIONS:,} sessions"
        report.add("number.range", "error", (place, "horizon_seconds"), message, fix="choose a longer period")
