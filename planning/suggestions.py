"""Suggestions for an unknown name."""

from collections.abc import Iterable
from difflib import get_close_matches


def meant(name: str, known: Iterable[str], shown: int = 5) -> str:
    """Return which known names may be meant, or all there are."""
    names = sorted(set(known))
    if near := get_close_matches(name, names, n=1, cutoff=0.6):
        return f"Did you mean {near[0]!r}?"
    if not names:
        return ""
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return f"There is {', '.join(names[:shown])}{more}."
