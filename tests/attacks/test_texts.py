"""Hostile texts are refused with a reason; memory stays within what honest input may need."""

import pytest

from tests.attacks.texts import TEXTS, read_apart

MOST_MB = 500
"""A text of 200 MB may be honest and is kept once; a hostile text may need only a few times as much."""


COMPUTED = {"quantity below zero", "queue that is its own parent"}
"""Values that Volcano accepts if they get past the webhooks: read, and reported by the lint."""


@pytest.mark.parametrize("name", TEXTS)
def test_hostile_text_is_refused_within_bounded_memory(name: str) -> None:
    actual = read_apart(name)
    assert bool(actual["refused"]) == (name not in COMPUTED), actual
    assert int(str(actual["peak_mb"])) < MOST_MB, actual
