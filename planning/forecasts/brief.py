"""What of a verdict is shown first: a loop of hundreds of pods must not hide the other findings."""

from __future__ import annotations

from collections.abc import Iterable

MOST_OF_A_KIND = 5


def beyond_first(kinds: Iterable[str]) -> list[int]:
    """Return the numbers of the findings after the first few of their kind, kind by kind.

    >>> beyond_first(["loop"] * 6 + ["lost"] + ["target"] * 7 + ["loop"])
    [5, 14, 12, 13]
    """
    of_kind: dict[str, list[int]] = {}
    for number, kind in enumerate(kinds):
        of_kind.setdefault(kind, []).append(number)
    return [number for numbers in of_kind.values() for number in numbers[MOST_OF_A_KIND:]]
