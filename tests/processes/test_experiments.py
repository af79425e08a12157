"""What becomes of an experiment while its workers are killed at random, again and again?"""

import random
import time

import pytest

from tests.processes.installation import Installation

WORKERS = 2
VARIABLES = {"QUEUECAST_CONCURRENCY": "1", "QUEUECAST_BACK_OFF_SECONDS": "0.1"}
PATIENCE = 600.0


def killed_at_random(installation: Installation, experiment: str, seed: int) -> int:
    """Kill a random worker every few seconds until the experiment is over; return how many died."""
    dice, kills, until = random.Random(seed), 0, time.monotonic() + PATIENCE
    workers = [installation.start_worker(**VARIABLES) for _ in range(WORKERS)]
    while installation.drive("experiment_at", experiment)["state"] == "running":
        assert time.monotonic() < until, installation.drive("experiment_at", experiment)
        time.sleep(dice.uniform(3.0, 6.0))
        chosen = dice.randrange(WORKERS)
        workers[chosen].kill()
        workers[chosen] = installation.start_worker(**VARIABLES)
        kills += 1
    return kills


@pytest.mark.long
@pytest.mark.timeout(900)
def test_no_cell_is_lost_doubled_or_wrong_while_workers_are_killed_at_random(
    installation: Installation,
) -> None:
    experiment = installation.drive("experiment_begun", "500")
    kills = killed_at_random(installation, experiment, seed=7)
    assert kills >= 3
    reckoned = installation.drive("experiment_reckoned", experiment)
    assert reckoned["planned"] == 500
    assert (reckoned["lost"], reckoned["doubled"], reckoned["wrong"]) == (0, 0, 0), reckoned
    assert reckoned["taken_again"] > 0
    print(f"{kills} kills: {reckoned}")  # noqa: T201  # the figures of docs/experiments.md
