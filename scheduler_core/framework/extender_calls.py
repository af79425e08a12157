"""Calls to extenders through a function of the caller, as the core does no I/O, and their failures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from scheduler_core.errors import CoreError

LARGEST_ANSWER = 10 * 2**20

Post = Callable[[str, bytes, float | None], bytes]
"""``post(url, body, timeout)`` sends JSON and returns the body of an answer with status 200.

The timeout is in seconds for the whole exchange; None: no limit. A longer body may be truncated to the first
`LARGEST_ANSWER` + 1 bytes. Without such an answer it raises OSError with a sentence; the attribute `status`
of the error, if any, is the status of an answer that is not 200.
"""

KEPT = "extender calls"


class CallFailed(CoreError):
    """A call returned no valid answer."""


@dataclass
class Failures:
    """The number of failures of one verb, and the first failure."""

    count: int
    first: str


class ExtenderCalls:
    """All calls of one simulation.

    Attributes
    ----------
    made : int
        The number of attempted calls.
    failures : dict
        By (verb, whether its failures are ignorable), in the order of the first one.

    """

    def __init__(self, post: Post | None) -> None:
        self._post = post
        self.made = 0
        self.failures: dict[tuple[str, bool], Failures] = {}

    def post(self, prefix: str, path: str, body: bytes, timeout: float | None) -> bytes:
        """Return the body of the answer of ``prefix/path``; raises CallFailed."""
        self.made += 1
        url = f"{prefix}/{path}"
        if self._post is None:
            raise CallFailed(f'Post "{url}": no extender may be called')
        try:
            return self._post(url, body, timeout)
        except OSError as error:
            status = getattr(error, "status", None)
            answered = f"failed {path} with extender at URL {url}, code {status}"
            raise CallFailed(str(error) if status is None else answered) from error

    def failed(self, verb: str, reason: str, *, ignorable: bool) -> None:
        """Record a failed call."""
        known = self.failures.setdefault((verb, ignorable), Failures(0, reason))
        known.count += 1

    def notes(self) -> list[str]:
        """Return notes on the failures, with their counts."""
        return [
            f"Extender: {failures.count} {verb} call{'s' if failures.count > 1 else ''} failed"
            f"{' and were ignored' if ignorable else ''}. First error: {failures.first}"
            for (verb, ignorable), failures in self.failures.items()
        ]

    def error(self) -> str | None:
        """Return the first failure that may not be ignored, None if there is none."""
        for (verb, ignorable), failures in self.failures.items():
            if not ignorable:
                return f"extender: {verb} failed: {failures.first} (extender.ignorable is false)"
        return None
