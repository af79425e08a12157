"""Metrics of a replay's records, each with its definition.

All functions read the result of a replay as plain data. Times are in seconds, amounts in the scheduler's
units. `among` names the queues to include, None for all; in a tree leave out the parents, whose amounts
include those of their children.

Sources: Feitelson, "Metrics for parallel job scheduling" (bounded slowdown); Jain et al., 1984 (fairness
index); Verma et al., "Borg" (goodput lost, churn).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from scheduler_core.replay.spans import Result, Row, Span, spans

SHORTEST_RUN = 10.0
"""The least run time in seconds in the bounded slowdown."""


def wait(job: Row) -> float | None:
    """Return the seconds from submission until minMember pods ran; None if they have not yet.

    Examples
    --------
    >>> wait({"submitted": 2.5, "started": 10})
    7.5

    """
    if job["started"] is None or job["submitted"] is None:
        return None
    return float(job["started"] - job["submitted"])


def turnaround(job: Row) -> float | None:
    """Return the seconds from submission until the job finished; None if it has not yet."""
    if job["finished"] is None or job["submitted"] is None:
        return None
    return float(job["finished"] - job["submitted"])


def bounded_slowdown(job: Row) -> float | None:
    """Return turnaround over run time, which counts as at least 10 s; never below 1; None if not finished.

    Examples
    --------
    >>> bounded_slowdown({"submitted": 0, "started": 30, "finished": 50})
    2.5

    """
    whole, waited = turnaround(job), wait(job)
    if whole is None or waited is None:
        return None
    return max(1.0, whole / max(whole - waited, SHORTEST_RUN))


def quantile(values: Sequence[float], part: float) -> float | None:
    """Return the smallest value that at least this part of the values do not exceed; None without values.

    Examples
    --------
    >>> quantile([4, 1, 3, 2], 0.5)
    2

    """
    if not values:
        return None
    ordered = sorted(values)
    rank = part * len(ordered)
    position = int(rank) - (1 if rank == int(rank) else 0)
    return ordered[min(max(position, 0), len(ordered) - 1)]


@dataclass(frozen=True)
class QueueWaits:
    """The waits and losses of the jobs of one queue.

    Attributes
    ----------
    jobs, started, finished : int
        Numbers of submitted, started and finished jobs.
    p50, p95, longest : float or None
        Quantiles and maximum of the waits of started jobs, in seconds.
    evictions : int
        The number of evictions of its jobs' pods.
    lost_seconds : float
        Lost run time.

    """

    jobs: int
    started: int
    finished: int
    p50: float | None
    p95: float | None
    longest: float | None
    evictions: int
    lost_seconds: float


def waits_by_queue(result: Result) -> dict[str, QueueWaits]:
    """Return the waits of each queue's jobs, by name."""
    of_queue: dict[str, list[Row]] = {}
    for job in result["jobs"].values():
        of_queue.setdefault(job["queue"], []).append(job)
    return {name: _waits(jobs) for name, jobs in sorted(of_queue.items())}


def _waits(jobs: Sequence[Row]) -> QueueWaits:
    waits = [waited for waited in map(wait, jobs) if waited is not None]
    return QueueWaits(
        jobs=len(jobs),
        started=len(waits),
        finished=sum(job["finished"] is not None for job in jobs),
        p50=quantile(waits, 0.5),
        p95=quantile(waits, 0.95),
        longest=max(waits, default=None),
        evictions=sum(job["evictions"] for job in jobs),
        lost_seconds=float(sum(job["lost_seconds"] for job in jobs)),
    )


def attainment(result: Result, queue: str, target: float) -> float | None:
    """Return the part of a queue's jobs that waited at most `target` seconds; None if it had no job.

    A job that has not started counts as late as soon as it has waited longer than the target.
    """
    met = []
    for job in result["jobs"].values():
        if job["queue"] == queue and job["submitted"] is not None:
            waited = wait(job)
            if waited is not None:
                met.append(waited <= target)
            elif result["end_seconds"] - job["submitted"] > target:
                met.append(False)
    return sum(met) / len(met) if met else None


# over time


def integral(held: Iterable[Span], figure: str, resource: str) -> float:
    """Return the integral of an amount over time, in units times seconds."""
    return float(sum(span.row[figure].get(resource, 0.0) * span.seconds for span in held))


