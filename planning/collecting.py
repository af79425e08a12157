"""A higher threshold of the garbage collector during simulations, which keep most objects alive."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

COLLECTED_AFTER = 100_000
"""The number of new objects after which the collector runs, instead of 700."""
_lock = Lock()
_before: list[tuple[int, int, int]] = []
"""The previous thresholds, once for each thread that simulates: thresholds belong to the process."""


@contextmanager
def collected_seldom() -> Iterator[None]:
    """Run Python's garbage collector less often: most objects of a simulation live as long as it does.

    The threshold changes no result, and little memory: a replay leaves almost no reference cycles. If
    several threads simulate, the last one to finish restores the thresholds.

    Examples
    --------
    >>> before = gc.get_threshold()
    >>> with collected_seldom(), collected_seldom():
    ...     gc.get_threshold()[0]
    100000
    >>> gc.get_threshold() == before
    True

    """
    with _lock:
        _before.append(_before[0] if _before else gc.get_threshold())
        gc.set_threshold(COLLECTED_AFTER, *_before[0][1:])
    try:
        yield
    finally:
        with _lock:
            first = _before.pop()
            if not _before:
                gc.set_threshold(*first)
