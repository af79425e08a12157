"""Validation of experiments whose cells are forecasts: all problems, with path and fix."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from planning.experiments.figures import MEASURES, WAITS
from planning.experiments.forecast_figures import FORECAST_MEASURES
from planning.experiments.levels import Json, Setting
from planning.experiments.work import Work
from planning.forecasts.changes import timed_changes
from planning.forecasts.clock import FORMS, duration, seconds_until
from planning.forecasts.document import late_problems
from planning.forecasts.options import option_problems
from planning.forecasts.trace_texts import generated_text, read_workload
from planning.forecasts.workload import leaf_queues

Found = tuple[str, tuple[str | int, ...], str, str]
"""Rule, path, message and fix."""


def kind_problems(written: Json) -> Iterator[Found]:
    """Yield figures that a run or a forecast does not have, and limits of waits that are no duration."""
    is_forecast = "forecast" in written
    known = FORECAST_MEASURES if is_forecast else MEASURES
    of = "a forecast" if is_forecast else "a run"
    for part in ("figures", "goals"):
        for number, one in enumerate(written.get(part) or ()):
            kind = one["figure"]
            if kind not in known:
                yield (
                    "figure", (part, number, "figure"), f"{of} has no figure {kind}",
                    f"write one of {', '.join(known)}" + ("" if is_forecast else ", or forecast"),
                )  # fmt: skip
            for end in ("at_most", "at_least"):
                if kind in WAITS and end in one and duration(one[end]) is None:
                    message = f"{one[end]!r} is not a length of time"
                    yield "time", (part, number, end), message, "write 600, 10m or 1h30m"
    forecast = written.get("forecast") or {}
    if is_forecast and "run" in written:
        yield "many", ("run",), "cells are runs or forecasts", "write run or forecast"
    if "seed" in forecast and "seeds" in forecast:
        yield "many", ("forecast", "seed"), "forecast has seed and seeds", "write one of them"
    if is_forecast and "cost" in _kinds(written) and not forecast.get("prices"):
        message = "figure cost needs prices"
        yield "prices", ("forecast", "prices"), message, "write prices: {pools: {NAME: 2.5}}"


def _kinds(written: Json) -> set[str]:
    return {one["figure"] for part in ("figures", "goals") for one in written.get(part) or ()}


def forecast_problems(
    document: Json, settings: Sequence[Setting], written: Json, workload: str
) -> Iterator[Found]:
    """Yield why cells cannot be forecast: workload, options, timed settings, settings of a search."""
    forecast = written["forecast"]
    work = Work.of(forecast, workload)
    yield from _options(document, work)
    yield from _times(document, settings, float(work.options["horizon_seconds"]))
    moved = [setting for setting in settings if setting.is_circumstance]
    if moved and written.get("goals"):
        message = f"{moved[0].name} is not a change that a user could make"
        yield (
            "forecast",
            ("settings",),
            message,
            "remove it; seeds: 5 measures each cell under 5 workloads",
        )
    if work.unseen and any(getattr(setting, "option", "") == "seed" for setting in moved):
        message = "the seed varies, and each cell is measured over seeds"
        yield "seeds", ("forecast", "seeds"), message, "remove one of the two"


def _options(document: Json, work: Work) -> Iterator[Found]:
    queues, found = _trace_queues(work)
    yield from found
    if queues is None:
        return
    options = {**work.options, "targets": {}}
    for problem in option_problems(options, trace_queues=queues, queues=leaf_queues(document)):
        yield "option", ("forecast", str(problem.path)), problem.message.rstrip("."), str(problem.fix)
    timed, wrong = timed_changes(document, options["changes"], str(document.get("now") or ""))
    for problem in [*wrong, *late_problems(timed, float(options["horizon_seconds"]))]:
        yield "change", ("forecast", str(problem.path)), problem.message, str(problem.fix)


def _trace_queues(work: Work) -> tuple[Collection[str] | None, list[Found]]:
    """Return the queues of the workload, or None and why it cannot be read."""
    at: tuple[str | int, ...] = ("forecast", "trace")
    text = work.text
    if work.patterns:
        at = ("forecast", "patterns")
        text, wrong = generated_text(work.patterns, seconds=float(work.options["horizon_seconds"]), seed=1)
        if wrong:
            return None, [("pattern", at, one.message.rstrip("."), str(one.fix)) for one in wrong]
        if text.count("\n") < 2:
            return None, [("pattern", at, "the patterns draw no job", "write a longer horizon or more jobs")]
    read, wrong = read_workload(text)
    if read is None:
        return None, [("trace", at, one.message.rstrip("."), str(one.fix)) for one in wrong]
    return read.trace.queues(), []


def _times(document: Json, settings: Sequence[Setting], horizon: float) -> Iterator[Found]:
    begin = str(document.get("now") or "")
    for setting in settings:
        at: Any = seconds_until(setting.at, begin) if setting.at else 0.0
        if at is None:
            message = f"{setting.at!r} is not a moment of the forecast"
            yield "at", ("settings",), message, FORMS
        elif at > horizon:
            message = f"{setting.at!r} is after the end of the forecast"
            yield "at", ("settings",), message, "choose an earlier moment, or a longer horizon_seconds"
