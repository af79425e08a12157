"""Preview of a trace: counts, arrivals, sizes, run times and their origin."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from planning.forecasts.clock import HOUR
from planning.node_constraints import devices_of
from scheduler_core.quantity import parse_quantity
from scheduler_core.replay.metrics import quantile
from traces import Trace, TraceJob

MOST_BARS = 96
_SOURCES = ("trace", "queue_median", "default")
_BY_NUMBER: Mapping[str, Callable[[str], float]] = {"sizes": int, "run_times": float}


@dataclass(frozen=True)
class QueueWork:
    """The arrivals of one queue.

    Attributes
    ----------
    queue : str
    jobs, pods : int
    run_median, run_p95 : float or None
        Of the run times that the trace gives, in seconds.
    pod_hours : float
        Run time of all pods together; those without a run time count with the queue's median.
    device_hours : mapping
        By device that any job of the trace requests, the same times the number that each pod requests.

    """

    queue: str
    jobs: int
    pods: int
    run_median: float | None
    run_p95: float | None
    pod_hours: float
    device_hours: Mapping[str, float]


@dataclass(frozen=True)
class Preview:
    """The figures of a trace.

    Attributes
    ----------
    jobs : int
    span : float
        Seconds from the beginning of the trace to the last submission.
    begin : str
        The RFC 3339 time of its beginning, empty when it has relative times only.
    queues : tuple of QueueWork
        The largest number of jobs first.
    bar_seconds : float
        The width of a bar of `arrivals`.
    arrivals : mapping
        By queue, the jobs that arrive within each bar.
    sizes : mapping
        How many jobs have so many pods, by pods.
    run_times : mapping
        How many jobs run for at most so long, in seconds; infinite for the rest.
    sources : mapping
        How many jobs have their run time from the trace, from their queue's median, from the default.
    notes : tuple of str

    """

    jobs: int
    span: float
    begin: str
    queues: tuple[QueueWork, ...]
    bar_seconds: float
    arrivals: Mapping[str, Sequence[int]]
    sizes: Mapping[int, int]
    run_times: Mapping[float, int]
    sources: Mapping[str, int]
    notes: tuple[str, ...]

    @property
    def devices(self) -> list[str]:
        """Return the devices that jobs request, by name."""
        return list(self.queues[0].device_hours) if self.queues else []


RUN_TIME_LIMITS = (60.0, 600.0, 3600.0, 6 * 3600.0, 86400.0, 7 * 86400.0, float("inf"))
BARS = (60.0, 300.0, 900.0, 3600.0, 3 * 3600.0, 6 * 3600.0, 86400.0, 7 * 86400.0)


def preview(trace: Trace) -> Preview:
    """Return the figures of a trace."""
    width = next((bar for bar in BARS if trace.span / bar < MOST_BARS), BARS[-1])
    bars = int(trace.span // width) + 1 if trace.jobs else 0
    arrivals: dict[str, list[int]] = {}
    runs: Counter[float] = Counter()
    for job in trace.jobs:
        of_queue = arrivals.setdefault(job.queue, [0] * bars)
        of_queue[int(job.submitted // width)] += 1
        if job.run_seconds is not None:
            runs[next(limit for limit in RUN_TIME_LIMITS if job.run_seconds <= limit)] += 1
    sizes = Counter(job.pods for job in trace.jobs)
    of_queues: dict[str, list[TraceJob]] = {queue: [] for queue in trace.queues()}
    for job in trace.jobs:
        of_queues[job.queue].append(job)
    roles = [role for job in trace.jobs for role in job.roles]
    devices = sorted({device for role in roles for device in devices_of(role.requests)})
    known = {queue: _known(jobs) for queue, jobs in of_queues.items()}
    without = Counter(job.queue for job in trace.jobs if job.run_seconds is None)
    sources = {
        "trace": sum(map(len, known.values())),
        "queue_median": sum(count for queue, count in without.items() if known[queue]),
        "default": sum(count for queue, count in without.items() if not known[queue]),
    }
    return Preview(
        jobs=len(trace.jobs),
        span=trace.span,
        begin=trace.begin,
        queues=tuple(_queue_work(queue, jobs, known[queue], devices) for queue, jobs in of_queues.items()),
        bar_seconds=width,
        arrivals=dict(sorted(arrivals.items())),
        sizes=dict(sorted(sizes.items())),
        run_times={limit: runs[limit] for limit in RUN_TIME_LIMITS},
        sources={name: count for name, count in sources.items() if count},
        notes=trace.notes,
    )


def _known(jobs: Sequence[TraceJob]) -> list[float]:
    return [job.run_seconds for job in jobs if job.run_seconds is not None]


def _queue_work(
    queue: str, jobs: Sequence[TraceJob], known: Sequence[float], devices: Sequence[str]
) -> QueueWork:
    middle = median(known) if known else None
    pod_seconds, device_seconds = 0.0, dict.fromkeys(devices, 0.0)
    for job in jobs:
        for role in job.roles:
            seconds = role.pods * (job.run_seconds or middle or 0.0)
            pod_seconds += seconds
            for device in devices_of(role.requests):
                device_seconds[device] += seconds * float(parse_quantity(role.requests[device]))
    return QueueWork(
        queue=queue,
        jobs=len(jobs),
        pods=sum(job.pods for job in jobs),
        run_median=middle,
        run_p95=quantile(known, 0.95),
        pod_hours=pod_seconds / HOUR,
        device_hours={device: seconds / HOUR for device, seconds in device_seconds.items()},
    )


def plain(shown: Preview) -> dict[str, Any]:
    """Return a preview as a JSON value; `preview_from` returns it again."""
    counts = {name: {str(key): count for key, count in getattr(shown, name).items()} for name in _BY_NUMBER}
    lists = {"queues": [asdict(work) for work in shown.queues], "notes": list(shown.notes)}
    return {**asdict(shown), **counts, **lists}


def preview_from(body: Mapping[str, Any]) -> Preview:
    """Return a stored preview; a database does not keep the order of keys."""
    numbers = {name: {of(key): count for key, count in body[name].items()} for name, of in _BY_NUMBER.items()}
    works = [
        QueueWork(**{**work, "device_hours": dict(sorted(work["device_hours"].items()))})
        for work in body["queues"]
    ]
    return Preview(
        **{
            **body,
            **{name: dict(sorted(counts.items())) for name, counts in numbers.items()},
            "queues": tuple(works),
            "arrivals": dict(sorted(body["arrivals"].items())),
            "sources": {name: body["sources"][name] for name in _SOURCES if name in body["sources"]},
            "notes": tuple(body["notes"]),
        }
    )
