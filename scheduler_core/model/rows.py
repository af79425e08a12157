"""Rows of amounts on the resource axis: adding to them, and whether tasks fit them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from scheduler_core.model.job import TaskInfo
from scheduler_core.model.pod import Pairs
from scheduler_core.resource import MIN_RESOURCE

Matrix = NDArray[np.float64]
Numbers = NDArray[np.intp]


def add_pairs(row: list[float], pairs: Pairs, sign: float) -> None:
    """Add (1.0) or subtract (-1.0) amounts at their positions."""
    for position, amount in pairs:
        row[position] += sign * amount


def without_scalars(pairs: Pairs) -> Pairs:
    """Return the amounts of CPU and memory, which are the first positions of every axis."""
    return tuple(pair for pair in pairs if pair[0] in (0, 1))


def fits(task: TaskInfo, available: Sequence[float]) -> bool:
    """Return whether a task fits the available amounts in every dimension that its request names."""
    for position, amount in task.shape.demands:  # noqa: SIM110
        if amount - available[position] >= MIN_RESOURCE:
            return False
    return True


def fits_any(task: TaskInfo, available: Matrix) -> bool:
    """Return whether a task fits any of N rows of available amounts."""
    lacks = np.zeros(len(available), dtype=np.bool_)
    for position, amount in task.shape.demands:
        lacks |= amount - available[:, position] >= MIN_RESOURCE
    return not lacks.all()


def sums_on_nodes(rows: Matrix, row_of: Numbers, node_of: Numbers, shape: tuple[int, ...]) -> Matrix:
    """Return the sums, (N, R), of the rows of P tasks on their nodes; `shape` is that of the sums."""
    sums: Matrix = np.zeros(shape)
    if len(node_of):
        for column, amounts in enumerate(rows.T):
            sums[:, column] = np.bincount(node_of, amounts[row_of], minlength=len(sums))
    return sums
