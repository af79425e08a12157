"""The node that came closest to fitting a task, what it lacks, and whether any node could fit it."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scheduler_core.framework.session import Session
from scheduler_core.model.fit import FITS, POD_NUMBER, FitErrors, Why, numbers_in
from scheduler_core.model.job import TaskInfo
from scheduler_core.resource import MIN_RESOURCE, PODS

Mask = NDArray[np.bool_]


class Nearest(NamedTuple):
    """The record of the nodes if a task fits none.

    Attributes
    ----------
    closest : dict or None
        Of the nodes that lack only resources, the one that lacks the smallest part of the task's request:
        `node`, and by resource what it `lacks` and will have `free` once terminating pods are deleted.
    too_large : dict
        By resource the `requested` amount and the `largest` amount of an empty node, among those that do not
        refuse the task for good; only if no such node is large enough.
    not_offered : list of str
        The requested resources of which no node of the cluster has any.
    barred : dict
        How many nodes refuse the task for which reason, regardless of their room; only if all nodes do.
    for_good : bool
        Whether every node refuses it as long as node and task are unchanged, regardless of other pods.

    """

    closest: dict[str, Any] | None
    too_large: dict[str, dict[str, float]]
    not_offered: list[str]
    barred: dict[str, int]
    for_good: bool

    def facts(self) -> dict[str, Any]:
        """Return the record by name, without empty parts."""
        return {name: fact for name, fact in self._asdict().items() if fact or name == "closest"}


NOTHING = Nearest(None, {}, [], {}, for_good=False)


class NearestNodes:
    """The records of the tasks of a session that fit no node.

    The last record of each class of tasks is reused while no node changes and the same nodes refuse it.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._kept: dict[int, tuple[int, Why, Nearest]] = {}

    def to(self, task: TaskInfo, errors: FitErrors) -> Nearest:
        """Return the record of a task; empty if no node was examined, short if none lacks resources."""
        why, statuses = errors.why, self._session.statuses
        if why is None:
            return NOTHING
        if not statuses.lacking(why).any():
            return NOTHING._replace(for_good=_all(statuses.permanent(why)))
        number, now = self._session.functions.class_of(task), len(self._session.nodes.changes)
        seen, refusals, nearest = self._kept.get(number, (-1, why, NOTHING))
        if seen != now or not np.array_equal(refusals, why):
            nearest = _nearest(self._session, task, self._session.statuses.lacking(why))
            self._kept[number] = now, why, nearest
        return nearest


def _nearest(session: Session, task: TaskInfo, short: Mask) -> Nearest:
    """Return the record of a task for which some nodes, `short`, (N,), lack resources."""
    refusals = session.placement.predicates.admission(task)
    crowded = refusals == session.statuses.number(POD_NUMBER)
    admits = (refusals == FITS) | crowded
    permanent = session.statuses.permanent(refusals)
    not_offered = _not_offered(session, task)
    if not admits.any():
        return Nearest(None, {}, not_offered, _barred(session, refusals), _all(permanent))
    closest = _closest(session, task, short & admits, crowded) if (short & admits).any() else None
    return Nearest(closest, _too_large(session, task, ~permanent), not_offered, {}, for_good=False)


def _all(which: Mask) -> bool:
    """Return whether a mask, (N,), is true for all nodes and there are any."""
    return bool(len(which) and which.all())


def _not_offered(session: Session, task: TaskInfo) -> list[str]:
    """Return the requested resources that no node has."""
    nodes = session.nodes
    return [
        nodes.axis.names[position]
        for position, amount in task.shape.demands
        if amount >= MIN_RESOURCE and not (nodes.allocatable[:, position] > 0.0).any()
    ]


def _barred(session: Session, refusals: Why) -> dict[str, int]:
    """Return the number of refusing nodes by reason."""
    counts, reasons = np.bincount(refusals), Counter[str]()
    for number in numbers_in(refusals):
        for status in session.statuses.lists[number]:
            reasons[status.reason] += int(counts[number])
    return dict(sorted(reasons.items()))


def _closest(session: Session, task: TaskInfo, among: Mask, crowded: Mask) -> dict[str, Any]:
    """Return the node `among` some, (N,), that lacks the smallest fraction of a task's request.

    The resource with the largest missing fraction counts. `crowded` nodes, (N,), have their maximum number
    of pods.
    """
    nodes, demands = session.nodes, task.shape.demands
    lacks = [_lacking(amount, nodes.future[:, position]) for position, amount in demands]
    worst = np.zeros(len(nodes))
    for (_, amount), lack in zip(demands, lacks, strict=True):
        np.maximum(worst, lack / (amount or 1.0), out=worst)
    closest = int(np.where(among, worst, np.inf).argmin())
    missing = {
        position: float(lack[closest])
        for (position, _), lack in zip(demands, lacks, strict=True)
        if lack[closest] > 0.0
    }
    names, free = nodes.axis.names, nodes.future_of[closest]
    lacking = {names[position]: amount for position, amount in missing.items()}
    available = {names[position]: free[position] for position in missing}
    if crowded[closest]:
        lacking[PODS], available[PODS] = 1.0, 0.0
    return {"node": nodes.names[closest], "lacks": lacking, "free": available}


def _too_large(session: Session, task: TaskInfo, among: Mask) -> dict[str, dict[str, float]]:
    """Return by resource the request and the most that any node `among` some, (N,), has when it is empty.

    Empty if the task fits one of them.
    """
    nodes = session.nodes
    largest = nodes.allocatable[among]
    demands = [(position, amount) for position, amount in task.shape.demands if amount >= MIN_RESOURCE]
    enough = np.ones(len(largest), dtype=np.bool_)
    for position, amount in demands:
        enough &= amount - largest[:, position] < MIN_RESOURCE
    if enough.any():
        return {}
    most = {position: float(largest[:, position].max()) for position, _ in demands}
    alone = [(position, amount) for position, amount in demands if amount - most[position] >= MIN_RESOURCE]
    sizes = {nodes.axis.names[position]: (amount, most[position]) for position, amount in alone or demands}
    return {
        name: {"requested": amount, "largest": largest}
        for name, (amount, largest) in sizes.items()
        if alone or name != PODS
    }


def _lacking(amount: float, free: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return by how much the free amount of each node falls short, (N,)."""
    lack: NDArray[np.float64] = amount - free
    lack[lack < MIN_RESOURCE] = 0.0
    return lack
