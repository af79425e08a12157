"""Generated workloads, from patterns and a seed; the same seed gives the same jobs.

Every number is drawn by (seed, job, purpose), so that a change of one pattern leaves the other jobs alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import NormalDist

from traces.draws import drawn, one_of
from traces.model import Role, Trace, TraceJob, ordered

HOUR = 3600.0
DAY = 24 * HOUR


@dataclass(frozen=True)
class Pattern:
    """The workload of one queue.

    Attributes
    ----------
    queue : str
        Its name.
    jobs_per_hour : float
        Arrivals on average.
    by_hour : sequence of 24 floats
        Weights of the hours of a day.
    by_weekday : sequence of 7 floats
        Weights of the days of a week, the first day first.
    run_median, run_spread : float
        Of the lognormal run times: their median in seconds, and the standard deviation of their logarithm.
    run_times : sequence of float
        Run times to draw from instead, in seconds.
    pods : mapping
        How often each number of pods occurs.
    requests : mapping
        Of each pod, Kubernetes quantities by resource.
    like : sequence of TraceJob
        Jobs to draw from instead: what a job has of pods, requests, run time and priority, it has of one of
        these, so that large jobs run as long as large jobs do.

    """

    queue: str
    jobs_per_hour: float
    by_hour: Sequence[float] = (1.0,) * 24
    by_weekday: Sequence[float] = (1.0,) * 7
    run_median: float = 1200.0
    run_spread: float = 1.5
    run_times: Sequence[float] = ()
    pods: Mapping[int, float] = field(default_factory=lambda: {1: 1.0})
    requests: Mapping[str, str] = field(default_factory=dict)
    like: Sequence[TraceJob] = ()


def generate(patterns: Sequence[Pattern], *, seconds: float, seed: int) -> Trace:
    """Return the workload of several queues over some time."""
    jobs = [job for pattern in patterns for job in jobs_of(pattern, seconds, seed)]
    return ordered(jobs, notes=[f"Generated with seed {seed}."])


def jobs_of(pattern: Pattern, seconds: float, seed: int) -> Iterator[TraceJob]:
    """Yield a queue's jobs: arrivals at the highest rate, thinned to the rate of the hour."""
    peak = max(pattern.by_hour) * max(pattern.by_weekday)
    rate = _highest_rate(pattern)
    if not rate:
        return
    time, number = 0.0, 0
    while True:
        number += 1
        time += -math.log(1.0 - drawn(seed, pattern.queue, number, "arrival")) / rate
        if time >= seconds:
            return
        weight = pattern.by_hour[int(time % DAY // HOUR)] * pattern.by_weekday[int(time // DAY) % 7]
        if drawn(seed, pattern.queue, number, "kept") * peak < weight:
            yield _job(pattern, seed, number, time)


def drawn_moments(pattern: Pattern, seconds: float) -> float:
    """Return how many moments are drawn on average, of which those at the rate of their hour are kept."""
    return _highest_rate(pattern) * seconds


def _highest_rate(pattern: Pattern) -> float:
    """Return the arrivals per second in the busiest hour."""
    peak = max(pattern.by_hour) * max(pattern.by_weekday)
    mean = _mean(pattern.by_hour) * _mean(pattern.by_weekday)
    return pattern.jobs_per_hour * peak / mean / HOUR if peak and mean else 0.0


def _job(pattern: Pattern, seed: int, number: int, time: float) -> TraceJob:
    name, submitted = f"{pattern.queue}-{number:06d}", round(time, 3)
    if pattern.like:
        model = one_of(pattern.like, seed, pattern.queue, number, "job")
        return replace(model, name=name, submitted=submitted)
    pods = _chosen(pattern.pods, drawn(seed, pattern.queue, number, "pods"))
    return TraceJob(
        name=name,
        queue=pattern.queue,
        submitted=submitted,
        run_seconds=_run_seconds(pattern, drawn(seed, pattern.queue, number, "run time")),
        roles=(Role(pods, dict(pattern.requests)),),
        min_member=pods,
    )


def _run_seconds(pattern: Pattern, part: float) -> float:
    if pattern.run_times:
        return float(pattern.run_times[int(part * len(pattern.run_times))])
    inside = min(max(part, 1e-9), 1.0 - 1e-9)
    run = pattern.run_median * math.exp(pattern.run_spread * NormalDist().inv_cdf(inside))
    return max(round(run, 3), 1.0)


def _chosen(weights: Mapping[int, float], drawn: float) -> int:
    left = drawn * sum(weights.values())
    for choice, weight in sorted(weights.items()):
        left -= weight
        if left < 0:
            return choice
    return max(weights)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def fitted(trace: Trace, queue: str, seconds: float | None = None) -> Pattern:
    """Return the pattern of one queue of a trace: its rate in each hour, weekdays, and its jobs to draw from.

    Parameters
    ----------
    trace : Trace
        Where the pattern comes from.
    queue : str
        One of its queues.
    seconds : float, optional
        How much time the trace covers; None: until its last submission, at least an hour. Hours of the day
        that it does not cover have the mean rate.

    """
    jobs = [job for job in trace.jobs if job.queue == queue]
    whole = max(trace.span, HOUR) if seconds is None else seconds
    mean = len(jobs) / (whole / HOUR)
    by_hour, by_weekday = [0.0] * 24, [0.0] * 7
    for job in jobs:
        by_hour[int(job.submitted % DAY // HOUR)] += 1.0
        by_weekday[int(job.submitted // DAY) % 7] += 1.0
    covered = [_covered(whole, number, HOUR, 24) for number in range(24)]
    rates = [count / (there / HOUR) if there else mean for count, there in zip(by_hour, covered, strict=True)]
    days = [
        count / _covered(whole, day, DAY, 7) if whole >= 7 * DAY else 1.0
        for day, count in enumerate(by_weekday)
    ]
    return Pattern(queue=queue, jobs_per_hour=_mean(rates), by_hour=rates, by_weekday=days, like=jobs)


def _covered(seconds: float, number: int, length: float, count: int) -> float:
    """Return how much of the first seconds falls into one of `count` parts that repeat in turn.

    >>> _covered(30 * HOUR, 2, HOUR, 24), _covered(30 * HOUR, 6, HOUR, 24)
    (7200.0, 3600.0)
    """
    rounds, rest = divmod(seconds, length * count)
    return rounds * length + min(max(rest - number * length, 0.0), length)
