"""The start of a forecast: from a scenario, a trace and options, or from a frozen state."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import manifests
from planning.documents import clock_of
from planning.forecasts.clock import instant
from planning.forecasts.document import Times, forecast_with
from planning.forecasts.moment import session_at
from planning.forecasts.options import PLACE_FIRST
from planning.forecasts.shared import Shared
from planning.forecasts.workload import Fitting, drawn_from
from scheduler_core.errors import InputError, SchedulerHang, SchedulerPanic
from scheduler_core.failure import sentence_of
from scheduler_core.replay import Replay
from scheduler_core.validate import Inspection
from traces import Trace, Unreadable, read_trace

Json = Mapping[str, Any]

YEARS = range(1900, 9901)
"""The years in which a forecast may begin; times before the year 1 and after 9999 cannot be written."""


class NoForecast(Exception):
    """The scenario cannot be replayed under this workload; the text is one sentence for the user."""


@dataclass(frozen=True)
class Opened:
    """A forecast ready to run; `document` is its replay, `notes` the assumptions about its trace."""

    replay: Replay
    document: Json
    notes: list[str]


def opened(
    scenario: Json, workload: str, options: Json, frozen: Json | None = None, *, seed: int = 0
) -> Opened:
    """Return a forecast at its beginning, or at its frozen state. Raises NoForecast.

    With a `seed` above 0 its workload is drawn like the trace, and the run times of the scenario's jobs anew.
    """
    document, notes = forecast_document(scenario, workload, options, seed=seed)
    return Opened(replay_of(document, frozen), document, notes)


def replay_of(document: Json, frozen: Json | None = None, shared: Shared | None = None) -> Replay:
    """Return the replay of a document at its beginning, or at its frozen state. Raises NoForecast."""
    inspection = Inspection(document, None if shared is None else shared.inspection)
    if shared is not None:
        shared.inspection = inspection
    errors = [problem.message for problem in inspection.errors()]
    if errors or inspection.conf is None:
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        raise NoForecast((errors or ["The scheduler configuration cannot be read"])[0] + more)
    return Replay(document, inspection, frozen=frozen)


def result_of(replay: Replay, watch: Callable[[Replay], None] | None = None) -> dict[str, Any]:
    """Return the result of a replay, and call `watch` after each step. Raises NoForecast."""
    with _failures_in_words():
        return replay.run(watch)


@contextmanager
def _failures_in_words() -> Iterator[None]:
    """Raise NoForecast where Volcano would crash or hang, as the error of a run says it."""
    try:
        yield
    except (SchedulerPanic, SchedulerHang, InputError) as error:
        raise NoForecast(f"{sentence_of(error)}.") from None


def cluster_at(
    scenario: Json, workload: str, options: Json, time: float, frozen: Json | None = None
) -> dict[str, Any]:
    """Return the cluster as the first session at or after `time` finds it, as a scenario. Raises NoForecast.

    `frozen` is a state from before that time.
    """
    period = float(options["period_seconds"])
    number = session_at(time, period)
    before = {**options, "until_seconds": max(number - 1, 0) * period}
    replay = opened(scenario, workload, before, frozen).replay
    with _failures_in_words():
        for _ in replay.steps() if number else ():
            pass
        return replay.moment(number * period)


def forecast_document(
    scenario: Json, workload: str, options: Json, *, seed: int = 0
) -> tuple[Json, list[str]]:
    """Return the document of a replay, and the assumptions about its workload. Raises NoForecast."""
    try:
        given, fitting = read_trace(workload), fitting_of(options)
    except Unreadable as error:
        raise NoForecast(f"The trace cannot be read: {error.problems[0]}.") from None
    if seed:
        given, fitting = drawn_from(given, fitting, float(options["horizon_seconds"]), seed)
    return document_under(scenario, given, options, fitting, seed=seed)


def document_under(
    scenario: Json,
    work: Trace,
    options: Json,
    fitting: Fitting | None = None,
    shared: Shared | None = None,
    seed: int = 0,
) -> tuple[Json, list[str]]:
    """Return the document of a replay under a trace that is read; without `fitting` the options fit it.

    `shared` is what forecasts of variants of the scenario share. `seed` draws the run times of its jobs.

    Raises NoForecast.
    """
    try:
        document = manifests.resolve(dict(scenario))
    except manifests.Unreadable as error:
        raise NoForecast(f"The scheduler configuration cannot be read: {error}.") from None
    begin = instant(clock_of(document))
    if begin is not None and begin.year not in YEARS:
        raise NoForecast(
            f"The clock of the scenario is in the year {begin.year}, not {YEARS[0]} to {YEARS[-1]}."
        )
    times, fitting = times_of(options), fitting or fitting_of(options)
    arrivals, problems = (shared or Shared()).arrivals(work, document, fitting, times)
    if not problems:
        forecast, problems = forecast_with(document, arrivals, times, options["changes"], seed=seed)
    if problems:
        first = problems[0]
        raise NoForecast(f"{first.path}: {first.message}.")
    whole = dict(forecast.document)
    if "until_seconds" in options:
        whole["replay"] = {**whole["replay"], "horizon_seconds": options["until_seconds"]}
    return whole, list(forecast.notes)


def fitting_of(options: Json) -> Fitting:
    """Return how the options of a forecast fit its trace."""
    begin = float(options["window_begin_seconds"])
    return Fitting(
        queues=options["queues"],
        rest=options["rest"],
        begin=begin,
        end=begin + float(options["horizon_seconds"]),
        rate=float(options["rate"]),
        rates=options["rates"],
        size=float(options["size"]),
        run_time=float(options["run_time"]),
        node_constraints=options["node_constraints"],
        running=options.get("running_jobs") == PLACE_FIRST,
    )


def times_of(options: Json) -> Times:
    """Return the clock that the options of a forecast describe."""
    termination = options["termination_seconds"]
    return Times(
        horizon=float(options["horizon_seconds"]),
        period=float(options["period_seconds"]),
        start_delay=float(options["start_delay_seconds"]),
        termination=None if termination is None else float(termination),
        evicted=options["evicted"],
        checkpoint=float(options["checkpoint_seconds"]),
        restore=float(options["restore_seconds"]),
        default_run=float(options["default_run_seconds"]),
    )
