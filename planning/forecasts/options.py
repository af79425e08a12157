"""Validation of a forecast's options: all problems, each with its path and its fix."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from planning.constraint_choices import LIKE_QUEUE, NODE_CONSTRAINTS
from planning.forecasts.seeds import MOST_SEEDS
from planning.rows import Problem

Json = Mapping[str, Any]

EVICTED = {
    "restart": "restart from zero",
    "resume": "continue where they were",
    "restart-job": "restart with their whole job",
    "delete": "are lost",
    "owner": "are replaced by their controller",
}
"""What happens to evicted pods, in words that follow "Evicted pods"."""

LEAVE_OUT, PLACE_FIRST = "leave_out", "place_first"
RUNNING_JOBS = {
    LEAVE_OUT: "are left out",
    PLACE_FIRST: "are placed first, for what remains of their run time",
}
"""What happens to jobs of the trace that run when its window begins, in words that follow "Running jobs"."""

DEFAULTS: Mapping[str, Any] = {
    "period_seconds": 1.0,
    "horizon_seconds": 86_400.0,
    "start_delay_seconds": 0.0,
    "termination_seconds": None,
    "evicted": "restart",
    "checkpoint_seconds": 0.0,
    "restore_seconds": 0.0,
    "default_run_seconds": 3600.0,
    "window_begin_seconds": 0.0,
    "running_jobs": LEAVE_OUT,
    "queues": {},
    "rest": "",
    "rate": 1.0,
    "rates": {},
    "size": 1.0,
    "run_time": 1.0,
    "node_constraints": LIKE_QUEUE,
    "changes": [],
    "targets": {},
    "seeds": 0,
}
SHORTEST_PERIOD, LONGEST = 0.001, 10.0**9
MOST_SESSIONS = 10_000_000
_AT_LEAST = {
    **dict.fromkeys(("horizon_seconds", "period_seconds"), SHORTEST_PERIOD),
    **dict.fromkeys(("rate", "size", "run_time"), 0.0001),
}
_NUMBERS = [name for name, value in DEFAULTS.items() if isinstance(value, float)]


def option_problems(
    options: Json, *, trace_queues: Collection[str], queues: Collection[str]
) -> list[Problem]:
    """Return the problems of options; `queues` are the scenario's leaf queues. Absent ones have none."""
    return [
        *_numbers(options),
        *_seeds(options),
        *_choice(options, "evicted", "Unknown value for what happens to evicted pods.", EVICTED),
        *_choice(options, "node_constraints", "Unknown value for node constraints.", NODE_CONSTRAINTS),
        *_choice(options, "running_jobs", "Unknown value for running jobs.", RUNNING_JOBS),
        *_mapping(options, trace_queues, queues),
    ]


def _numbers(options: Json) -> Iterator[Problem]:
    for name in (name for name in _NUMBERS if name in options):
        value, least = float(options[name]), _AT_LEAST.get(name, 0.0)
        if not least <= value <= LONGEST:
            yield _problem(
                name, f"{name} is out of range", actual=value, fix=f"Choose {least:g} to {LONGEST:,.0f}."
            )
    if not {"horizon_seconds", "period_seconds"} <= options.keys():
        return
    sessions = float(options["horizon_seconds"]) / max(float(options["period_seconds"]), SHORTEST_PERIOD)
    if sessions > MOST_SESSIONS:
        yield _problem(
            "horizon_seconds",
            f"It would take {sessions:,.0f} sessions; at most {MOST_SESSIONS:,} are allowed.",
            actual=options["horizon_seconds"],
            fix="Choose a longer period or a shorter horizon.",
        )


def _seeds(options: Json) -> Iterator[Problem]:
    if options.get("seeds", 0) != 0 and not 2 <= options["seeds"] <= MOST_SEEDS:
        message = "The number of drawn workloads is out of range."
        yield _problem("seeds", message, actual=options["seeds"], fix=f"Choose 0, or 2 to {MOST_SEEDS}.")


def _choice(options: Json, name: str, message: str, choices: Iterable[str]) -> Iterator[Problem]:
    if options.get(name, DEFAULTS[name]) not in choices:
        yield _problem(name, message, actual=options[name], fix=f"Choose one of {', '.join(choices)}.")


def _mapping(options: Json, trace_queues: Collection[str], queues: Collection[str]) -> Iterator[Problem]:
    for name in sorted(trace_queues):
        place = options["queues"].get(name)
        if place is None:
            continue
        if place not in queues:
            message = (
                f"Queue {name!r} of the trace is mapped to {place!r}, which takes no jobs in the scenario."
            )
            yield _problem(f"queues.{name}", message, actual=place, fix="Choose a queue without children.")
    for name in sorted(set(options["queues"]) - set(trace_queues)) if trace_queues else ():
        yield _no_queue_of_trace("queues", name, trace_queues)
    for name, factor in sorted(options.get("rates", {}).items()):
        if trace_queues and name not in trace_queues:
            yield _no_queue_of_trace("rates", name, trace_queues)
        elif not _AT_LEAST["rate"] <= float(factor) <= LONGEST:
            least = _AT_LEAST["rate"]
            message, fix = f"The factor of {name} is out of range", f"Choose {least:g} to {LONGEST:,.0f}."
            yield _problem(f"rates.{name}", message, actual=factor, fix=fix)
    unmapped = [name for name in sorted(trace_queues) if name not in queues and name not in options["queues"]]
    rest = options.get("rest")
    if rest and rest not in queues:
        message = f"The queue for the rest, {rest!r}, takes no jobs in the scenario."
        yield _problem("rest", message, actual=rest, fix="Choose a queue without children.")
    elif unmapped and rest == "":
        shown = ", ".join(unmapped[:5]) + (f" and {len(unmapped) - 5} more" if len(unmapped) > 5 else "")
        message = f"The scenario has no queue for these queues of the trace: {shown}."
        yield _problem("rest", message, actual=len(unmapped), fix="Map them, or choose a queue for the rest.")
    for name, seconds in sorted(options["targets"].items()):
        if name not in queues:
            yield _problem(
                f"targets.{name}", f"The scenario has no queue {name!r} that takes jobs.", fix="Remove it."
            )
        elif not 0 < float(seconds) <= LONGEST:
            message = f"The wait target of {name} is out of range."
            yield _problem(f"targets.{name}", message, actual=seconds, fix="Choose more than 0 seconds.")


def _no_queue_of_trace(option: str, name: str, trace_queues: Collection[str]) -> Problem:
    shown = ", ".join(sorted(trace_queues)[:5]) + (" …" if len(trace_queues) > 5 else "")
    fix = f"Write one of {shown}, or remove it."
    return _problem(f"{option}.{name}", f"The trace has no queue {name!r}.", actual=name, fix=fix)


def _problem(path: str, message: str, *, actual: Any = None, fix: str = "") -> Problem:
    return Problem("forecast.option", "error", message, path=path, actual=actual, fix=fix)
