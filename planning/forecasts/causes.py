"""Why the jobs of a forecast waited, by the amounts of their queue and of the nodes at each moment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from planning.amounts import UNLIMITED
from planning.forecasts.record import Record
from planning.forecasts.steps import NOTHING, Floats, Ints, Steps, counted_intervals, moments
from planning.forecasts.targets import submitted_in_time
from scheduler_core.resource import MIN_RESOURCE, PODS

Booleans = npt.NDArray[np.bool_]
Cause = tuple[str, str]
"""One of `CAUSES`, and the resource it concerned; empty: in total."""
CAUSES = ("closed", "at_capability", "above_deserved", "no_room", "not_placed")
"""In the order in which they are considered."""


@dataclass(frozen=True)
class CauseRow:
    """The waits of a queue's jobs submitted during a forecast, divided by cause; in seconds of jobs.

    At each moment a waiting job needs what minMember of its pods request. Jobs of unknown requests are left
    out.

    Attributes
    ----------
    queue : str
    jobs : int
    waited : float
        The sum of all waits; the other figures add up to it.
    closed : float
        While its queue was closed; none in a forecast of an older release.
    at_capability : float
        While it was not, and the job would have taken its queue above its capability in a resource.
    above_deserved : float
        While neither, but deserved amounts decided which jobs get room, and it would have taken its
        queue above deserved in a resource of which the queue deserves some, or its queue deserved none of
        what the job requests.
    no_room : float
        While none of these, and the nodes had less free in total than it needs of a resource.
    not_placed : float
        While enough was free in total: on nodes that are too full or do not match, or held back by a limit of
        a parent, guarantees of other queues, a gate or the order of jobs.
    delays : float
        Until the first session after the submission, and from the last bind until the pods ran.
    resources : mapping
        By cause, the resource that it concerned for longest.

    """

    queue: str
    jobs: int
    waited: float
    closed: float
    at_capability: float
    above_deserved: float
    no_room: float
    not_placed: float
    delays: float
    resources: Mapping[str, str]


def cause_rows(record: Record) -> list[CauseRow]:
    """Return the causes of the waits of each queue's jobs, by name; without queues that got none.

    Empty for a forecast of an older release, which recorded neither capabilities nor binds.
    """
    if not record.has_causes:
        return []
    rows = (_cause_row(record, queue) for queue in sorted(set(record.jobs.queues)))
    return [row for row in rows if row.jobs]


def _cause_row(record: Record, queue: str) -> CauseRow:
    jobs = record.jobs
    rows = submitted_in_time(record, queue)
    rows = rows[jobs.pods[rows] > 0]
    waited = float(jobs.waits_at_least(record.end)[rows].sum())
    first = np.ceil(jobs.submitted[rows] / record.period - 1e-9) * record.period
    begins = np.minimum(first, record.end)
    started, bound = jobs.started[rows], jobs.bound[rows]
    decided = np.where(np.isnan(bound), started, bound)
    ends = np.where(np.isnan(started), np.fmin(jobs.ended[rows], record.end), decided)
    found: Counter[Cause] = Counter()
    for needs, same in _needs(record, rows):
        found.update(_of_equal_jobs(record, queue, needs, begins[same], np.maximum(begins, ends)[same]))
    seconds = {cause: found[cause, ""] for cause in CAUSES}
    return CauseRow(
        queue,
        len(rows),
        waited,
        **seconds,
        delays=max(waited - sum(seconds.values()), 0.0),
        resources={cause: name for cause in CAUSES if (name := _longest(found, cause))},
    )


def _longest(found: Counter[Cause], cause: str) -> str:
    """Return the resource that a cause concerned for longest; empty without one."""
    seconds = {name: value for (kind, name), value in found.items() if kind == cause and name and value}
    return max(sorted(seconds), key=lambda name: seconds[name], default="")


def _needs(record: Record, rows: Ints) -> Iterator[tuple[dict[str, float], Ints]]:
    """Yield what minMember pods of a job request by resource, and the places of the jobs that need this."""
    names = [name for name in sorted(record.jobs.sizes) if name != PODS]
    amounts = np.array([record.jobs.sizes[name][rows] * record.jobs.minimum[rows] for name in names])
    kinds, kind_of = np.unique(amounts.T, axis=0, return_inverse=True)
    for number, kind in enumerate(kinds.tolist()):
        needs = {name: amount for name, amount in zip(names, kind, strict=True) if amount >= MIN_RESOURCE}
        yield needs, np.flatnonzero(kind_of.reshape(-1) == number)


def _of_equal_jobs(
    record: Record, queue: str, needs: dict[str, float], begins: Floats, ends: Floats
) -> dict[Cause, float]:
    """Return the seconds that equal jobs waited by cause, in total and by the resources it concerned."""
    waiting = counted_intervals(begins, ends)
    figures = record.queues.get(queue, {})
    closed = record.closures.get(queue, NOTHING)
    functions = [waiting, closed, record.decided_by_deserved, *(record.free(name) for name in needs)]
    for of_figure in figures.values():
        functions += [steps for name, steps in of_figure.items() if name in needs]
    edges = moments(functions, record.end)
    jobs = waiting.at(edges[:-1])
    times, seconds = edges[:-1][jobs > 0], (jobs * np.diff(edges))[jobs > 0]
    causes = {
        "closed": {"": closed.at(times) > 0},
        "at_capability": _exceeded(record, queue, needs, figures.get("capability", {}), times),
        "above_deserved": _above_deserved(record, queue, needs, times),
        "no_room": {name: record.free(name).at(times) + MIN_RESOURCE < need for name, need in needs.items()},
        "not_placed": {"": np.ones(len(times), dtype=np.bool_)},
    }
    found: dict[Cause, float] = {}
    for cause, of_resource in causes.items():
        holds = np.zeros(len(times), dtype=np.bool_)
        for name, lacks in of_resource.items():
            found[cause, name] = float(seconds[lacks].sum())
            holds |= lacks
        found[cause, ""] = float(seconds[holds].sum())
        seconds = np.where(holds, 0.0, seconds)
    return found


def _above_deserved(
    record: Record, queue: str, needs: dict[str, float], times: Floats
) -> dict[str, Booleans]:
    """Return when a job would take its queue above deserved, by resource.

    Never while nothing follows from deserved. Resources of which the queue deserves nothing do not count; the
    empty name is for times at which it deserves none of those that the job needs. A queue without a request
    is one that no plugin counts.
    """
    decides = record.decided_by_deserved.at(times) > 0
    deserved = record.queues.get(queue, {}).get("deserved", {})
    above = _exceeded(record, queue, needs, deserved, times)
    deserves = counted = np.zeros(len(times), dtype=np.bool_)
    for name in needs:
        some = record.steps(queue, "deserved", name).at(times) >= MIN_RESOURCE
        deserves = deserves | some
        counted = counted | (record.steps(queue, "request", name).at(times) > 0)
        if name in above:
            above[name] &= some & decides
    return {**above, "": counted & ~deserves & decides}


def _exceeded(
    record: Record, queue: str, needs: dict[str, float], limits: Mapping[str, Steps], times: Floats
) -> dict[str, Booleans]:
    """Return when a job would take its queue above a limit, by resource."""
    found: dict[str, Booleans] = {}
    for name in sorted(limits.keys() & needs.keys()):
        most = limits[name].at(times)
        wanted = record.steps(queue, "allocated", name).at(times) + needs[name]
        found[name] = (wanted > most + MIN_RESOURCE) & (most < UNLIMITED)
    return found
