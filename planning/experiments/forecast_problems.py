"""Validation of experiments whose cells are forecasts: all problems, with path and fix."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from planning.experiments.levels import Json, Setting
from planning.experiments.work import Work
from planning.forecasts.changes import timed_changes
from planning.forecasts.clock import FORMS, seconds_until
from planning.forecasts.document import late_problems
from planning.forecasts.options import PLACE_FIRST, option_problems
from planning.forecasts.trace_texts import any_drawn, pattern_problems, read_workload
from planning.forecasts.workload import leaf_queues

Found = tuple[str, str, str, str]
"""Rule, path, message and fix."""


def forecast_problems(
    document: Json,
    settings: Sequence[Setting],
    written: Json,
    work: Work,
    trace_queues: Collection[str] | None = None,
) -> Iterator[Found]:
    """Yield why cells cannot be forecast: workload, options, timed settings, settings of a search.

    `trace_queues` are those of the trace if they are known; otherwise it is read.
    """
    yield from _options(document, work, trace_queues)
    yield from _times(document, settings, float(work.options["horizon_seconds"]))
    moved = [setting for setting in settings if setting.is_circumstance]
    if moved and written.get("goals"):
        message = f"{moved[0].name} is not a change that a user could make"
        yield "forecast", "settings", message, "remove it; seeds: 5 measures each cell under 5 workloads"
    if work.options["running_jobs"] == PLACE_FIRST and not work.patterns and (work.seeds or work.unseen):
        message = "work drawn like a trace has no jobs that run when it begins"
        yield "running", "forecast.running_jobs", message, "remove it, or the seeds"
    if work.unseen and any(getattr(setting, "option", "") == "seed" for setting in moved):
        message = "the seed varies, and each cell is measured over seeds"
        yield "seeds", "forecast.seeds", message, "remove one of the two"


def _options(document: Json, work: Work, known: Collection[str] | None) -> Iterator[Found]:
    queues, found = _trace_queues(work) if known is None or work.patterns else (known, [])
    yield from found
    options = {**work.options, "targets": {}}
    for problem in option_problems(options, trace_queues=queues or (), queues=leaf_queues(document)):
        yield "option", f"forecast.{problem.path}", problem.message.rstrip("."), str(problem.fix)
    horizon = float(options["horizon_seconds"])
    timed, wrong = timed_changes(document, options["changes"], str(document.get("now") or ""), horizon)
    for problem in [*wrong, *late_problems(timed, horizon)]:
        yield "change", f"forecast.{problem.path}", problem.message, str(problem.fix)


def _trace_queues(work: Work) -> tuple[Collection[str] | None, list[Found]]:
    """Return the queues of the workload, or None and why it cannot be read."""
    if not work.patterns:
        read, wrong = read_workload(work.text)
        if read is None:
            found = [("trace", "forecast.trace", one.message.rstrip("."), str(one.fix)) for one in wrong]
            return None, found
        return read.trace.queues(), []
    seconds = work.drawn_seconds
    if wrong := pattern_problems(work.patterns, seconds=seconds):
        return None, [
            ("pattern", f"forecast.{one.path}", one.message.rstrip("."), str(one.fix)) for one in wrong
        ]
    if not any_drawn(work.patterns, seconds=seconds, seed=next(iter(work.seeds), 1)):
        message, fix = "the patterns draw no job", "write a longer horizon or more jobs"
        return None, [("pattern", "forecast.patterns", message, fix)]
    return {pattern["queue"] for pattern in work.patterns}, []


def _times(document: Json, settings: Sequence[Setting], horizon: float) -> Iterator[Found]:
    begin = str(document.get("now") or "")
    for setting in settings:
        at: Any = seconds_until(setting.at, begin) if setting.at else 0.0
        if at is None:
            message = f"{setting.at!r} is not a moment of the forecast"
            yield "at", "settings", message, FORMS
        elif at > horizon:
            message = f"{setting.at!r} is after the end of the forecast"
            yield "at", "settings", message, "choose an earlier moment, or a longer horizon_seconds"
