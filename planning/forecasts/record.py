"""The record of a forecast: a row per job and per eviction, and the changes of every amount.

Times are seconds from the beginning of the forecast, amounts in the scheduler's units.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import zip_longest
from math import inf
from typing import Any

import numpy as np

from planning.documents import clock_of, items
from planning.forecasts.clock import instant
from planning.forecasts.demand import Demand, demand_of, pod_jobs
from planning.forecasts.fragmentation import Room, rooms_of
from planning.forecasts.jobs import NO_JOB, Jobs, jobs_of
from planning.forecasts.limits import capabilities_of, closures_of, counted_of, decided_by_deserved
from planning.forecasts.machines import Pool, pools_of
from planning.forecasts.past_jobs import past_jobs
from planning.forecasts.steps import NOTHING, Floats, Ints, Steps, difference, product, total
from planning.forecasts.unschedulable import Unschedulable, unschedulable_jobs
from scheduler_core.replay.spans import Span, spans
from traces.kubernetes import key_of

Json = Mapping[str, Any]
QueueSteps = Mapping[str, Mapping[str, Steps]]
"""By figure (`deserved`, `allocated`, `request`, and `capability` if the queue has one), then by resource."""

ALWAYS = Steps.of([(0.0, 1.0)])
FIGURES = ("deserved", "allocated", "request")


@dataclass(frozen=True, eq=False)
class Evictions:
    """The evictions of a forecast, one per row, in their order.

    Attributes
    ----------
    times : array
        Seconds.
    victims : array
        Rows of the jobs that lost a pod.
    pods : tuple of str
        The pods.
    preemptors : array
        Rows of the jobs that they were evicted for; -1 where the scheduler names none.
    ran : array
        How long each pod had run, in seconds.

    """

    times: Floats
    victims: Ints
    pods: tuple[str, ...]
    preemptors: Ints
    ran: Floats


@dataclass(frozen=True, eq=False)
class Record:
    """The record of a forecast.

    Attributes
    ----------
    begin : str
        RFC 3339 time of second 0, empty when the scenario has no clock.
    end, period : float
        The horizon and the time between sessions, in seconds. A replay with nothing left to decide ends
        earlier: nothing changes until the horizon.
    sessions : int
        How many sessions were due.
    jobs : Jobs
    evictions : Evictions
    queues : mapping
        By queue, its amounts over time.
    leaves : tuple of str
        The queues without children; only they have jobs.
    pools : tuple of Pool
        The nodes over time.
    notes : tuple of str
        What was assumed or left out.
    rooms : mapping
        What is free by resource, and how much of it is fragmented; empty in a forecast of an older release.
    has_causes : bool
        Whether it has what the causes of waits need; not in a forecast of an older release.
    unschedulable : tuple of Unschedulable
        The jobs of whose pods too few fit the nodes.
    decided_by_deserved : Steps
        1 while deserved amounts decide which jobs get room; always in a forecast of an older release.
    closures : mapping
        By queue, 1 while it is closed, without queues that never are; empty in a forecast of an older
        release.

    """

    begin: str
    end: float
    period: float
    sessions: int
    jobs: Jobs
    evictions: Evictions
    queues: Mapping[str, QueueSteps]
    leaves: tuple[str, ...]
    pools: tuple[Pool, ...]
    notes: tuple[str, ...]
    rooms: Mapping[str, Room] = field(default_factory=dict)
    has_causes: bool = True
    unschedulable: tuple[Unschedulable, ...] = ()
    decided_by_deserved: Steps = ALWAYS
    closures: Mapping[str, Steps] = field(default_factory=dict)

    def steps(self, queue: str, figure: str, resource: str) -> Steps:
        """Return an amount of a queue over time."""
        return self.queues.get(queue, {}).get(figure, {}).get(resource, NOTHING)

    def allocated(self, resource: str) -> Steps:
        """Return the allocated resources of all queues together."""
        if resource not in self._allocated:
            self._allocated[resource] = total(
                [self.steps(queue, "allocated", resource) for queue in self.leaves]
            )
        return self._allocated[resource]

    @cached_property
    def _allocated(self) -> dict[str, Steps]:
        """The sums computed so far, as those of a long forecast take time."""
        return {}

    def capacity(self, resource: str) -> Steps:
        """Return the capacity of all nodes together."""
        return total([pool.capacity(resource) for pool in self.pools])

    def free(self, resource: str) -> Steps:
        """Return what no pod holds on all nodes together.

        In a forecast of an older release, and of a resource that no pod requests, the capacity that the
        queues have not allocated.
        """
        if resource in self.rooms:
            return self.rooms[resource].free
        return difference(self.capacity(resource), self.allocated(resource))

    def resources(self) -> list[str]:
        """Return the resources of the nodes."""
        return sorted({resource for pool in self.pools for resource in pool.offers})


def record_of(document: Json, result: Json, *, jobs_only: bool = False) -> Record:
    """Return the record of a replay's result.

    With `jobs_only` the amounts of jobs, and of queues and nodes over time are left out: jobs have no pods
    and sizes, and there are no queues, pools and rooms, which take most of the work.
    """
    vcjobs = result.get("vcjobs") or {}
    demand = Demand({}, {}) if jobs_only else demand_of(document, vcjobs)
    replay = document["replay"]
    delay = float(replay.get("start_delay_seconds") or 0)
    jobs = jobs_of(result, demand.sizes, delay, past_jobs(document))
    end = float(replay["horizon_seconds"])
    rows = {} if jobs_only else spans({**result, "end_seconds": inf})
    counted = NOTHING if jobs_only else counted_of(document, end)
    limits = {} if jobs_only else capabilities_of(document, end, counted)
    queues = [queue["metadata"]["name"] for queue in items(document.get("queues"))]
    parents = {(queue.get("spec") or {}).get("parent") for queue in items(document.get("queues"))}
    named = sorted({*queues, *jobs.queues, *rows} - {"root"})
    return Record(
        begin=str(document.get("now") or ""),
        end=end,
        period=float(replay.get("period_seconds") or 1),
        sessions=int(result["sessions"]),
        jobs=jobs,
        evictions=_evictions(result, document, jobs, delay),
        queues={name: _queue_steps(held, limits.get(name), counted) for name, held in rows.items()},
        leaves=tuple(name for name in named if name not in parents),
        pools=() if jobs_only else tuple(pools_of(document, end)),
        notes=tuple(result.get("notes") or ()),
        rooms={} if jobs_only else rooms_of(result["nodes"], demand.kinds),
        unschedulable=() if jobs_only else unschedulable_jobs(document, jobs, vcjobs, limits),
        decided_by_deserved=ALWAYS if jobs_only else decided_by_deserved(document, end),
        closures={} if jobs_only else closures_of(document, end, counted),
    )


def _evictions(result: Json, document: Json, jobs: Jobs, delay: float) -> Evictions:
    """Return the evictions; a pod starts `delay` seconds after its bind, in seconds."""
    row_of = {name: row for row, name in enumerate(jobs.names)}
    bound: dict[str, float] = {}
    rows: list[tuple[float, int, str, str, float | None]] = []
    for entry in result["log"]:
        for decision in entry["decisions"]:
            pod, row = decision.get("pod"), row_of.get(decision.get("job", ""), NO_JOB)
            if pod is None:
                continue
            if decision["op"] == "bind":
                bound[pod] = entry["t"]
            elif decision["op"] == "evict":
                rows.append((entry["t"], row, pod, decision.get("for", ""), bound.pop(pod, None)))
    job_of = pod_jobs(document, result.get("vcjobs") or {}) if rows else str
    there = _running_since(document) if any(row[4] is None for row in rows) else {}
    starts = [there.get(row[2], delay) if row[4] is None else row[4] + delay for row in rows]
    return Evictions(
        times=np.array([row[0] for row in rows], dtype=np.float64),
        victims=np.array([row[1] for row in rows], dtype=np.int64),
        pods=tuple(row[2] for row in rows),
        preemptors=np.array([row_of.get(job_of(row[3]), NO_JOB) for row in rows], dtype=np.int64),
        ran=np.array(
            [max(row[0] - start, 0.0) for row, start in zip(rows, starts, strict=True)], dtype=np.float64
        ),
    )


def _running_since(document: Json) -> dict[str, float]:
    """Return when the pods started that run at time 0, in seconds from then.

    At 0 if they do not say, or name a later time: the clock of a snapshot may be before its newest pods.
    """
    begin = instant(clock_of(document))
    found = {}
    for pod in items(document.get("pods")):
        status = pod.get("status") or {}
        if status.get("phase") == "Running":
            start = instant(str(status.get("startTime") or ""))
            found[key_of(pod)] = min((start - begin).total_seconds(), 0.0) if start and begin else 0.0
    return found


def _queue_steps(held: Sequence[Span], capability: Mapping[str, Steps] | None, counted: Steps) -> QueueSteps:
    """Return a queue's amounts over time.

    Between two ranges of rows, and while no plugin counts queues, all but its capability are zero. The last
    row of a queue that still has PodGroups has no end.
    """
    found: dict[str, dict[str, Steps]] = {}
    ends = [
        span.end
        for span, following in zip_longest(held, held[1:])
        if (inf if following is None else following.begin) > span.end
    ]
    for figure in FIGURES:
        resources = sorted({resource for span in held for resource in span.row[figure]})
        for resource in resources:
            changes = [(span.begin, float(span.row[figure].get(resource, 0.0))) for span in held]
            changes += [(end, 0.0) for end in ends]
            changes.sort(key=lambda change: change[0])
            steps = Steps.of(changes)
            found.setdefault(figure, {})[resource] = product(steps, counted)
    return found if capability is None else {**found, "capability": capability}
