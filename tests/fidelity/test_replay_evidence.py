"""Differently computed replays are equal: every comparison that ``replay_evidence`` prints."""

from __future__ import annotations

import pytest

from tests.fidelity.replay_evidence import CHECKS, PHILLY

pytestmark = pytest.mark.skipif(not PHILLY.is_file(), reason=f"no Philly at {PHILLY} (QUEUECAST_SHARED)")


@pytest.mark.long
@pytest.mark.parametrize("name", CHECKS)
def test_differently_computed_replays_are_equal(name: str) -> None:
    equal, total = CHECKS[name]()
    assert equal == total > 0
