"""The jobs of a forecast as columns. Times are seconds from its beginning."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Any

import numpy as np

from planning.forecasts.demand import JobSize
from planning.forecasts.steps import Floats, Ints
from scheduler_core.replay.spans import podgroup_ends

Json = Mapping[str, Any]

NEVER = np.nan
NO_JOB = -1


@dataclass(frozen=True, eq=False)
class Jobs:
    """The jobs of a forecast, one per row; NaN stands for a time that did not happen.

    Attributes
    ----------
    names : tuple of str
        ``namespace/name`` of each PodGroup, in order.
    queues : tuple of str
        The queue of each.
    submitted, enqueued, started, finished : array
        Seconds; `started` is when minMember pods ran at once for the first time.
    ended : array
        When a Job ended without completing: it failed, was aborted, terminated or deleted.
    evictions : array
        How many of its pods were evicted.
    lost : array
        Lost run time of its pods, in seconds.
    pods : array
        How many pods it has; 0: unknown.
    minimum : array
        How many of them must run together.
    bound : array
        The last time when the scheduler bound a pod that ran when the job started.
    sizes : mapping
        By resource, what one of its pods requests on average.

    """

    names: tuple[str, ...]
    queues: tuple[str, ...]
    submitted: Floats
    enqueued: Floats
    started: Floats
    finished: Floats
    ended: Floats
    evictions: Ints
    lost: Floats
    pods: Ints
    minimum: Ints
    bound: Floats
    sizes: Mapping[str, Floats]

    def of_queue(self, queue: str) -> Ints:
        """Return the rows of a queue's jobs."""
        return self._of_queues.get(queue, np.empty(0, dtype=np.int64))

    @cached_property
    def _of_queues(self) -> dict[str, Ints]:
        rows: dict[str, list[int]] = {}
        for row, queue in enumerate(self.queues):
            rows.setdefault(queue, []).append(row)
        return {queue: np.array(found, dtype=np.int64) for queue, found in rows.items()}

    @property
    def there_from(self) -> Floats:
        """Return when each job was submitted; 0 for a job of the snapshot without a creation time."""
        return np.nan_to_num(self.submitted)

    @property
    def over(self) -> Floats:
        """Return when each job finished or ended otherwise; NaN for one that still waits or runs."""
        return np.fmin(self.finished, self.ended)

    @property
    def waits(self) -> Floats:
        """Return the seconds from submission to start; NaN for a job that has not started."""
        return self.started - self.submitted

    def waits_at_least(self, end: float) -> Floats:
        """Return the waits; jobs that have not started count until they ended, else until `end`."""
        until = np.where(np.isnan(self.ended), end, self.ended)
        return np.where(np.isnan(self.started), until, self.started) - self.submitted


def jobs_of(
    result: Json, sizes: Mapping[str, JobSize], start_delay: float = 0.0, past: Collection[str] = ()
) -> Jobs:
    """Return the jobs of a replay's result; those without a size have unknown pods.

    Parameters
    ----------
    result : mapping
        The result of the replay.
    sizes : mapping
        The size of each job, by the key of its PodGroup.
    start_delay : float
        The time from the bind until a pod runs, in seconds.
    past : collection of str
        The jobs that were over before, which are left out.

    """
    rows, ends = result["jobs"], podgroup_ends(result)
    names = sorted(rows.keys() - past)
    resources = sorted({resource for size in sizes.values() for resource in size.request})

    def column(read: Callable[[Json], Any]) -> Floats:
        values = [read(rows[name]) for name in names]
        return np.array([NEVER if value is None else value for value in values], dtype=np.float64)

    return Jobs(
        names=tuple(names),
        queues=tuple(rows[name]["queue"] for name in names),
        submitted=column(lambda job: job["submitted"]),
        enqueued=column(lambda job: job["enqueued"]),
        started=column(lambda job: job["started"]),
        finished=column(lambda job: job["finished"]),
        ended=np.array(
            [NEVER if rows[name]["finished"] is not None else ends.get(name, NEVER) for name in names],
            dtype=np.float64,
        ),
        evictions=np.array([rows[name]["evictions"] for name in names], dtype=np.int64),
        lost=column(lambda job: job["lost_seconds"]),
        pods=np.array([sizes[name].pods if name in sizes else 0 for name in names], dtype=np.int64),
        minimum=np.array([sizes[name].minimum if name in sizes else 0 for name in names], dtype=np.int64),
        bound=_bound(result, names, start_delay),
        sizes={
            resource: np.array(
                [sizes[name].request.get(resource, 0.0) if name in sizes else 0.0 for name in names],
                dtype=np.float64,
            )
            for resource in resources
        },
    )


def _bound(result: Json, names: Sequence[str], start_delay: float) -> Floats:
    """Return when the last pod was bound that ran when its job started; NaN for a job that has not."""
    row_of = {name: row for row, name in enumerate(names)}
    started = {
        name: -inf if job["started"] is None else job["started"] for name, job in result["jobs"].items()
    }
    found = np.full(len(names), NEVER)
    for entry in result["log"]:
        for decision in entry["decisions"]:
            name = decision.get("job", "")
            if decision["op"] != "bind" or name not in row_of:
                continue
            if entry["t"] + start_delay <= started.get(name, -inf):
                found[row_of[name]] = entry["t"]
    return found
