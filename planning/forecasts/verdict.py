"""The verdict on a forecast: sentences from its figures, each with a moment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np

from planning.forecasts.backlog import Backlog, backlog_of, by_queue, queues_text
from planning.forecasts.clock import spelled
from planning.forecasts.loops import EvictionLoop, eviction_loops
from planning.forecasts.losses import Loss, gpu_hours, losses
from planning.forecasts.record import Record
from planning.forecasts.starvation import Starvation, starvations
from planning.forecasts.steps import ratio
from planning.forecasts.targets import TargetVerdict, target_verdicts
from planning.forecasts.thrashing import Thrashing, thrashing
from planning.forecasts.unschedulable import Unschedulable
from planning.forecasts.usage import highest
from planning.units import amount_text, percent, written
from scheduler_core.explain.wording import agreed
from scheduler_core.units import named
from traces.text import counted

Tone = Literal["harm", "safe", "neutral"]

STARVES_AFTER = 600.0
"""The duration of a deficit, in seconds, from which the verdict mentions it."""


@dataclass(frozen=True)
class Finding:
    """One sentence of the verdict.

    Attributes
    ----------
    kind : str
        `target`, `unschedulable`, `starvation`, `thrashing`, `loop`, `lost`, `backlog`, `unstarted` or
        `utilisation`.
    tone : str
        Whether it is harm, safe, or neither.
    says : str
        The sentence.
    at : float or None
        The moment where it shows, in seconds from the beginning.
    queue : str
        The queue that it is about, empty for the cluster.
    figures : mapping
        The numbers of the sentence: seconds, counts, parts of 1, amounts in the scheduler's units.

    """

    kind: str
    tone: Tone
    says: str
    at: float | None = None
    queue: str = ""
    figures: Mapping[str, Any] = field(default_factory=dict)


def verdict(
    record: Record, targets: Mapping[str, float], *, starves_after: float = STARVES_AFTER
) -> list[Finding]:
    """Return the verdict on a forecast, harm first.

    Parameters
    ----------
    record : Record
        The forecast.
    targets : mapping
        Seconds within which 95 % of a queue's jobs must have started, by queue.
    starves_after : float
        Seconds for which a queue lacks what it deserves before it is named.

    """
    starved = [one for one in starvations(record) if one.seconds >= starves_after]
    findings = [
        *map(_of_target, target_verdicts(record, targets)),
        *map(_of_unschedulable, record.unschedulable),
        *map(_of_starvation, starved),
        *([] if (again := thrashing(record)) is None else [_of_thrashing(again)]),
        *map(_of_loop, eviction_loops(record)),
        *_of_losses(losses(record)),
        *_of_backlog(backlog_of(record)),
        *_of_unstarted(record),
        *_of_utilisation(record),
    ]
    return sorted(findings, key=lambda finding: finding.tone != "harm")


def _of_target(found: TargetVerdict) -> Finding:
    target, waits = spelled(found.target), found.waits
    figures = {
        "target_seconds": found.target,
        "p95_seconds": waits.p95,
        "jobs": waits.jobs,
        "started": waits.started,
        "late": found.late,
        "status": found.status,
    }
    at_least = "at least " if waits.started < waits.jobs else ""
    tone: Tone = "harm" if found.status == "missed" else "safe" if found.status == "met" else "neutral"
    if found.status == "no_jobs":
        message = f"Queue {found.queue} gets no job, so its wait target of {target} is not tested."
    elif waits.p95 is None:
        raise AssertionError("a queue with jobs has a wait")
    elif found.status == "open":
        open_jobs = counted(waits.jobs - waits.started, "job")
        message = (
            f"Queue {found.queue}: whether its wait target of {target} is met is open, as {open_jobs} had not"
            " started by the end."
        )
    else:
        word = "misses" if found.status == "missed" else "meets"
        message = (
            f"Queue {found.queue} {word} its wait target of {target}: the 95th percentile is"
            f" {at_least}{spelled(waits.p95)}, and {late_text(found)}."
        )
    return Finding("target", tone, message, found.at, found.queue, figures)


def late_text(found: TargetVerdict) -> str:
    """Return how many jobs of a queue wait longer than its target."""
    wait = agreed(found.late, "waits", "wait")
    return f"{found.late:,} of {counted(found.waits.jobs, 'job')} {wait} longer than the target"


def _of_unschedulable(found: Unschedulable) -> Finding:
    jobs, whose = counted(found.jobs, "job"), agreed(found.jobs, "its", "their")
    why = {
        "no_node": f"{whose} pods fit no node, not even an empty one",
        "limit": f"{agreed(found.jobs, 'it requests', 'they request')} more than the queue's capability",
        "no_room": f"too few of {whose} pods fit the nodes together, even if no others were there",
    }
    nodes = f'"{found.nodes}"' if found.cause == "no_node" else found.nodes
    message = f"{jobs} of {found.queue} cannot start: {why[found.cause]}. For {found.job}, {nodes}"
    return Finding("unschedulable", "harm", message, found.submitted, found.queue, asdict(found))


def _of_starvation(found: Starvation) -> Finding:
    lasts = " It lasts beyond the end." if found.lasts else ""
    closed = "all" if found.closed == found.seconds else spelled(found.closed)
    shut = f" The queue is closed for {closed} of this time." if found.closed else ""
    limit = f"{percent(found.held)} of the {named(found.most_requested)} that it deserves"
    held = f" Meanwhile it has {limit}." if found.is_limited else ""
    message = (
        f"Queue {found.queue} gets less than it deserves and requests for {spelled(found.seconds)} without"
        f" interruption, at worst {amount_text(found.resource, found.lacking)} less.{held}{shut}{lasts}"
    )
    figures = {
        "seconds": found.seconds,
        "begin_seconds": found.begin,
        "resource": found.resource,
        "lacking": found.lacking,
        "lasts": found.lasts,
        "closed_seconds": found.closed,
        "most_requested": found.most_requested,
        "held": found.held,
    }
    tone: Tone = "neutral" if found.is_limited else "harm"
    return Finding("starvation", tone, message, found.at, found.queue, figures)


def _of_thrashing(found: Thrashing) -> Finding:
    message = (
        f"The cluster thrashes: {found.again:,} of {_evictions(found.evictions)} are of jobs from which as"
        f" many pods as they have were evicted before. The busiest minute has {_evictions(found.at_most)}."
    )
    return Finding("thrashing", "harm", message, found.at, figures=asdict(found))


def _of_loop(found: EvictionLoop) -> Finding:
    pods = found.pods[0] if len(found.pods) == 1 else f"{len(found.pods):,} pods of {found.victim}"
    by = f" for queue {found.by}" if found.by else ""
    lasts = ", and this goes on at the end" if found.lasts else ""
    often = f"{spelled(found.interval)}{' with interruptions' if found.interrupted else ''}"
    total = "at this interval" if found.interrupted else "in all"
    message = (
        f"{pods} of queue {found.queue} {agreed(len(found.pods), 'is', 'are')} evicted{by} every"
        f" {often}, {_evictions(found.evictions)} {total}{lasts}."
        + (f" An hour of this loop loses {spelled(found.lost_per_hour)} of run time." if found.lost else "")
    )
    figures = {
        "interval_seconds": found.interval,
        "evictions": found.evictions,
        "begin_seconds": found.begin,
        "end_seconds": found.end,
        "lost_seconds": found.lost,
        "lost_seconds_per_hour": found.lost_per_hour,
        "victim": found.victim,
        "preemptors": list(found.preemptors),
        "by": found.by,
        "lasts": found.lasts,
        "interrupted": found.interrupted,
    }
    return Finding("loop", "harm", message, found.begin, found.queue, figures)


def _of_losses(found: list[Loss]) -> Iterator[Finding]:
    for loss in found:
        if loss.pod_seconds <= 0:
            continue
        gpus = gpu_hours(loss.resource_seconds)
        amount = (
            f"{written(gpus)} GPU-hour{'' if gpus == 1 else 's'}"
            if gpus
            else f"{spelled(loss.pod_seconds)} of its pods' run time"
        )
        if loss.by == loss.queue:
            cause = f"to {_evictions(loss.evictions)} for its own jobs"
        elif loss.by:
            cause = f"to {_evictions(loss.evictions)} for queue {loss.by}"
        else:
            cause = "to restarts, lost nodes and evictions that name no job"
        figures = {
            "pod_seconds": loss.pod_seconds,
            "resource_seconds": loss.resource_seconds,
            "evictions": loss.evictions,
            "by": loss.by,
        }
        message = f"Queue {loss.queue} loses {amount} {cause}."
        yield Finding("lost", "harm", message, loss.worst_at, loss.queue, figures)


def _of_backlog(found: Backlog | None) -> Iterator[Finding]:
    if found is not None:
        yield Finding("backlog", "neutral", found.says, found.last_started, "", asdict(found))


def _of_unstarted(record: Record) -> Iterator[Finding]:
    jobs = record.jobs
    waiting = (
        np.isnan(jobs.started)
        & np.isnan(jobs.finished)
        & np.isnan(jobs.ended)
        & (jobs.there_from <= record.end)
    )
    if not waiting.any():
        return
    counts = by_queue(jobs.queues[row] for row in np.flatnonzero(waiting).tolist())
    since = jobs.there_from
    first = min(np.flatnonzero(waiting).tolist(), key=lambda row: (since[row], jobs.names[row]))
    total = sum(counts.values())
    longest, is_known = record.end - float(since[first]), not np.isnan(jobs.submitted[first])
    message = (
        f"{counted(total, 'job')} still {agreed(total, 'waits', 'wait')} at the end: {queues_text(counts)}."
        f" {jobs.names[first]} has waited longest, {'' if is_known else 'at least '}{spelled(longest)}."
    )
    figures = {"jobs": total, "by_queue": counts, "longest_seconds": longest, "job": jobs.names[first]}
    yield Finding("unstarted", "neutral", message, record.end, "", figures)


def _of_utilisation(record: Record) -> Iterator[Finding]:
    parts = utilisations(record)
    shown = [name for name in parts if name not in ("pods", "ephemeral-storage") and "hugepages" not in name]
    if not shown or (record.jobs.names and not record.queues):
        return  # without rows of queues no plugin counts what they have
    first = next((name for name in shown if name.endswith("/gpu")), shown[0])
    peak, _ = highest(ratio(record.allocated(first), record.capacity(first)), record.end)
    listed = ", ".join(f"{percent(parts[name])} of {named(name)}" for name in shown)
    message = f"Volcano's queues have allocated {listed} on average."
    until = last_arrival(record)
    figures = {"parts": parts, "last_arrival": until, "parts_until_last_arrival": utilisations(record, until)}
    yield Finding("utilisation", "neutral", message, peak, "", figures)


def utilisations(record: Record, until: float | None = None) -> dict[str, float]:
    """Return the average allocated fraction of the nodes' capacity, by resource.

    Parameters
    ----------
    record : Record
        The forecast.
    until : float, optional
        The end of the time that counts, in seconds; None: the end of the forecast.

    """
    found, end = {}, record.end if until is None else until
    for resource in record.resources():
        offered = record.capacity(resource).integral(0.0, end)
        if offered > 0:
            found[resource] = record.allocated(resource).integral(0.0, end) / offered
    return found


def last_arrival(record: Record) -> float:
    """Return when the last job was submitted, in seconds; afterwards the cluster only drains."""
    return float(np.nanmax(record.jobs.submitted, initial=0.0))


def _evictions(count: int) -> str:
    return f"{count:,} eviction{'' if count == 1 else 's'}"
