"""Backtests: predicted starts of jobs compared with the real ones."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from math import inf
from statistics import mean, median
from typing import Any

import numpy as np

from planning.documents import items
from planning.forecasts.clock import spelled
from planning.forecasts.divergence import QueueParting, RealJob, queue_partings, uses_of
from planning.forecasts.document import names_in_use
from planning.forecasts.record import Record
from planning.units import percent
from scheduler_core.model.timestamps import parse_time
from scheduler_core.replay.metrics import quantile
from traces import Trace, cut
from traces.events import NAMESPACE, object_names
from traces.kubernetes import key_of, members_of, run_seconds_of, trace_of_objects, with_ended
from traces.text import counted

Json = Mapping[str, Any]

WITHIN = (60.0, 600.0)
"""Tolerances of predicted starts in seconds: those that publications on other forecasts use."""


@dataclass(frozen=True)
class QueueError:
    """The errors of the predicted waits of a queue's jobs, in seconds.

    Attributes
    ----------
    queue : str
    jobs : int
    bias : float
        Mean of predicted minus real waits: positive, the forecast is too pessimistic.
    mean_error, median_error, p95_error : float
        Of the absolute differences.
    real_p95, predicted_p95 : float
        Of the waits themselves.

    """

    queue: str
    jobs: int
    bias: float
    mean_error: float
    median_error: float
    p95_error: float
    real_p95: float
    predicted_p95: float


@dataclass(frozen=True)
class Parting:
    """The first job whose predicted start is off by more than ten minutes."""

    job: str
    queue: str
    predicted: float
    real: float


@dataclass(frozen=True)
class Backtest:
    """A forecast compared with reality.

    Attributes
    ----------
    jobs : int
        Jobs that started in both.
    within : mapping
        The part of all compared jobs whose start was predicted within so many seconds; a job that started in
        only one of both is off.
    queues : tuple of QueueError
    parts_at : Parting or None
    only_predicted, only_real : tuple of str
        Jobs that started in the forecast only, and in reality only.
    unknown : tuple of str
        Real jobs that the forecast does not have, and jobs of the forecast that never arrived.
    notes : tuple of str
        Assumptions and omissions of the forecast, which may be why both diverge.
    partings : tuple of QueueParting
        Where each queue with a job that is off by more than a minute diverges, and the possible causes.

    """

    jobs: int
    within: Mapping[float, float]
    queues: tuple[QueueError, ...]
    parts_at: Parting | None
    only_predicted: tuple[str, ...]
    only_real: tuple[str, ...]
    unknown: tuple[str, ...]
    notes: tuple[str, ...]
    partings: tuple[QueueParting, ...] = ()

    @property
    def says(self) -> str:
        """Return the result in words."""
        if not self.within:
            return "No job started both in the forecast and in reality, so nothing can be compared."
        parts = ", ".join(f"{percent(part)} within {spelled(limit)}" for limit, part in self.within.items())
        total = self.jobs + len(self.only_predicted) + len(self.only_real)
        where = ""
        if self.parts_at is not None:
            apart = self.parts_at
            word = "later" if apart.real > apart.predicted else "earlier"
            where = (
                f" They diverge at {apart.job} of queue {apart.queue}, which really started"
                f" {spelled(abs(apart.real - apart.predicted))} {word} than predicted."
            )
        return f"Of {counted(total, 'job')}, the start was predicted {parts}.{where}"


def real_jobs(document: Json, begin: str) -> dict[str, RealJob]:
    """Return the jobs of a later snapshot, with times in seconds from the forecast's beginning.

    A job has started when minMember of its pods had.
    """
    origin = parse_time(begin)
    members = members_of(items(document.get("pods")))
    found = {}
    for group in with_ended(*(items(document.get(name)) for name in ("podgroups", "pods", "jobs"))):
        created = group["metadata"].get("creationTimestamp")
        if created:
            key, spec = key_of(group), group.get("spec") or {}
            least = max(int(spec.get("minMember") or 1), 1)
            pods = members.get(key, ())
            started = [(pod.get("status") or {}).get("startTime") for pod in pods]
            times = sorted(parse_time(time) - origin for time in started if time)
            started_at = times[least - 1] if len(times) >= least else None
            ran = run_seconds_of(pods) if started_at is not None and pods else None
            found[key] = RealJob(
                queue=spec.get("queue") or "default",
                submitted=parse_time(created) - origin,
                started=started_at,
                finished=None if ran is None else times[0] + ran,
                uses=uses_of(group, pods),
            )
    return found


def real_work(document: Json, begin: str) -> Trace:
    """Return the jobs of a later snapshot that were submitted from the beginning of the forecast on."""
    whole = trace_of_objects(*(items(document.get(name)) for name in ("podgroups", "pods", "jobs")))
    if not whole.jobs:
        return whole
    return cut(whole, parse_time(begin) - parse_time(whole.begin), inf)


def as_predicted(real: Mapping[str, RealJob], rows: Collection[str], scenario: Json) -> dict[str, RealJob]:
    """Return the real jobs by their names in a forecast whose trace may have been read from a snapshot."""
    others = sorted(set(real) - set(rows), key=lambda key: (real[key].submitted, key))
    names = [f"{NAMESPACE}/{name}" for name in object_names(others, names_in_use(scenario))]
    name_of = {key: name for key, name in zip(others, names, strict=True) if name in rows}
    return {name_of.get(key, key): job for key, job in real.items()}


def backtest(
    predicted: Record,
    real: Mapping[str, RealJob],
    until: float | None = None,
    later: Json | None = None,
    scenario: Json | None = None,
) -> Backtest:
    """Return how far forecast and reality agree on the jobs that had not started at its beginning.

    Parameters
    ----------
    predicted : Record
        The forecast.
    real : mapping
        The real jobs, by the key of the PodGroup.
    until : float, optional
        The end of the time for which the real jobs are known, in seconds; None: the end of the forecast.
    later, scenario : mapping, optional
        The later snapshot and the scenario that was forecast, whose differences may be why both diverge.

    """
    end = predicted.end if until is None else min(until, predicted.end)
    rows = dict(zip(predicted.jobs.names, range(len(predicted.jobs.names)), strict=True))
    real = as_predicted(real, rows, scenario or {})
    both, only_predicted, only_real = [], [], []
    starts: dict[str, tuple[float | None, float | None]] = {}
    for name in sorted(set(rows) & set(real)):
        message = _until(known(predicted.jobs.started[rows[name]]), end)
        happened = _until(real[name].started, end)
        if (message is not None and message < 0) or (happened is not None and happened < 0):
            continue
        if message is not None or happened is not None:
            starts[name] = message, happened
        if message is not None and happened is not None:
            both.append((name, real[name], message, happened))
        elif message is not None:
            only_predicted.append(name)
        elif happened is not None:
            only_real.append(name)
    total = len(both) + len(only_predicted) + len(only_real)
    apart = [
        Parting(name, job.queue, message, happened)
        for name, job, message, happened in both
        if abs(message - happened) > WITHIN[-1]
    ]
    of_queue: dict[str, list[tuple[float, float]]] = {}
    for _, job, message, happened in both:
        of_queue.setdefault(job.queue, []).append((message - job.submitted, happened - job.submitted))
    missing = {name for name in set(real) - set(rows) if 0 <= real[name].submitted <= end}
    never_came = {name for name in set(rows) - set(real) if predicted.jobs.submitted[rows[name]] <= end}
    return Backtest(
        jobs=len(both),
        within={
            limit: sum(abs(message - happened) <= limit for _, _, message, happened in both) / total
            for limit in WITHIN
        }
        if total
        else {},
        queues=tuple(_error(queue, waits) for queue, waits in sorted(of_queue.items())),
        parts_at=min(apart, key=lambda one: (min(one.predicted, one.real), one.job), default=None),
        only_predicted=tuple(only_predicted),
        only_real=tuple(only_real),
        unknown=tuple(sorted(missing | never_came)),
        notes=predicted.notes,
        partings=queue_partings(predicted, real, starts, end, later, scenario),
    )


def plain(found: Backtest, most: int = 100) -> dict[str, Any]:
    """Return a backtest as JSON data; long lists of jobs are cut, with their length."""
    rows = {name: getattr(found, name) for name in ("only_predicted", "only_real", "unknown")}
    return {
        "says": found.says,
        "jobs": found.jobs,
        "within": [{"seconds": limit, "part": part} for limit, part in found.within.items()],
        "queues": [asdict(queue) for queue in found.queues],
        "parts_at": None if found.parts_at is None else asdict(found.parts_at),
        **{name: {"count": len(names), "first": list(names[:most])} for name, names in rows.items()},
        "partings": [asdict(parting) for parting in found.partings],
        "notes": list(found.notes),
    }


def _error(queue: str, waits: list[tuple[float, float]]) -> QueueError:
    errors = [abs(message - happened) for message, happened in waits]
    return QueueError(
        queue=queue,
        jobs=len(waits),
        bias=mean(message - happened for message, happened in waits),
        mean_error=mean(errors),
        median_error=median(errors),
        p95_error=quantile(errors, 0.95) or 0.0,
        real_p95=quantile([happened for _, happened in waits], 0.95) or 0.0,
        predicted_p95=quantile([message for message, _ in waits], 0.95) or 0.0,
    )


def known(time: Any) -> float | None:
    """Return a time, None for what is not a number."""
    return None if np.isnan(time) else float(time)


def _until(time: float | None, end: float) -> float | None:
    return None if time is None or time > end else time