def deficit(held: Iterable[Span], resource: str) -> float:
    """Return the integral of a queue's deficit: max(0, min(deserved, request) - allocated)."""
    return sum(lacking(span.row, resource) * span.seconds for span in held)


def lacking(row: Row, resource: str) -> float:
    """Return by how much the allocated amount is below both the deserved and the requested amount."""
    wanted = min(row["deserved"].get(resource, 0.0), row["request"].get(resource, 0.0))
    return max(0.0, float(wanted - row["allocated"].get(resource, 0.0)))


def longest_starvation(held: Sequence[Span]) -> tuple[float, float]:
    """Return when a queue's longest starvation began and how long it lasted; (0, 0) without one.

    A queue starves while it has a deficit in any resource but `pods`.
    """
    best = current = (0.0, 0.0)
    for span in held:
        starves = any(lacking(span.row, name) > 0 for name in span.row["deserved"] if name != "pods")
        if not starves:
            current = (0.0, 0.0)
            continue
        begin = current[0] if current[1] else span.begin
        current = (begin, span.end - begin)
        if current[1] > best[1]:
            best = current
    return best


def jain_index(result: Result, resource: str, among: Collection[str] | None = None) -> float | None:
    """Return the time average of Jain's index of allocated / deserved, over the queues with a request.

    1 is fair; 1 / n means that one of n queues has all. None if no queue ever deserved and requested any.
    """
    of_queue = spans(result, among)
    moments = sorted({moment for held in of_queue.values() for span in held for moment in span[:2]})
    weighted = seconds = 0.0
    for begin, end in pairwise(moments):
        index = _jain([_row_at(held, begin) for held in of_queue.values()], resource)
        if index is not None:
            weighted += index * (end - begin)
            seconds += end - begin
    return weighted / seconds if seconds else None


def _row_at(held: Sequence[Span], time: float) -> Row | None:
    return next((span.row for span in held if span.begin <= time < span.end), None)


def _jain(rows: Iterable[Row | None], resource: str) -> float | None:
    shares = [
        row["allocated"].get(resource, 0.0) / row["deserved"][resource]
        for row in rows
        if row is not None and row["request"].get(resource) and row["deserved"].get(resource)
    ]
    squares = sum(share * share for share in shares)
    if not shares:
        return None
    return sum(shares) ** 2 / (len(shares) * squares) if squares else 1.0


def utilisation(
    result: Result, resource: str, capacity: float, among: Collection[str] | None = None
) -> float | None:
    """Return the time average of the allocated part of a constant capacity; None without time or capacity."""
    seconds = float(result["end_seconds"])
    if not seconds or not capacity:
        return None
    held = spans(result, among).values()
    return sum(integral(of_queue, "allocated", resource) for of_queue in held) / (capacity * seconds)


# evictions


def evictions_between_queues(result: Result) -> Counter[tuple[str, str]]:
    """Return the number of evicted pods, by their queue and the queue that they were evicted for.

    The second name is empty for evictions that name no preemptor (gangpreempt, gangreclaim, shuffle), and for
    those whose preemptor has no other decision in the log.
    """
    queue_of = {key: job["queue"] for key, job in result["jobs"].items()}
    pods: dict[str, str] = {}
    for entry in result["log"]:
        for decision in entry["decisions"]:
            if "pod" in decision:
                pods[decision["pod"]] = queue_of.get(decision["job"], "")
    return Counter(
        (queue_of.get(decision["job"], ""), pods.get(decision.get("for", ""), ""))
        for entry in result["log"]
        for decision in entry["decisions"]
        if decision["op"] == "evict"
    )


def pod_seconds(result: Result, among: Collection[str] | None = None) -> float:
    """Return the integral of allocated pods over time."""
    return sum(integral(held, "allocated", "pods") for held in spans(result, among).values())


def churn(result: Result, among: Collection[str] | None = None) -> float | None:
    """Return evictions per 1,000 allocated pod-hours; None if nothing was allocated."""
    hours = pod_seconds(result, among) / 3600.0
    evictions = float(sum(job["evictions"] for job in result["jobs"].values()))
    return 1000.0 * evictions / hours if hours else None


def goodput_lost(result: Result, among: Collection[str] | None = None) -> float | None:
    """Return lost run time over allocated pod-seconds; None if nothing was allocated."""
    seconds = pod_seconds(result, among)
    lost = float(sum(job["lost_seconds"] for job in result["jobs"].values()))
    return lost / seconds if seconds else None
