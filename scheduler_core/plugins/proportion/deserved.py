"""The weighted division of the cluster, which gives the deserved amount of each queue.

Source: volcano ``pkg/scheduler/plugins/proportion/proportion.go`` (OnSessionOpen) at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scheduler_core.resource import MIN_RESOURCE

Matrix = NDArray[np.float64]
Mask = NDArray[np.bool_]


class Round(NamedTuple):
    """One round of the division.

    Attributes
    ----------
    remaining : (R,) float64
        The amount that the round divides.
    weight_sum : float
        The sum of the weights of the participating queues.
    unmet : (Q,) bool
        The participating queues.
    offered : (Q, R) float64
        Each queue's weighted part of `remaining`; 0 for a queue that does not participate.
    before, deserved : (Q, R) float64
        The deserved amounts before and after the round.
    met : (Q,) bool
        The queues that do not participate in further rounds.

    """

    remaining: Matrix
    weight_sum: float
    unmet: Mask
    offered: Matrix
    before: Matrix
    deserved: Matrix
    met: Mask


def rounds_of_deserved(
    total: Matrix,
    *,
    weight: Matrix,
    request: Matrix,
    guarantee: Matrix,
    real_capability: Matrix,
    ignored: Mask,
    gains_scalars: Mask,
    loses_scalars: bool,
) -> Iterator[Round]:
    """Divide `total` between queues by weight and yield every round; the last one has the deserved amounts.

    Each round offers every unmet queue its weighted part of the remaining amount, then clips the queue to its
    real capability, then to its request, and finally raises it to its guarantee. A queue is met if its
    request is covered or if the round did not change it at all. The division ends when nothing remains,
    nothing changed, or every queue is met.

    Parameters
    ----------
    total : (R,) float64
        Cluster total in the scheduler's units.
    weight : (Q,) float64
        Queue weights.
    request, guarantee, real_capability : (Q, R) float64
        Per queue; resources not requested or guaranteed are 0, resources without a limit ``inf``.
    ignored : (R,) bool
        Resources whose remainder causes no further round (`pods`).
    gains_scalars : (Q,) bool
        Queues whose deserved amount names a scalar after the first round, even with amount 0. Volcano also
        compares the names, so that such a queue counts as changed by the first round.
    loses_scalars : bool
        Whether the total names a scalar of amount 0, which is no longer named after the first round, so that
        the remaining amount counts as changed.

    Notes
    -----
    Volcano visits queues in random order; here the order is that of the rows. It can only affect the last
    bits of the sum that one round deducts. A guarantee is granted regardless of the offer, so that a column
    of deserved may sum to more than `total`, by at most the guarantees.

    Examples
    --------
    Weights 2, 3 and 5 over 100 cores; the second queue requests only 15, and the rest of its part is divided
    2 to 5.

    >>> rounds = rounds_of_deserved(
    ...     np.array([100.0]),
    ...     weight=np.array([2.0, 3.0, 5.0]),
    ...     request=np.array([[80.0], [15.0], [200.0]]),
    ...     guarantee=np.zeros((3, 1)),
    ...     real_capability=np.full((3, 1), np.inf),
    ...     ignored=np.array([False]),
    ...     gains_scalars=np.zeros(3, dtype=np.bool_),
    ...     loses_scalars=False,
    ... )
    >>> [turn.deserved.ravel().round(2).tolist() for turn in rounds]
    [[20.0, 15.0, 50.0], [24.29, 15.0, 60.71]]

    """
    remaining = total
    deserved = np.zeros_like(request)
    unmet: Mask = np.ones(len(weight), dtype=np.bool_)
    first = True
    while (weight_sum := float(weight[unmet].sum())) > 0:
        before = deserved
        offered = np.where(unmet[:, None], remaining * (weight / weight_sum)[:, None], 0.0)
        clipped = np.minimum(np.minimum(before + offered, real_capability), request)
        deserved = np.where(unmet[:, None], np.maximum(clipped, guarantee), before)
        moved = (deserved != before).any(axis=1) | (first & gains_scalars)
        met = unmet & (covers(deserved, request) | ~moved)
        yield Round(remaining, weight_sum, unmet, offered, before, deserved, met)
        unmet = unmet & ~met
        left = deducted(remaining, deserved - before)
        changed = (left != remaining).any() or (first and loses_scalars)
        if not changed or (left[~ignored] < MIN_RESOURCE).all():
            return
        remaining, first = left, False


class Turn(NamedTuple):
    """The outcome of a queue's turn in a round.

    Attributes
    ----------
    deserved : list of float
        The queue's deserved amount after it, (R,).
    gained : list of float
        The amount that the turn added, (R,).
    stays : bool
        Whether the queue participates in the next round.

    """

    deserved: list[float]
    gained: list[float]
    stays: bool


def final_deserved(
    total: Sequence[float],
    *,
    weight: Sequence[float],
    request: Sequence[Sequence[float]],
    guarantee: Sequence[Sequence[float]],
    real_capability: Sequence[Sequence[float]],
    ignored: Sequence[bool],
    gains_scalars: Sequence[bool],
    loses_scalars: bool,
    first_turns: dict[int, Turn] | None = None,
) -> list[list[float]]:
    """Return `deserved` of the last of `rounds_of_deserved`, (Q, R); empty without any round.

    Performs the same operations in the same order without arrays. For a few queues this takes a third of the
    time, as a round only processes participating queues. Sound, as adding the zeros of the other queues
    changes no sum, and weights are whole numbers. `first_turns` has, by queue, the turns of the first round
    that are known from an earlier division in which only other queues' requests differed; the missing ones
    are added to it. Sound, as the part that the first round offers a queue depends on no request.

    Examples
    --------
    >>> final_deserved(
    ...     [100.0],
    ...     weight=[2.0, 3.0, 5.0],
    ...     request=[[80.0], [15.0], [200.0]],
    ...     guarantee=[[0.0]] * 3,
    ...     real_capability=[[np.inf]] * 3,
    ...     ignored=[False],
    ...     gains_scalars=[False] * 3,
    ...     loses_scalars=False,
    ... )[1:]
    [[15.0], [60.714285714285715]]

    """
    remaining, unmet, first = list(total), list(range(len(weight))), True
    turns = {} if first_turns is None else first_turns
    deserved: list[list[float]] = []
    while (weight_sum := sum([weight[queue] for queue in unmet])) > 0:
        deserved = deserved or [[0.0] * len(remaining) for _ in weight]
        taken, still_unmet = [0.0] * len(remaining), []
        for queue in unmet:
            turn = turns.get(queue) if first else None
            if turn is None:
                part = weight[queue] / weight_sum
                limits = zip(
                    deserved[queue],
                    remaining,
                    real_capability[queue],
                    request[queue],
                    guarantee[queue],
                    strict=True,
                )
                turn = _turn(limits, part, moved=first and gains_scalars[queue])
                if first:
                    turns[queue] = turn
            deserved[queue] = turn.deserved
            taken = [less + more for less, more in zip(taken, turn.gained, strict=True)]
            if turn.stays:
                still_unmet.append(queue)
        left = [rest - less if rest > less else 0.0 for rest, less in zip(remaining, taken, strict=True)]
        changed = left != remaining or (first and loses_scalars)
        remaining, unmet, first = left, still_unmet, False
        if not changed or all(
            rest < MIN_RESOURCE or passed for rest, passed in zip(left, ignored, strict=True)
        ):
            break
    return deserved


def _turn(limits: Iterable[tuple[float, float, float, float, float]], part: float, *, moved: bool) -> Turn:
    """Offer a queue its part; `limits` has, by resource, deserved, remaining, ceiling, request, guarantee."""
    deserved, gained, covered = [], [], True
    for before, rest, ceiling, most, least in limits:
        after = max(min(before + rest * part, ceiling, most), least)
        moved = moved or after != before
        deserved.append(after)
        gained.append(after - before)
        covered = covered and (most < after or abs(most - after) < MIN_RESOURCE)
    return Turn(deserved, gained, moved and not covered)


def covers(deserved: Matrix, request: Matrix) -> Mask:
    """Return which queues deserve their full request, within `MIN_RESOURCE`, (Q,)."""
    within = np.logical_or(request < deserved, np.abs(request - deserved) < MIN_RESOURCE)
    covered: Mask = np.logical_and.reduce(within, axis=1)
    return covered


def deducted(remaining: Matrix, taken: Matrix) -> Matrix:
    """Return `remaining`, (R,), less the sum of the rows of `taken`, (Q, R), at least 0."""
    sums = np.add.accumulate(taken, axis=0)[-1]
    return np.where(remaining > sums, remaining - sums, 0.0)
