"""May this caller wait here until the work is over?"""

import re
import time
from threading import BoundedSemaphore

from rest_framework.request import Request

from planner.work.lifecycle import Kind

LONGEST_SECONDS = 30
STEP_SECONDS = 0.2
SEATS = BoundedSemaphore(2)
"""So many calls of a process may wait; the others are answered at once, so that waiting starves nobody."""

_WAIT = re.compile(r"(?:^|,)\s*wait\s*=\s*(\d{1,6})\s*(?:,|;|$)", re.ASCII | re.IGNORECASE)


def wait_until_over(request: Request, work: Kind) -> dict[str, str]:
    """Heed ``Prefer: wait=N`` on a run or an import; return the headers that say so, and leave it fresh."""
    preference = _WAIT.search(request.headers.get("Prefer", ""))
    if preference is None or work.is_over or not SEATS.acquire(blocking=False):
        return {}
    try:
        seconds = min(int(preference[1]), LONGEST_SECONDS)
        until = time.monotonic() + seconds
        while not work.is_over and time.monotonic() < until:
            time.sleep(STEP_SECONDS)
            work.refresh_from_db()
    finally:
        SEATS.release()
    return {"Preference-Applied": f"wait={seconds}"}
