"""The rules of a check that are about forecasts."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from planning.forecasts.clock import duration, moment_of, spelled
from planning.forecasts.costs import unit_of
from planning.forecasts.loops import eviction_loops
from planning.forecasts.losses import losses
from planning.forecasts.record import Record
from planning.forecasts.targets import target_verdicts, waits_of_both
from planning.forecasts.verdict import late_text
from queuecast.compared import KEPT, Compared, Result, unless
from scheduler_core.units import named
from traces.text import counted

NO_WORKLOAD: Result = "skipped", "no workload is named: queuecast check with --trace tests it"


def _wait_p95(wanted: Mapping[str, Any], outcomes: Compared) -> Result:
    if outcomes.forecast is None:
        return NO_WORKLOAD
    target = duration(wanted["at_most"])
    assert target is not None, "the schema accepts lengths of time only"
    (found,) = target_verdicts(outcomes.forecast, {wanted["queue"]: target})
    if found.status == "no_jobs":
        return "skipped", f"queue {found.queue} gets no job of the workload"
    if found.status == "met":
        return KEPT
    waits = found.waits
    assert waits.p95 is not None, "a queue with jobs has waits"
    if found.status == "open":
        waiting = waits.jobs - waits.started
        return "broken", f"it is open: {waiting:,} of {counted(waits.jobs, 'job')} had not started at the end"
    least = "" if waits.started == waits.jobs else "at least "
    late = f"{late_text(found)}, {found.job} first"
    return "broken", f"the 95th percentile is {least}{spelled(waits.p95)}; {late}"


def _no_loop(_wanted: bool, outcomes: Compared) -> Result:
    if outcomes.forecast is None:
        return NO_WORKLOAD
    return unless(
        [
            f"{', '.join(loop.pods[:3])} of queue {loop.queue} every {spelled(loop.interval)},"
            f" {counted(loop.evictions, 'eviction')} from {moment_of(loop.begin, outcomes.forecast.begin)} on"
            for loop in eviction_loops(outcomes.forecast)
        ]
    )


def _lost_hours_at_most(wanted: Mapping[str, Any], outcomes: Compared) -> Result:
    if outcomes.forecast is None:
        return NO_WORKLOAD
    resource, queue = wanted.get("resource", "pods"), wanted.get("queue")
    lost: dict[str, float] = {}
    for loss in losses(outcomes.forecast):
        if queue in (None, loss.queue):
            seconds = (
                loss.pod_seconds
                if resource == "pods"
                else loss.resource_seconds.get(resource, 0.0) / unit_of(resource)
            )
            lost[loss.queue] = lost.get(loss.queue, 0.0) + seconds / 3600
    total = sum(lost.values())
    if total <= wanted["hours"]:
        return KEPT
    parts = ", ".join(f"{hours:,.2f} of {name}" for name, hours in sorted(lost.items()) if hours > 0)
    exact = f"{total:,.2f}" if round(total, 2) > wanted["hours"] else f"{total:,.9g}"
    return "broken", f"{exact} hours of {named(resource)} are lost: {parts}"


def _no_longer_waits(wanted: Mapping[str, Any], outcomes: Compared) -> Result:
    before, after = outcomes.forecast_before, outcomes.forecast
    if before is None or after is None:
        return NO_WORKLOAD
    most = duration(wanted["by"])
    assert most is not None, "the schema accepts lengths of time only"
    facts = []
    for queue in _queues_of(wanted, outcomes):
        was, now = waits_of_both(before, after, queue)
        if was.p95 is None or now.p95 is None:
            continue
        if now.p95 > was.p95 + most:
            least = "" if now.started == now.jobs else "at least "
            waits = f"{least}{spelled(now.p95)} instead of {spelled(was.p95)}"
            facts.append(f"{queue}: the 95th percentile is {waits}")
        elif now.started < was.started:
            counts = f"{now.started:,} instead of {was.started:,} of {counted(now.jobs, 'job')}"
            facts.append(f"{queue}: {counts} start before the end")
    return unless(facts)


def _no_more_evictions(wanted: Mapping[str, Any], outcomes: Compared) -> Result:
    if outcomes.forecast_before is None or outcomes.forecast is None:
        return NO_WORKLOAD
    was, now = map(_evictions_by_queue, (outcomes.forecast_before, outcomes.forecast))
    return unless(
        [
            f"{queue}: {counted(now[queue], 'eviction')} instead of {was[queue]:,}"
            for queue in _queues_of(wanted, outcomes)
            if now[queue] > was[queue]
        ]
    )


def _queues_of(wanted: Mapping[str, Any], outcomes: Compared) -> Iterator[str]:
    """Yield the queue of a rule and those below it; all queues if it names none."""
    yield from outcomes.tree(wanted.get("queue", "root"))


def _evictions_by_queue(record: Record) -> Counter[str]:
    return Counter(record.jobs.queues[row] for row in record.evictions.victims.tolist())


FORECAST_RULES: Mapping[str, Callable[[Any, Compared], Result]] = {
    "wait_p95": _wait_p95,
    "no_longer_waits": _no_longer_waits,
    "no_more_evictions": _no_more_evictions,
    "no_loop": _no_loop,
    "lost_hours_at_most": _lost_hours_at_most,
}
"""Each needs a forecast of the plan."""
COMPARING_RULES = frozenset({"no_longer_waits", "no_more_evictions"})
"""Those that also need a forecast of the snapshot."""
