"""Long polling: `Prefer: wait=N` delays a response until the work is finished."""

import re
import time
from threading import BoundedSemaphore

from rest_framework.request import Request

from planner.rules import row_reread
from planner.work.lifecycle import Kind

LONGEST_SECONDS = 30
STEP_SECONDS = 0.2
SEATS = BoundedSemaphore(2)
"""The most waiting calls of a process; others are answered at once, so that waiting starves no other call."""

_WAIT = re.compile(r"(?:^|,)\s*wait\s*=\s*(\d{1,6})\s*(?:,|;|$)", re.ASCII | re.IGNORECASE)


def wait_until_over(request: Request, work: Kind) -> dict[str, str]:
    """Honour ``Prefer: wait=N`` for a run or an import; refresh it and return the response's headers.

    Raises Gone if it is deleted while the call waits.
    """
    preference = _WAIT.search(request.headers.get("Prefer", ""))
    if preference is None or work.is_over or not SEATS.acquire(blocking=False):
        return {}
    try:
        seconds = min(int(preference[1]), LONGEST_SECONDS)
        until = time.monotonic() + seconds
        while not work.is_over and time.monotonic() < until:
            time.sleep(STEP_SECONDS)
            row_reread(work)
    finally:
        SEATS.release()
    return {"Preference-Applied": f"wait={seconds}"}
