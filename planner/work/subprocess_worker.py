"""The protocol of all child processes of a worker.

Standard input ends when the worker is gone, and then the child exits. Standard output carries one JSON object
per line: progress, and at the end a report beside the result file. Standard error carries errors for the log,
and the exit status says how the child ended.
"""

import errno
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from planning.collecting import collected_seldom

OUT_OF_MEMORY = 3
FAILED = 4
NO_SPACE = 5


class Failed(Exception):
    """There is no result; the message is a sentence for the user."""


class Laps:
    """The duration of each step, in milliseconds."""

    def __init__(self) -> None:
        self.milliseconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        """Record the time since the previous step under this name."""
        now = time.perf_counter()
        self.milliseconds[name] = round((now - self._last) * 1000, 1)
        self._last = now


def run_work(work: Callable[[], None]) -> int:
    """Execute the work of a child, with the garbage collector rarely run; return the exit status."""
    threading.Thread(target=_exit_with_the_worker, daemon=True).start()
    try:
        with collected_seldom():
            work()
    except MemoryError:
        return OUT_OF_MEMORY
    except Failed as error:
        send(failed=str(error))
        return FAILED
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        return NO_SPACE
    return 0


def report_progress(done: float, doing: str) -> None:
    """Report the progress, from 0 to 1, and the current step."""
    send(progress=done, doing=doing)


def report_found(found: Mapping[str, Any]) -> None:
    """Report all that has been found so far."""
    send(so_far=found)


def send(**message: Any) -> None:
    """Send a message to the worker."""
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def _exit_with_the_worker() -> None:
    while os.read(0, 1):
        pass
    os._exit(1)
