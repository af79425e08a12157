"""Figures of a forecast that an experiment measures.

Each is what the page and the calls of the same forecast show: waits in seconds, lost run time in hours of
pods, amounts in the scheduler's units on average over time, costs in the currency of the prices.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from planning.experiments.figures import WAITS, Figure
from planning.forecasts.costs import HOUR, Prices, costs
from planning.forecasts.record import Record
from planning.forecasts.service import jain_index, mean_lacked
from planning.forecasts.targets import PART, submitted_in_time
from planning.forecasts.verdict import utilisations
from scheduler_core.replay.metrics import quantile

PARTS = {"wait_p50": 0.5, "wait_p95": PART}


def figure_of_forecast(figure: Figure, record: Record, prices: Prices) -> float:
    """Return a number of a forecast; 0 for a queue without jobs."""
    return FORECAST_MEASURES[figure.kind](figure, record, prices)


def highest(figure: Figure, record: Record, value: float) -> float:
    """Return the wait as infinite if jobs that had not started by the end decide it; else `value`."""
    if figure.kind not in WAITS:
        return value
    rows = _rows(figure, record)
    waits = np.where(np.isnan(record.jobs.started[rows]), np.inf, record.jobs.waits[rows])
    return quantile(waits.tolist(), PARTS[figure.kind]) or 0.0


def _rows(figure: Figure, record: Record) -> np.ndarray:
    """Return the jobs of a queue, or of all, that were submitted during the forecast."""
    queues = [figure.queue] if figure.queue else sorted(set(record.jobs.queues))
    return np.concatenate(
        [np.empty(0, dtype=np.int64), *(submitted_in_time(record, queue) for queue in queues)]
    )


def _own(figure: Figure, record: Record) -> np.ndarray:
    jobs = record.jobs
    return jobs.of_queue(figure.queue) if figure.queue else np.arange(len(jobs.names))


def _wait(figure: Figure, record: Record, prices: Prices) -> float:
    so_far = record.jobs.waits_at_least(record.end)[_rows(figure, record)].tolist()
    return quantile(so_far, PARTS[figure.kind]) or 0.0


def _waiting_jobs(figure: Figure, record: Record, prices: Prices) -> float:
    return float(np.isnan(record.jobs.started[_rows(figure, record)]).sum())


def _evictions(figure: Figure, record: Record, prices: Prices) -> float:
    return float(record.jobs.evictions[_own(figure, record)].sum())


def _lost_hours(figure: Figure, record: Record, prices: Prices) -> float:
    return float(record.jobs.lost[_own(figure, record)].sum()) / HOUR


def _deficit(figure: Figure, record: Record, prices: Prices) -> float:
    """Sum the deficits of the queues, on average over time."""
    queues = [figure.queue] if figure.queue else record.leaves
    return sum(mean_lacked(record, queue, figure.resource) for queue in queues)


def _utilisation(figure: Figure, record: Record, prices: Prices) -> float:
    return float(utilisations(record).get(figure.resource, 0.0))


def _fairness(figure: Figure, record: Record, prices: Prices) -> float:
    """Return Jain's index; 1 if no queue ever requested what it deserves."""
    index = jain_index(record, figure.resource)
    return 1.0 if index is None else index


def _cost(figure: Figure, record: Record, prices: Prices) -> float:
    found = costs(record, prices)
    if not figure.queue:
        return found.nodes
    return sum(row.charged for row in found.queues if row.queue == figure.queue)


FORECAST_MEASURES: Mapping[str, Callable[[Figure, Record, Prices], float]] = {
    "wait_p50": _wait,
    "wait_p95": _wait,
    "waiting_jobs": _waiting_jobs,
    "evictions": _evictions,
    "lost_hours": _lost_hours,
    "deficit": _deficit,
    "utilisation": _utilisation,
    "fairness": _fairness,
    "cost": _cost,
}
"""Every kind of figure of a forecast; waits and waiting jobs are of jobs submitted during it."""
OF_JOBS = frozenset({"wait_p50", "wait_p95", "waiting_jobs", "evictions", "lost_hours"})
"""Figures that need only the jobs of a record."""
