"""The rate limit of a client's requests."""

from __future__ import annotations


class Rate:
    """A token bucket: a burst at once, then a constant rate.

    Parameters
    ----------
    per_second : float
        How many tokens are added each second; 0: requests are never delayed.
    burst : int
        The capacity of the bucket.

    Examples
    --------
    >>> rate = Rate(2.0, 1)
    >>> [rate.next(10.0), rate.next(10.0), rate.next(10.0), rate.next(20.0)]
    [10.0, 10.5, 11.0, 20.0]

    """

    def __init__(self, per_second: float, burst: int) -> None:
        self.per_second = per_second
        self.burst = burst
        self.tokens = float(burst)
        self.at = 0.0

    def next(self, time: float) -> float:
        """Return when a request made at a time is sent."""
        if self.per_second <= 0:
            return time
        self.tokens = min(self.tokens + max(time - self.at, 0.0) * self.per_second, float(self.burst))
        self.at = max(self.at, time)
        self.tokens -= 1.0
        return time + max(-self.tokens, 0.0) / self.per_second
