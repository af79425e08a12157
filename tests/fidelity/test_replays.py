"""Every recorded replay gives the result of the real scheduler."""

from __future__ import annotations

from itertools import islice

import pytest

from tests.fidelity.replays import REPLAYS, difference, recordings

pytestmark = pytest.mark.skipif(not REPLAYS.is_dir(), reason=f"no recordings at {REPLAYS} (QUEUECAST_SHARED)")


def test_sampled_small_recorded_replays_are_equal() -> None:
    assert [
        parted for entry in islice(recordings("small"), 0, None, 16) if (parted := difference(entry))
    ] == []


@pytest.mark.long
@pytest.mark.parametrize("name", ["small", "philly", "philly-confs"])
def test_every_recorded_replay_is_equal(name: str) -> None:
    assert [parted for parted in map(difference, recordings(name)) if parted is not None] == []
