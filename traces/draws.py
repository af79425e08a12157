"""Draws that depend on what they are for alone, not on the order in which they are made."""

from collections.abc import Sequence
from hashlib import sha256
from typing import TypeVar

Item = TypeVar("Item")


def drawn(*purpose: object) -> float:
    """Return a number from 0 to below 1 that depends on its purpose only.

    Examples
    --------
    >>> drawn(1, "ml", "arrival") == drawn(1, "ml", "arrival") != drawn(2, "ml", "arrival")
    True

    """
    digest = sha256("\n".join(map(str, purpose)).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2.0**64


def one_of(choices: Sequence[Item], *purpose: object) -> Item:
    """Return one of some choices, each with the same probability."""
    return choices[int(drawn(*purpose) * len(choices))]
