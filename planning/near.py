"""Which name was meant by one that nothing has?"""

from collections.abc import Iterable
from difflib import get_close_matches


def meant(name: str, known: Iterable[str], shown: int = 5) -> str:
    """Return which of the known names may have been meant, or what there is."""
    names = sorted(set(known))
    if near := get_close_matches(name, names, n=1, cutoff=0.6):
        return f"Did you mean {near[0]!r}?"
    if not names:
        return ""
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return f"There is {', '.join(names[:shown])}{more}."
