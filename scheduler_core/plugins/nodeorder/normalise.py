"""Normalization of the candidates' raw scores to 0 to 100, exact in whole numbers.

Source: kube-scheduler ``plugins/helper/normalize_score.go``,
``plugins/interpodaffinity/scoring.go`` at 1.35.3.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

BEST = 100

Whole = NDArray[np.int64]


def normalized(raw: Whole) -> Whole:
    """Scale numbers so that the largest becomes 100; all 0 if none is above 0.

    Examples
    --------
    >>> normalized(np.array([10, 35, 25]))
    array([ 28, 100,  71])

    """
    largest = max(int(raw.max(initial=0)), 0)
    return np.zeros_like(raw) if largest == 0 else BEST * raw // largest


def normalized_reversed(raw: Whole) -> Whole:
    """Scale numbers so that the largest becomes 0, and 0 becomes 100; all 100 if none is above 0.

    Examples
    --------
    >>> normalized_reversed(np.array([1, 1, 2]))
    array([50, 50,  0])

    """
    return BEST - normalized(raw)


def min_max_normalized(raw: Whole) -> Whole:
    """Scale numbers so that the largest becomes 100 and the smallest 0; all 0 if they are equal.

    Examples
    --------
    >>> min_max_normalized(np.array([35, -30, -25]))
    array([100,   0,   7])

    """
    if not len(raw):
        return raw
    smallest = raw.min()
    width = raw.max() - smallest
    if width == 0:
        return np.zeros_like(raw)
    parts: Whole = (float(BEST) * ((raw - smallest) / width)).astype(np.int64)
    return parts
