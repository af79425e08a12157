"""What is one thing that can be changed, in which units, and how far?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from scheduler_core.explain.changes import CONF, Change
from scheduler_core.explain.wording import listed

Sizes = tuple[int, ...]


@dataclass(frozen=True)
class Axis:
    """One direction of a change, in the smallest unit that there is: a millicore, a byte, one pod.

    Attributes
    ----------
    most : int
        How many units it goes at most; 0 is the state as it is.
    guess : int
        Where to look first; 0: nothing is known.
    rounds : tuple of int
        How many units make a round amount, from the roundest; round amounts are looked at before others.
    origin : int
        The amount at 0 units: round amounts are counted with it.

    """

    most: int
    guess: int = 0
    rounds: tuple[int, ...] = ()
    origin: int = 0

    def round_between(self, low: int, high: int, step: int) -> int | None:
        """Return a size near the middle of two others whose amount is a multiple of `step`, else None."""
        rounded = (low + high) // 2
        rounded -= (self.origin + rounded) % step
        return next((size for size in (rounded, rounded + step) if low < size < high), None)


@dataclass(frozen=True)
class Remedy:
    """One thing that can be changed, along one axis or several.

    Attributes
    ----------
    name : str
        Its reason in the vocabulary.
    what : str
        The thing in words, such as "weight of queue a"; it tells remedies of one name apart.
    axes : tuple of Axis
        How far it goes.
    changes : callable
        The changes at so many units on each axis.
    sentence : callable
        The same in words.
    numbers : callable
        The same in numbers.
    tried : callable
        In few words how far it goes at these sizes, for changes that do not help.

    """

    name: str
    what: str
    axes: tuple[Axis, ...]
    changes: Callable[[Sizes], list[Change]]
    sentence: Callable[[Sizes], str]
    numbers: Callable[[Sizes], dict[str, Any]]
    tried: Callable[[Sizes], str]

    @property
    def largest(self) -> Sizes:
        """Return the sizes at which it goes as far as it can."""
        return tuple(axis.most for axis in self.axes)

    @property
    def smaller(self) -> list[Sizes]:
        """Return sizes below the largest that are worth a try when that does not help.

        More is not always better: a queue may be raised above its parent, a node may draw others' pods.
        """
        guess = tuple(axis.guess for axis in self.axes)
        least = tuple(min(*axis.rounds[:1], axis.most) if axis.rounds else 1 for axis in self.axes)
        middle = tuple(round((one * axis.most) ** 0.5) for one, axis in zip(least, self.axes, strict=True))
        found = [sizes for sizes in (guess, middle, least) if any(sizes) and sizes != self.largest]
        return list(dict.fromkeys(found))


def counter(
    name: str,
    what: str,
    axis: Axis,
    changes: Callable[[int], list[Change]],
    sentence: Callable[[int], str],
    numbers: Callable[[int], dict[str, Any]],
    tried: Callable[[int], str],
) -> Remedy:
    """Return a remedy along one axis."""
    return Remedy(
        name,
        what,
        (axis,),
        lambda sizes: changes(sizes[0]),
        lambda sizes: sentence(sizes[0]),
        lambda sizes: numbers(sizes[0]),
        lambda sizes: tried(sizes[0]),
    )


def switch(name: str, what: str, changes: Sequence[Change], sentence: str) -> Remedy:
    """Return a remedy that is moved or not."""
    return counter(
        name,
        what,
        Axis(1),
        lambda _steps: list(changes),
        lambda _steps: sentence,
        lambda _steps: {"change": sentence},
        lambda _steps: what,
    )


@dataclass(frozen=True)
class Option:
    """One of several things of a kind, each of which is changed or not.

    Attributes
    ----------
    words : str
        The change in words.
    changes : sequence of Change
        What it changes.

    """

    words: str
    changes: Sequence[Change]


def choice(name: str, what: str, options: Sequence[Option], say: Callable[[Sequence[str]], str]) -> Remedy:
    """Return a remedy with an axis for each of some options, of which it finds a smallest set that helps."""

    def chosen(sizes: Sizes) -> list[Option]:
        return [option for option, size in zip(options, sizes, strict=True) if size]

    return Remedy(
        name,
        what,
        tuple(Axis(1) for _ in options),
        lambda sizes: merged(change for option in chosen(sizes) for change in option.changes),
        lambda sizes: say([option.words for option in chosen(sizes)]),
        lambda sizes: {"change": [option.words for option in chosen(sizes)]},
        lambda sizes: listed(option.words for option in chosen(sizes)),
    )


def merged(changes: Any) -> list[Change]:
    """Return changes one after the other, those of the same thing as one."""
    found: dict[tuple[str, str, str], Change] = {}
    for change in changes:
        place = (change.kind, change.key, change.field)
        first = found.get(place)
        before = change.before if first is None else first.before
        found[place] = Change(*place, before, change.after)
    return list(found.values())


def both(first: Remedy, second: Remedy) -> Remedy:
    """Return two remedies as one. The second was made from the scenario in which the first is moved."""
    split = len(first.axes)

    def parts(sizes: Sizes) -> list[tuple[Remedy, Sizes]]:
        return [
            (remedy, part) for remedy, part in ((first, sizes[:split]), (second, sizes[split:])) if any(part)
        ]

    return Remedy(
        "unblock.pair",
        f"{first.what} and {second.what}",
        first.axes + second.axes,
        lambda sizes: merged(change for remedy, part in parts(sizes) for change in remedy.changes(part)),
        lambda sizes: ", and ".join(remedy.sentence(part) for remedy, part in parts(sizes)),
        lambda sizes: {
            "parts": [{"id": remedy.name, **remedy.numbers(part)} for remedy, part in parts(sizes)]
        },
        lambda sizes: " and ".join(remedy.tried(part) for remedy, part in parts(sizes)),
    )


def configured(name: str, what: str, before: Any, after: Any) -> Remedy:
    """Return a remedy that puts another configuration in the place of this one; `what` says what it does."""
    return switch(name, what, [Change(CONF, "", "", before, after)], what)
