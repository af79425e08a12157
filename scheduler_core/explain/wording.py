"""Wording of amounts, counts and lists in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from scheduler_core.resource import PODS
from scheduler_core.units import amount_texts


def quantities(amounts: Mapping[str, float], only: Iterable[str] | None = None) -> str:
    """Return amounts as one phrase, without `pods` unless named; "nothing" if there are none.

    Examples
    --------
    >>> quantities({"cpu": 2000, "memory": 0, "pods": 4})
    '2 cores'

    """
    names = [name for name in amounts if name != PODS] if only is None else list(only)
    return ", ".join(amount_texts(amounts, [name for name in names if amounts.get(name)])) or "nothing"


def counted(count: int, word: str) -> str:
    """Return a count with its noun.

    Examples
    --------
    >>> counted(1, "pod"), counted(2, "pod")
    ('1 pod', '2 pods')

    """
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def times(count: int) -> str:
    """Return a number of times in words.

    Examples
    --------
    >>> times(1), times(2), times(3)
    ('once', 'twice', '3 times')

    """
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")


def capitalised(text: str) -> str:
    """Return a clause with a capital first letter; names in it are unchanged.

    Examples
    --------
    >>> capitalised("tier 1 decided by DRF")
    'Tier 1 decided by DRF'

    """
    return text[:1].upper() + text[1:]


def listed(names: Iterable[str], conjunction: str = "and") -> str:
    """Return names as one phrase.

    Examples
    --------
    >>> listed(["a", "b", "c"]), listed(["a", "b"], "or"), listed([])
    ('a, b and c', 'a or b', 'nobody')

    """
    names = list(names)
    if len(names) < 2:
        return names[0] if names else "nobody"
    return f"{', '.join(names[:-1])} {conjunction} {names[-1]}"


def agreed(count: int, one: str, many: str) -> str:
    """Return the form of a verb that agrees with a count.

    Examples
    --------
    >>> agreed(1, "waits", "wait")
    'waits'

    """
    return one if count == 1 else many
