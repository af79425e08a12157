"""Three-way merge of values."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Clash:
    """A field that both sides changed to different values; None means absent."""

    path: str
    base: Any
    ours: Any
    theirs: Any


def merged(base: Any, ours: Any, theirs: Any, choose: Callable[[Clash], Any], path: str = "") -> Any:
    """Return the merge of both sides, field by field; `choose` returns the value of a clash.

    Lists are compared item by item where all three are equally long, else as a whole.

    >>> merged({"cpu": "1"}, {"cpu": "2"}, {"cpu": "1", "pods": "5"}, lambda clash: clash.ours)
    {'cpu': '2', 'pods': '5'}
    >>> merged({"cpu": "1"}, {"cpu": "2"}, {"cpu": "3"}, lambda clash: clash.theirs)
    {'cpu': '3'}
    """
    if theirs in (base, ours):
        return ours
    if ours == base:
        return theirs
    if all(isinstance(side, Mapping) for side in (base or {}, ours, theirs)):
        before = base or {}
        together = {
            name: merged(
                before.get(name), ours.get(name), theirs.get(name), choose, f"{path}.{name}".lstrip(".")
            )
            for name in [*theirs, *(name for name in ours if name not in theirs)]
        }
        return {name: value for name, value in together.items() if value is not None}
    if all(isinstance(side, list) and len(side) == len(theirs) for side in (base, ours, theirs)):
        return [
            merged(*sides, choose, f"{path}[{index}]")
            for index, sides in enumerate(zip(base, ours, theirs, strict=True))
        ]
    return choose(Clash(path, base, ours, theirs))
