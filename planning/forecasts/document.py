"""The document of a forecast: a scenario with its workload, its clock and its timed changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from planning.documents import items
from planning.forecasts.absent_pods import absent_pods_notes
from planning.forecasts.beginning import beginning_notes
from planning.forecasts.changes import Timed, timed_changes
from planning.forecasts.clock import HOUR, spelled
from planning.forecasts.eviction_notes import eviction_notes
from planning.forecasts.limits import count_notes
from planning.forecasts.run_times import RunTime, notes_of, run_times, with_run_times
from planning.forecasts.starts import start_notes, with_starts
from planning.rows import Problem
from traces import Trace, events_of
from traces.events import NAMESPACE
from traces.text import counted

Json = Mapping[str, Any]

_BUILT_IN = {"system-cluster-critical", "system-node-critical"}
"""Priority classes that every cluster has, although imports may lack them."""


@dataclass(frozen=True)
class Times:
    """The clock of a forecast; see the keys of `replay` in docs/replay.md.

    Attributes
    ----------
    horizon : float
        How long it lasts, in seconds.
    period : float
        Seconds from one session to the next.
    start_delay, termination : float
        Seconds from a bind until the pod runs, and for which an evicted pod terminates; a termination of None
        is the pod's own grace period.
    evicted : str
        What becomes of an evicted pod.
    checkpoint, restore : float
        Seconds of work from one checkpoint to the next, 0 without any, and to read one again.
    default_run : float
        The run time of jobs of which none is known, in seconds.

    """

    horizon: float
    period: float = 1.0
    start_delay: float = 0.0
    termination: float | None = None
    evicted: str = "restart"
    checkpoint: float = 0.0
    restore: float = 0.0
    default_run: float = HOUR

    def as_replay(self) -> dict[str, Any]:
        """Return the key `replay` of a document, without events."""
        replay = {
            "period_seconds": self.period,
            "horizon_seconds": self.horizon,
            "start_delay_seconds": self.start_delay,
            "termination_seconds": self.termination,
            "evicted": self.evicted,
            "checkpoint_seconds": self.checkpoint,
            "restore_seconds": self.restore,
        }
        return {name: value for name, value in replay.items() if value is not None}


@dataclass(frozen=True)
class Forecast:
    """The input of a forecast.

    Attributes
    ----------
    document : mapping
        The scenario with the key `replay`; it alone determines the result.
    changes : tuple of Timed
        The changes in order of time, each also in words.
    run_times : tuple of RunTime
        Of the snapshot's jobs.
    notes : tuple of str
        What was assumed about the workload.

    """

    document: Json
    changes: tuple[Timed, ...]
    run_times: tuple[RunTime, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Arrivals:
    """The workload of a forecast as it arrives.

    Attributes
    ----------
    events : tuple of mapping
        Events of a replay by time; forecasts that share them must not edit them.
    notes : tuple of str
        What was assumed about the work, or left out of it.
    begin : str
        When the first second of the forecast is in the trace, RFC 3339; empty if the trace does not say.
    running : tuple of mapping
        Like events, at negative times: what the cluster has at the beginning.
    run_seconds : mapping
        The run times that the trace gives for jobs that arrive, by queue of the scenario, in seconds.

    """

    events: tuple[Json, ...]
    notes: tuple[str, ...]
    begin: str = ""
    running: tuple[Json, ...] = ()
    run_seconds: Mapping[str, Sequence[float]] = field(default_factory=dict)


def names_in_use(document: Json) -> frozenset[str]:
    """Return the names that jobs of a trace may not have, because objects of the scenario have them.

    The scenario of a moment of a forecast has the jobs that had arrived by then.
    """
    own = [
        [thing["metadata"]["name"] for thing in items(document.get(kind)) if _is_of_trace(thing)]
        for kind in ("podgroups", "pods")
    ]
    return frozenset([*own[0], *(pod.rpartition("-")[0] for pod in own[1])])


def _is_of_trace(thing: Json) -> bool:
    return bool(thing["metadata"].get("namespace") == NAMESPACE)


def arrivals_of(trace: Trace, times: Times, taken: frozenset[str] = frozenset()) -> Arrivals:
    """Return the arrivals of a trace during a forecast; submissions after the horizon are left out.

    Jobs that were submitted at negative times run at the beginning.

    Jobs get other names than those that are taken.
    """
    window = replace(trace, jobs=tuple(job for job in trace.jobs if job.submitted < times.horizon))
    events, notes = events_of(window, default_run_seconds=times.default_run, taken=taken)
    left = len(trace.jobs) - len(window.jobs)
    if left:
        notes.append(
            f"Left out: {left:,} job{'' if left == 1 else 's'} submitted after the end of the forecast."
        )
    running = sum(job.submitted < 0 for job in window.jobs)
    run_seconds: dict[str, list[float]] = {}
    for job in window.jobs[running:]:
        if job.run_seconds is not None:
            run_seconds.setdefault(job.queue, []).append(job.run_seconds)
    arriving, there = tuple(events[running:]), tuple(events[:running])
    return Arrivals(arriving, tuple(notes), trace.begin, there, run_seconds)


def late_problems(timed: Sequence[Timed], horizon: float) -> list[Problem]:
    """Return a problem for each change after the end of the forecast."""
    return [
        Problem(
            "forecast.change",
            "error",
            f"{change.says} This is at {spelled(change.at)}, after the end of the forecast",
            path=f"changes[{change.place}].at",
            fix=f"choose a moment within {spelled(horizon)}",
        )
        for change in timed
        if change.at > horizon
    ]


def forecast_of(
    document: Json, trace: Trace, times: Times, changes: Sequence[Json] = (), *, seed: int = 0
) -> tuple[Forecast, list[Problem]]:
    """Return `forecast_with` the arrivals of a trace whose queues are those of the scenario."""
    arrivals = arrivals_of(trace, times, names_in_use(document))
    return forecast_with(document, arrivals, times, changes, seed=seed)


def forecast_with(
    document: Json, arrivals: Arrivals, times: Times, changes: Sequence[Json] = (), *, seed: int = 0
) -> tuple[Forecast, list[Problem]]:
    """Return the forecast of a scenario under a workload with timed changes, and every problem that it has.

    Parameters
    ----------
    document : mapping
        The scenario.
    arrivals : Arrivals
        Its workload.
    times : Times
        Clock, delays and what an eviction costs.
    changes : sequence of mapping
        What changes when, see `planning.forecasts.changes`.
    seed : int
        Draws the run times of the scenario's jobs.

    """
    document = _with_running(document, arrivals.running)
    known = run_times(document, times.default_run, arrivals.run_seconds, seed=seed)
    timed, problems = timed_changes(document, changes, str(document.get("now") or ""), times.horizon)
    problems += late_problems(timed, times.horizon)
    changed = [change.event for change in timed]
    events = sorted([*arrivals.events, *changed], key=lambda event: float(event["at"]))
    whole = with_run_times(with_starts(document), known) | {"replay": {**times.as_replay(), "events": events}}
    notes = (
        *arrivals.notes,
        *_beginning_notes(document, arrivals),
        *_class_notes(document, arrivals),
        *notes_of(known, times.default_run),
        *start_notes(document),
        *absent_pods_notes(document),
        *eviction_notes(whole, known),
        *([] if problems else count_notes(whole, times.horizon)),
    )
    return Forecast(whole, tuple(timed), tuple(known), notes), problems


def _beginning_notes(document: Json, arrivals: Arrivals) -> list[str]:
    if not arrivals.events:
        return []
    lasts = float(arrivals.events[-1]["at"])
    return beginning_notes(document, arrivals.begin, lasts=lasts, is_empty=not arrivals.running)


def _with_running(document: Json, running: Sequence[Json]) -> Json:
    """Return a scenario with the jobs of a trace that run at the beginning: enqueued before it.

    The first session places them. Without creation time they are older than all others, and no waits count.
    """
    if not running:
        return document
    groups = [
        {**group, "status": {"phase": "Inqueue"}}
        for event in running
        for group in event["create"]["podgroups"]
    ]
    pods = [pod for event in running for pod in event["create"]["pods"]]
    return {
        **document,
        "podgroups": [*items(document.get("podgroups")), *groups],
        "pods": [*items(document.get("pods")), *pods],
    }


def _class_notes(document: Json, arrivals: Arrivals) -> list[str]:
    """Return which priority classes of the workload the scenario does not have, as a note of a result."""
    known = {one["metadata"]["name"] for one in items(document.get("priorityclasses"))}
    events = (*arrivals.running, *arrivals.events)
    groups = [group for event in events for group in event["create"]["podgroups"]]
    named = [group["spec"].get("priorityClassName", "") for group in groups]
    missing = sorted({name for name in named if name} - known - _BUILT_IN)
    if not missing:
        return []
    jobs = counted(sum(name in missing for name in named), "job")
    return [
        f"Assumed: the default priority of {jobs} of the trace, as the scenario has no priority class"
        f" {', '.join(missing)}."
    ]
