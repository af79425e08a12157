"""Hostile texts are refused with a reason; memory stays within what honest input may need."""

import pytest

from tests.attacks.texts import TEXTS, read_apart

MOST_MB = 500
"""Text of 200 MB may be honest, and is held once; nothing hostile may need more than a few times that."""


COMPUTED = {"quantity below zero", "queue that is its own parent"}
"""What Volcano computes with when it gets past the webhooks: read, and reported by lint."""


@pytest.mark.parametrize("name", TEXTS)
def test_it_is_refused_and_bounded(name: str) -> None:
    told = read_apart(name)
    assert bool(told["refused"]) == (name not in COMPUTED), told
    assert int(str(told["peak_mb"])) < MOST_MB, told
