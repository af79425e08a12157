"""The model of a remedy: a change along one or several axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from scheduler_core.explain.changes import CONF, Change
from scheduler_core.explain.wording import listed

Sizes = tuple[int, ...]


@dataclass(frozen=True)
class Axis:
    """One dimension of a change, in the smallest unit: a millicore, a byte, a pod.

    Attributes
    ----------
    most : int
        The maximum number of units; 0 units is the unchanged scenario.
    guess : int
        The size to try first; 0: unknown.
    rounds : tuple of int
        The units of round amounts, the roundest first; round amounts are tried before other amounts.
    origin : int
        The amount at 0 units, to which round amounts refer.

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
    """One possible change, along one axis or several.

    Attributes
    ----------
    name : str
        The id of its reason.
    what : str
        The thing that changes, such as "weight of queue a"; distinguishes remedies of the same name.
    axes : tuple of Axis
        The range of each dimension.
    changes : callable
        The changes at given sizes.
    sentence : callable
        The sentence for given sizes.
    numbers : callable
        The numbers for given sizes.
    tried : callable
        A short phrase for given sizes, for changes that do not help.
    is_variant : bool
        Whether it resembles another one so much that its effect is probably the same; it is tried last.

    """

    name: str
    what: str
    axes: tuple[Axis, ...]
    changes: Callable[[Sizes], list[Change]]
    sentence: Callable[[Sizes], str]
    numbers: Callable[[Sizes], dict[str, Any]]
    tried: Callable[[Sizes], str]
    is_variant: bool = False

    @property
    def largest(self) -> Sizes:
        """Return the sizes at the end of every axis."""
        return tuple(axis.most for axis in self.axes)

    @property
    def smaller(self) -> list[Sizes]:
        """Return sizes below the largest to try if the largest do not help.

        More is not always better: a queue may be raised above its parent, a node may attract pods of other
        jobs.
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
    """Return a remedy that is applied or not."""
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
    """One option of a choice, applied or not.

    Attributes
    ----------
    words : str
        The phrase for the change.
    changes : sequence of Change
        The changes.

    """

    words: str
    changes: Sequence[Change]


def choice(name: str, what: str, options: Sequence[Option], say: Callable[[Sequence[str]], str]) -> Remedy:
    """Return a remedy with an axis for each option; the search finds a smallest set that helps."""

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
    """Return changes in order, with those of the same field merged."""
    found: dict[tuple[str, str, str], Change] = {}
    for change in changes:
        place = (change.kind, change.key, change.field)
        first = found.get(place)
        before = change.before if first is None else first.before
        found[place] = Change(*place, before, change.after)
    return list(found.values())


def both(first: Remedy, second: Remedy) -> Remedy:
    """Return two remedies as one; the second was built for the scenario after the first."""
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
    """Return a remedy that replaces the configuration; `what` describes it."""
    return switch(name, what, [Change(CONF, "", "", before, after)], what)
