"""Costs of a forecast by queue, which add up to the cost of the nodes.

A node costs its pool's price, which is divided among its resources by their relative prices, or the prices of
its resources. A resource has one price at any moment: the average over the nodes that are there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from planning.forecasts.losses import lost_before, lost_by_eviction
from planning.forecasts.record import Record
from planning.forecasts.steps import Floats, moments

HOUR = 3600.0
GIB = float(2**30)

UNASSIGNED = ""
"""No queue: idle capacity that no queue deserves."""

RELATIVE_PRICES = {"cpu": 0.031611, "memory": 0.004237, "nvidia.com/gpu": 0.95}
"""The relative prices that divide a node's price: OpenCost's defaults of a core, a GiB and a GPU."""


@dataclass(frozen=True)
class Prices:
    """The prices of nodes per hour.

    Attributes
    ----------
    pools : mapping
        Price of one node of a pool, by the pool's name.
    resources : mapping
        Price of a core, a GiB of memory or a device; for nodes of pools without a price.
    currency : str
    relative : mapping
        Relative prices by which the price of a node is divided among its resources.

    """

    pools: Mapping[str, float] = field(default_factory=dict)
    resources: Mapping[str, float] = field(default_factory=dict)
    currency: str = "USD"
    relative: Mapping[str, float] = field(default_factory=lambda: RELATIVE_PRICES)


@dataclass(frozen=True)
class QueueCost:
    """The cost of a queue over a forecast.

    Attributes
    ----------
    queue : str
        Empty for idle capacity that no queue deserves.
    allocated : float
        Its allocated resources.
    borrowed : float
        The part of `allocated` above what it deserves.
    lent : float
        What it deserves and did not use while other queues had more than they deserve; these pay for it.
    idle : float
        What it deserves, and nobody used.
    lost : float
        The part of `allocated` that went into lost run time.
    resource_hours : mapping
        What it had allocated, in cores, GiB and devices times hours.

    """

    queue: str
    allocated: float
    borrowed: float
    lent: float
    idle: float
    lost: float
    resource_hours: Mapping[str, float]

    @property
    def charged(self) -> float:
        """Return the charge of the queue: for what it used, and what was reserved for it."""
        return self.allocated + self.idle


@dataclass(frozen=True)
class Costs:
    """The costs of a forecast.

    Attributes
    ----------
    queues : tuple of QueueCost
        By name; the last one is for no queue.
    nodes : float
        The cost of the nodes: the sum of all charges.
    pools : mapping
        The same by pool.
    currency : str

    """

    queues: tuple[QueueCost, ...]
    nodes: float
    pools: Mapping[str, float]
    currency: str


def unit_of(resource: str) -> float:
    """Return the scheduler's units of a core, a GiB or a device.

    >>> unit_of("cpu"), unit_of("memory"), unit_of("pods")
    (1000.0, 1073741824.0, 1.0)
    """
    return {"memory": GIB, "ephemeral-storage": 1000.0 * GIB, "pods": 1.0}.get(resource, 1000.0)


def costs(record: Record, prices: Prices) -> Costs:
    """Return the costs of a forecast, by queue."""
    ledger = _Ledger(record, prices)
    rows = ledger.rows()
    pools = {
        pool.name: float(np.dot(rates.sum(axis=0), ledger.hours))
        for pool, rates in zip(record.pools, ledger.pool_rates, strict=True)
    }
    return Costs(tuple(rows), sum(pools.values()), pools, prices.currency)


class _Ledger:
    """The intervals of a forecast without any change, and the price of each resource in them."""

    def __init__(self, record: Record, prices: Prices) -> None:
        self.record = record
        self.queues = record.leaves
        functions = [
            function
            for queue in self.queues
            for figure in ("allocated", "deserved")
            for function in record.queues.get(queue, {}).get(figure, {}).values()
        ]
        functions += [function for pool in record.pools for function in (pool.nodes, *pool.offers.values())]
        edges = moments(functions, record.end)
        self.times, self.hours = edges[:-1], np.diff(edges) / HOUR
        self.resources = [name for name in record.resources() if name != "pods"]
        self.pool_rates = [self._rates_of(pool, prices) for pool in record.pools]
        nothing = np.zeros((len(self.resources) + 1, len(self.times)))
        self.rates: Floats = sum(self.pool_rates, nothing)

    def _rates_of(self, pool: Any, prices: Prices) -> Floats:
        """Return the price per hour of each resource of a pool, and last that of no resource."""
        offered = np.array([pool.capacity(name).at(self.times) / unit_of(name) for name in self.resources])
        rates = np.zeros((len(self.resources) + 1, len(self.times)))
        price = prices.pools.get(pool.name)
        by = prices.resources if price is None else prices.relative
        for row, name in enumerate(self.resources):
            rates[row] = offered[row] * by.get(name, 0.0)
        if price is not None:
            whole, weights = pool.nodes.at(self.times) * price, rates.sum(axis=0)
            rates = rates * np.divide(whole, weights, out=np.zeros_like(weights), where=weights > 0)
            rates[-1] = np.where(weights > 0, 0.0, whole)
        return rates

    def rows(self) -> list[QueueCost]:
        """Return the costs of every queue by name, then of none."""
        names = list(self.queues)
        sums = {name: np.zeros(len(names)) for name in ("allocated", "borrowed", "lent", "idle")}
        unassigned = float(np.dot(self.rates[-1], self.hours))
        used: dict[str, dict[str, float]] = {name: {} for name in names}
        unit_prices: dict[str, Floats] = {}
        for row, resource in enumerate(self.resources):
            capacity = self.record.capacity(resource).at(self.times)
            rate = np.divide(self.rates[row], capacity, out=np.zeros_like(capacity), where=capacity > 0)
            cost = rate * self.hours
            unit_prices[resource] = rate
            parts = divided(
                self._of_queues("allocated", resource), self._of_queues("deserved", resource), capacity
            )
            for part in sums:
                sums[part] += parts[part] @ cost
            unassigned += float(parts["unassigned"] @ cost)
            hours = parts["allocated"] @ self.hours / unit_of(resource)
            for name, amount in zip(names, hours.tolist(), strict=True):
                if amount:
                    used[name][resource] = amount
        lost = self._lost(unit_prices)
        made = [
            QueueCost(
                queue=name,
                allocated=float(sums["allocated"][place]),
                borrowed=float(sums["borrowed"][place]),
                lent=float(sums["lent"][place]),
                idle=float(sums["idle"][place]),
                lost=min(lost.get(name, 0.0), float(sums["allocated"][place])),
                resource_hours=used[name],
            )
            for place, name in enumerate(names)
        ]
        return [*made, QueueCost(UNASSIGNED, 0.0, 0.0, 0.0, unassigned, 0.0, {})]

    def _of_queues(self, figure: str, resource: str) -> Floats:
        """Return an amount of every queue (rows) in every interval (columns)."""
        amounts = [self.record.steps(name, figure, resource).at(self.times) for name in self.queues]
        return np.array(amounts).reshape(len(self.queues), len(self.times))

    def _lost(self, unit_prices: Mapping[str, Floats]) -> dict[str, float]:
        """Return the cost of lost run time by queue: of evictions at their moment, else on average.

        What evicted pods had run before the forecast is no cost of it.
        """
        jobs, evictions = self.record.jobs, self.record.evictions
        lost = lost_by_eviction(self.record)
        of_job = np.zeros(len(jobs.names))
        mean = {name: _mean(price, self.hours) for name, price in unit_prices.items()}
        left = jobs.lost.copy()
        if len(lost):
            left -= np.bincount(evictions.victims, weights=lost, minlength=len(jobs.names))
            places = np.clip(np.searchsorted(self.times, evictions.times, side="right") - 1, 0, None)
            during = lost - lost_before(self.record)
            each = during / HOUR * _price_of(self.record, evictions.victims, unit_prices, places)
            of_job += np.bincount(evictions.victims, weights=each, minlength=len(jobs.names))
        for resource, sizes in jobs.sizes.items():
            of_job += np.maximum(left, 0.0) / HOUR * sizes * mean.get(resource, 0.0)
        totals: dict[str, float] = {}
        for queue, amount in zip(jobs.queues, of_job.tolist(), strict=True):
            totals[queue] = totals.get(queue, 0.0) + amount
        return totals


def _price_of(record: Record, rows: Any, unit_prices: Mapping[str, Floats], places: Any) -> Floats:
    """Return the price per hour of one pod of each of these jobs in these intervals."""
    prices = np.zeros(len(rows))
    for resource, sizes in record.jobs.sizes.items():
        if resource in unit_prices and len(unit_prices[resource]):
            prices += sizes[rows] * unit_prices[resource][places]
    return prices


def _mean(price: Floats, hours: Floats) -> float:
    whole = float(hours.sum())
    return float(np.dot(price, hours)) / whole if whole else 0.0


def divided(allocated: Floats, deserved: Floats, capacity: Floats) -> dict[str, Floats]:
    """Return the division of a resource among queues (rows) over time (columns); it sums to the capacity.

    Where queues have more allocated than the nodes offer, each counts with its part of what they offer.
    """
    together = allocated.sum(axis=0)
    over = np.divide(capacity, together, out=np.ones_like(together), where=together > capacity)
    allocated = allocated * over
    kept = np.minimum(deserved, capacity)
    borrowed = np.maximum(allocated - kept, 0.0)
    unused = np.maximum(kept - allocated, 0.0)
    all_unused = unused.sum(axis=0)
    lent = unused * _part(np.minimum(borrowed.sum(axis=0), all_unused), all_unused)
    left = unused - lent
    all_left = left.sum(axis=0)
    idle = np.maximum(capacity - allocated.sum(axis=0), 0.0)
    kept_idle = left * _part(np.minimum(idle, all_left), all_left)
    return {
        "allocated": allocated,
        "borrowed": borrowed,
        "lent": lent,
        "idle": kept_idle,
        "unassigned": idle - kept_idle.sum(axis=0),
    }


def _part(some: Floats, whole: Floats) -> Floats:
    part: Floats = np.divide(some, whole, out=np.zeros_like(whole), where=whole > 0)
    return part
