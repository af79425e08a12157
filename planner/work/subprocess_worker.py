"""What do all child processes of a worker keep to?

Standard input is the lifeline: it ends when the worker is gone, and so does the child. Standard output
carries one JSON object a line: progress, and at the end what is reported besides the result file. Standard
error carries what went wrong, and the exit status tells the ends apart.
"""

import errno
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

OUT_OF_MEMORY = 3
FAILED = 4
NO_SPACE = 5


class Failed(Exception):
    """There is no result; the message is a sentence for the user."""


class Laps:
    """How long each step took, in milliseconds."""

    def __init__(self) -> None:
        self.milliseconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        """Note what has passed since the step before under the name of this one."""
        now = time.perf_counter()
        self.milliseconds[name] = round((now - self._last) * 1000, 1)
        self._last = now


def ended(work: Callable[[], None]) -> int:
    """Do the work of a child; return the status to exit with."""
    threading.Thread(target=_end_with_the_worker, daemon=True).start()
    try:
        work()
    except MemoryError:
        return OUT_OF_MEMORY
    except Failed as error:
        tell(failed=str(error))
        return FAILED
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        return NO_SPACE
    return 0


def tell_progress(done: float, doing: str) -> None:
    """Say how far the work is, from 0 to 1, and what it is at."""
    tell(progress=done, doing=doing)


def tell_so_far(found: Mapping[str, Any]) -> None:
    """Say what has been found until now, all of it."""
    tell(so_far=found)


def tell(**news: Any) -> None:
    """Say something to the worker."""
    sys.stdout.write(json.dumps(news) + "\n")
    sys.stdout.flush()


def _end_with_the_worker() -> None:
    while os.read(0, 1):
        pass
    os._exit(1)
