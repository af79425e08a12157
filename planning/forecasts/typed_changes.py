"""Timed changes entered in form rows, and their time axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planning.forecasts.changes import Timed
from planning.forecasts.clock import DAY, HOUR, spelled
from planning.queues import count_or_text
from planning.rows import Problem

QUEUE, OPEN, CLOSE, ADD, CONF = "queue", "open", "close", "add", "conf"
HAPPENS: Mapping[str, str] = {
    QUEUE: "queue gets",
    OPEN: "queue is opened",
    CLOSE: "queue is closed",
    ADD: "pool gains nodes",
    "delete": "pool's nodes are deleted",
    "drain": "pool's nodes are drained",
    "lose": "pool's nodes are lost",
    "nodes-delete": "nodes are deleted",
    "nodes-drain": "nodes are drained",
    "nodes-lose": "nodes are lost",
    CONF: "scheduler gets a configuration",
}
"""What can happen, and the words between the time and the subject."""
_WHOLE = ("weight", "priority")
TICKS = (60.0, 300.0, 900.0, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY, 28 * DAY, 364 * DAY)
MOST_TICKS = 9


@dataclass(frozen=True)
class TypedChange:
    """A row of the form, as entered.

    Attributes
    ----------
    at : str
        A moment or a length of time.
    happens : str
        A key of `HAPPENS`.
    subject : str
        The name of a queue or a pool, or names of nodes.
    value : str
        Fields of a queue such as ``weight=5 capability.cpu=8``, or a number of nodes.
    every : str
        The interval at which it repeats, empty for none.
    conf : str
        The text of a scheduler configuration; it counts only for a change of that kind.

    """

    at: str
    happens: str
    subject: str
    value: str
    every: str = ""
    conf: str = ""


def change_of(row: TypedChange, place: int) -> tuple[dict[str, Any], list[Problem]]:
    """Return the change of a row, and what cannot be read; other checks are those of files.

    >>> change_of(TypedChange("18:00", "queue", "batch", "weight=5 capability.cpu=8"), 0)[0]
    {'at': '18:00', 'queue': 'batch', 'set': {'weight': 5, 'capability': {'cpu': '8'}}}
    >>> change_of(TypedChange("Tuesday", "lose", "gpu", "3"), 0)[0]
    {'at': 'Tuesday', 'pool': 'gpu', 'remove': 3, 'how': 'lose'}
    """
    begun = {"at": row.at, **({"every": row.every} if row.every else {})}
    unused = []
    if row.subject.strip() and row.happens == CONF:
        message = f"{row.subject[:40]!r} has no effect: the whole cluster has one configuration"
        unused.append(_problem(place, "subject", message, "leave it empty"))
    if row.value.strip() and (row.happens in (OPEN, CLOSE, CONF) or row.happens.startswith("nodes-")):
        message = f"{row.value[:40]!r} has no effect on a change of this kind"
        unused.append(_problem(place, "value", message, "leave it empty"))
    if row.happens == QUEUE:
        patch, problems = _patch(row.value, place)
        return {**begun, "queue": row.subject, "set": patch}, problems
    if row.happens in (OPEN, CLOSE):
        return {**begun, "queue": row.subject, "state": "open" if row.happens == OPEN else "closed"}, unused
    if row.happens == CONF:
        return {**begun, "scheduler_conf": row.conf}, unused
    if row.happens.startswith("nodes-"):
        names = row.subject.replace(",", " ").split()
        return {**begun, "nodes": names, "how": row.happens.removeprefix("nodes-")}, unused
    if row.happens not in HAPPENS:
        message = f"{row.happens!r} is not a kind of change"
        return begun, [_problem(place, "happens", message, f"choose one of {', '.join(HAPPENS)}")]
    problems = []
    count = count_or_text(row.value)
    if not isinstance(count, int) or count < 1:
        message = f"{row.value[:40]!r} is not a number of nodes"
        problems.append(_problem(place, "value", message, "write a whole number such as 3"))
    if row.happens == ADD:
        return {**begun, "pool": row.subject, "add": count}, problems
    return {**begun, "pool": row.subject, "remove": count, "how": row.happens}, problems


def _patch(text: str, place: int) -> tuple[dict[str, Any], list[Problem]]:
    """Return the merge patch of a queue's spec for ``field=value`` words; an empty value removes."""
    patch: dict[str, Any] = {}
    problems = []
    for word in text.split():
        way, equals, value = word.partition("=")
        field, _, resource = way.partition(".")
        if not equals or not field:
            fix = "write fields such as weight=5 capability.cpu=8"
            problems.append(_problem(place, "value", f"{word!r} is not field=value", fix))
        elif field in patch and not (resource and isinstance(patch[field], dict)):
            problems.append(_problem(place, "value", f"{field} is written twice", "write it once"))
        elif not resource:
            patch[field] = _value(field, value)
        elif field == "guarantee":
            patch.setdefault(field, {"resource": {}})["resource"][resource] = value or None
        else:
            patch.setdefault(field, {})[resource] = value or None
    if not text.split():
        problems.append(_problem(place, "value", "nothing is changed", "write fields such as weight=5"))
    return patch, problems


def _value(field: str, text: str) -> Any:
    if not text:
        return None
    if field in _WHOLE:
        return count_or_text(text)
    return text == "true" if field == "reclaimable" and text in ("true", "false") else text


def _problem(place: int, key: str, message: str, fix: str) -> Problem:
    return Problem("forecast.change", "error", message, path=f"changes[{place}].{key}", fix=fix)


@dataclass(frozen=True)
class Mark:
    """A position on a time axis, in thousandths of its length, and its label."""

    place: float
    label: str


@dataclass(frozen=True)
class ListedChange:
    """A change by its number as written, the first time that it happens, and how often it happens."""

    number: int
    at: float
    says: str
    times: int
    every: str
    """The interval in words, empty if it happens once."""


@dataclass(frozen=True)
class Timeline:
    """Changes on a time axis.

    Attributes
    ----------
    changes : tuple of ListedChange
        As they were written.
    marks, ticks : tuple of Mark
        The changes with their numbers, and the labels of the axis.

    """

    changes: tuple[ListedChange, ...]
    marks: tuple[Mark, ...]
    ticks: tuple[Mark, ...]


def timeline(changes: Sequence[Timed], horizon: float) -> Timeline:
    """Return changes on an axis from the beginning to the horizon, in seconds.

    >>> [(tick.place, tick.label) for tick in timeline([], 86400.0).ticks][:3]
    [(0.0, '0'), (125.0, '3 h'), (250.0, '6 h')]
    """
    whole = max(horizon, 1.0)
    step = next((step for step in TICKS if whole / step < MOST_TICKS), whole / MOST_TICKS)
    count = int(whole / step) + 1
    ticks = [
        Mark(1000 * number * step / whole, spelled(number * step) if number else "0")
        for number in range(count)
    ]
    of_place: dict[int, list[Timed]] = {}
    for change in changes:
        of_place.setdefault(change.place, []).append(change)
    listed = [
        ListedChange(
            place + 1,
            same[0].at,
            same[0].says,
            len(same),
            spelled(same[1].at - same[0].at) if same[1:] else "",
        )
        for place, same in sorted(of_place.items())
    ]
    marks = [Mark(1000 * min(change.at / whole, 1.0), str(change.place + 1)) for change in changes]
    return Timeline(tuple(listed), tuple(marks), tuple(ticks))
