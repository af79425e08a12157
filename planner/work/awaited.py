"""Child processes that a request waits for: one at a time in each web process, with their own limits."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings

from planner.errors import Busy, Invalid
from planner.work.subprocess_runner import ChildFailed, Limits
from planning.rows import Problem

IN_PROCESS_BYTES = 2**18
"""How much text the requesting process itself reads; a child process reads more."""
PATIENCE_SECONDS = 2.0
_turn = threading.BoundedSemaphore(1)


@contextmanager
def awaited(*, rule: str, path: str, fix: str) -> Iterator[Limits]:
    """Take the turn to run a child in the block; yield its limits.

    Raises Busy while another request has the turn, and Invalid with these parts of a problem if the child
    exceeds its limits or is killed.
    """
    if not _turn.acquire(timeout=PATIENCE_SECONDS):
        raise Busy("The server is reading for another request. Try again in a few seconds.")
    try:
        yield Limits(settings.IMPORT_MEMORY_MB, settings.IMPORT_SECONDS, settings.RUN_HEARTBEAT_SECONDS)
    except ChildFailed as error:
        raise Invalid([Problem(rule, "error", str(error), path=path, fix=fix)]) from None
    finally:
        _turn.release()


def go_on(_done: float, _doing: str) -> bool:
    """Let a child go on until it exceeds its limits: nobody can cancel it."""
    return True
