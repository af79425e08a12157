"""Suggestions for an unknown name."""

from collections.abc import Iterable
from difflib import get_close_matches


def meant(name: str, known: Iterable[str]) -> str:
    """Return which known name may be meant, or those to choose from, as a sentence; empty without any.

    >>> meant("agnets", ["agents", "ads"]), meant("x", ["agents", "ads"]), meant("x", ["ads"])
    ("Did you mean 'agents'?", 'Choose one of ads, agents.', 'Choose ads.')
    """
    near, choice = _found(name, known, shown=5)
    return f"Did you mean {near!r}?" if near else f"Choose {choice}." if choice else ""


def written_instead(name: str, known: Iterable[str], shown: int = 5) -> str:
    """Return the same as a fix.

    >>> written_instead("agnets", ["agents", "ads"]), written_instead("x", "abcdefg")
    ("write 'agents'", 'write one of a, b, c, d, e and 2 more')
    """
    near, choice = _found(name, known, shown)
    return f"write {near!r}" if near else f"write {choice}" if choice else ""


def _found(name: str, known: Iterable[str], shown: int) -> tuple[str, str]:
    """Return the nearest name, empty without one, and all there are, of which so many are shown."""
    names = sorted(set(known))
    near = get_close_matches(name, names, n=1, cutoff=0.6)
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return "".join(near), f"{'one of ' if len(names) > 1 else ''}{', '.join(names[:shown])}{more}"
