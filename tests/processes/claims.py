"""A worker that claims until nothing waits: ``python -m tests.processes.claims NUMBER`` prints what it took.

It waits for a round quarter of a second before each claim, so that several of them claim at the same moment.
"""

import json
import sys
import time

import django

django.setup()

from planner.work.turns import has_queued_work, work_claim_next  # noqa: E402

PAUSE = 0.25
PATIENCE = 90.0


def main(number: str) -> None:
    """Claim until nothing is left."""
    claims, lost = [], 0
    until = time.monotonic() + PATIENCE
    while has_queued_work() and time.monotonic() < until:
        time.sleep(PAUSE - time.time() % PAUSE)
        claim = work_claim_next(worker=f"test:{number}")
        if claim is not None:
            claims.append(str(claim.id))
        elif has_queued_work():
            lost += 1
    sys.stdout.write(json.dumps({"claims": claims, "lost": lost}))


if __name__ == "__main__":
    main(sys.argv[1])
