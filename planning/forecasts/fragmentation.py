"""Fragmentation: free resources on nodes where pods of the forecast do not fit.

The definition is that of Weng et al. ("Beware of Fragmentation", ATC 2023), for every resource: what is free
on a node is fragmented for a pod that does not fit there, and the fragmentation of a node is the mean over
the pods of the forecast that request the resource. Amounts alone decide whether a pod fits; taints, selectors
and affinity do not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from planning.forecasts.demand import Request
from planning.forecasts.steps import Floats, Ints, Steps, ratio
from scheduler_core.resource import MIN_RESOURCE, PODS

Json = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Room:
    """The free amount of a resource over time, on all nodes together, in the scheduler's units.

    Attributes
    ----------
    free : Steps
        What no pod holds.
    fragmented : Steps
        How much of it is on nodes where a pod of the forecast does not fit, on average over its pods.

    """

    free: Steps
    fragmented: Steps

    @cached_property
    def part(self) -> Steps:
        """Return the fragmented fraction of the free amount; 0 while nothing is free."""
        return ratio(self.fragmented, self.free)


def rooms_of(rows: Sequence[Json], kinds: Mapping[Request, int]) -> dict[str, Room]:
    """Return the free amounts of each requested resource except `pods`.

    Parameters
    ----------
    rows : sequence of mapping
        `nodes` of the result of a replay: what is free on a node from a time on, in order of time.
    kinds : mapping
        The number of pods of the forecast with each request.

    """
    names = sorted({name for request in kinds for name, amount in request if amount >= MIN_RESOURCE} - {PODS})
    if not rows or not names:
        return {}
    numbers: dict[str, int] = {}
    nodes = np.array([numbers.setdefault(row["node"], len(numbers)) for row in rows], dtype=np.int64)
    times = np.array([row["t"] for row in rows], dtype=np.float64)
    every = [*names, PODS]
    free = np.array([[max(row["free"].get(name, 0.0), 0.0) for name in every] for row in rows])
    wants = np.array([[dict(request).get(name, 0.0) for name in every] for request in kinds])
    counts = np.fromiter(kinds.values(), dtype=np.float64, count=len(kinds))
    states, state_of = np.unique(free, axis=0, return_inverse=True)
    stuck = _stuck(states, wants, counts)[state_of.reshape(-1)]
    order = np.argsort(nodes, kind="stable")
    found = {}
    for place, name in enumerate(names):
        there = _over_nodes(times, nodes, free[:, place], order)
        lost = _over_nodes(times, nodes, free[:, place] * stuck[:, place], order)
        held = np.clip(lost.values, 0.0, there.at(lost.times))
        found[name] = Room(there, Steps.from_changes(lost.times, held))
    return found


def _stuck(states: Floats, wants: Floats, counts: Floats) -> Floats:
    """Return the fraction of pods requesting a resource that do not fit on a node in this state.

    Parameters
    ----------
    states : array
        (S, R): what is free on a node.
    wants : array
        (K, R): what a pod of each kind requests.
    counts : array
        (K,): how many pods are of each kind.

    """
    fits = np.ones((len(states), len(counts)), dtype=np.bool_)
    for free, want in zip(states.T, wants.T, strict=True):
        fits &= (free[:, None] + MIN_RESOURCE > want[None, :]) | (want[None, :] < MIN_RESOURCE)
    weights = counts[:, None] * (wants >= MIN_RESOURCE)
    sums = weights.sum(axis=0)
    shares: Floats = np.divide(weights, sums, out=np.zeros_like(weights), where=sums > 0)
    found: Floats = (~fits).astype(np.float64) @ shares
    return found


def _over_nodes(times: Floats, nodes: Ints, amounts: Floats, order: Ints) -> Steps:
    """Return the sum over nodes of an amount whose new value of one node each row has.

    `order` sorts the rows by node, those of a node in order of time.
    """
    of_node = amounts[order]
    before = np.append(0.0, of_node[:-1])
    before[np.append(True, np.diff(nodes[order]) != 0)] = 0.0
    moves = np.empty_like(amounts)
    moves[order] = of_node - before
    return Steps.from_changes(times, np.cumsum(moves))
