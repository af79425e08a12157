"""Figures of a replay's result, each worked out the plain way from its definition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from scheduler_core.replay.metrics import Span, spans

Result = Mapping[str, Any]
Row = Mapping[str, Any]


def wait(job: Row) -> float | None:
    """Return the seconds from submission until minMember pods ran; None while they did not."""
    if job["started"] is None or job["submitted"] is None:
        return None
    return float(job["started"] - job["submitted"])


def integral(held: Iterable[Span], figure: str, resource: str) -> float:
    """Return the integral of an amount over time, in units times seconds."""
    return float(sum(row[figure].get(resource, 0.0) * (end - begin) for begin, end, row in held))


def longest_starvation(held: Sequence[Span]) -> tuple[float, float]:
    """Return when a queue's longest starvation began and how long it lasted; (0, 0) without one.

    A queue starves while it lacks any resource that it deserves and requests, `pods` left out.
    """
    best = current = (0.0, 0.0)
    for span in held:
        starves = any(_lacks(span.row, name) for name in span.row["deserved"] if name != "pods")
        if not starves:
            current = (0.0, 0.0)
            continue
        begin = current[0] if current[1] else span.begin
        current = (begin, span.end - begin)
        if current[1] > best[1]:
            best = current
    return best


def _lacks(row: Row, resource: str) -> bool:
    wanted = min(row["deserved"].get(resource, 0.0), row["request"].get(resource, 0.0))
    return float(wanted) > row["allocated"].get(resource, 0.0)


def utilisation(result: Result, resource: str, capacity: float) -> float:
    """Return the part of a constant capacity that all queues had allocated, over time."""
    allocated = sum(integral(held, "allocated", resource) for held in spans(result).values())
    return allocated / (capacity * float(result["end_seconds"]))


def evictions_between_queues(result: Result) -> Counter[tuple[str, str]]:
    """Return how many pods were evicted, by the queue that lost them and the one they made room for.

    The second name is empty for evictions that name no pod (gangpreempt, gangreclaim, shuffle), and where the
    log decides nothing else about the pod that they name.
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
