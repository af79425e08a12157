"""Timed changes of a forecast, such as "At 18:00 the weight of batch is 5", as events of a replay."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from planning.forecasts.changed_state import WAYS, ChangedState, change_problem
from planning.forecasts.clock import FORMS, duration, seconds_until
from planning.rows import Problem

Json = Mapping[str, Any]

KINDS = {
    "queue": "the name of a queue; with `set`, a merge patch of its spec, or `state`: open or closed",
    "pool": "the name of a node pool; with `add`, or with `remove` and `how`",
    "nodes": "names of nodes; with `how`",
    "scheduler_conf": "the text of a scheduler configuration",
}
_TIMES = {"at", "every"}
_KEYS = {
    "queue": {*_TIMES, "queue", "set", "state"},
    "pool": {*_TIMES, "pool", "add", "remove", "how"},
    "nodes": {*_TIMES, "nodes", "how"},
    "scheduler_conf": {*_TIMES, "scheduler_conf"},
}
MOST_REPEATS = 1_000
"""The most times that one change happens."""


@dataclass(frozen=True)
class Timed:
    """A change with its time; one that repeats occurs several times.

    Attributes
    ----------
    at : float
        Seconds from the beginning.
    event : mapping
        The event of the replay.
    says : str
        The change in words.
    place : int
        Its position in the list as written.

    """

    at: float
    event: Json
    says: str
    place: int


def timed_changes(
    document: Json, changes: Sequence[Json], begin: str, horizon: float
) -> tuple[list[Timed], list[Problem]]:
    """Return the changes of a scenario in order of time, or all of their problems.

    Each applies to the result of those before it: of two changes of a queue the second keeps what the first
    has set.

    Parameters
    ----------
    document : mapping
        The scenario.
    changes : sequence of mapping
        As they were written.
    begin : str
        The RFC 3339 time of second 0, empty without a clock.
    horizon : float
        Until when changes repeat, in seconds.

    """
    problems: list[Problem] = []
    read: list[tuple[float, int, Json]] = []
    for place, change in enumerate(changes):
        if not isinstance(change, Mapping):
            problems.append(
                change_problem(place, "", "the change is not a mapping", "write {at: 18:00, queue: …}")
            )
            continue
        found = list(_form_problems(change, place))
        at = seconds_until(change.get("at"), begin) if "at" in change else None
        if at is None:
            found += ChangedState(document).problems(change, place) if not found and "queue" in change else ()
            found.append(
                change_problem(
                    place, "at", f"{repr(change.get('at'))[:60]} is not a moment of the forecast", FORMS
                )
            )
        if at is not None and not found:
            times, found = _times(change, place, at, horizon)
            read += [(time, place, change) for time in times]
        problems += found
    state = ChangedState(document)
    timed, impossible = [], set[int]()
    for at, place, change in sorted(read, key=lambda entry: entry[:2]):
        if place in impossible:
            continue
        made = state.make(change, place)
        if isinstance(made, tuple):
            event, message = made
            timed.append(Timed(at, {"at": at, **event}, message, place))
        else:
            impossible.add(place)
            problems += made
    return timed, problems


def _times(change: Json, place: int, at: float, horizon: float) -> tuple[list[float], list[Problem]]:
    """Return the times of a change whose first is `at`, or why its interval is invalid."""
    if "every" not in change:
        return [at], []
    every = duration(change["every"])
    if not every:
        message = f"{repr(change['every'])[:60]} is not an interval above 0"
        return [], [change_problem(place, "every", message, "write a time such as 1d, 12h or 90m")]
    count = int(max(horizon - at, 0.0) / every) + 1
    if count > MOST_REPEATS:
        message = f"the change would happen {count:,} times, more than {MOST_REPEATS:,}"
        fix = f"choose an interval of at least {ceil((horizon - at) / (MOST_REPEATS - 1))}s"
        return [], [change_problem(place, "every", message, fix)]
    # The last sum may exceed the horizon by a rounding error.
    return [at, *(min(at + number * every, horizon) for number in range(1, count))], []


def _kind(change: Json) -> str | None:
    named = [kind for kind in KINDS if kind in change]
    return named[0] if len(named) == 1 else None


def _form_problems(change: Json, place: int) -> Iterator[Problem]:
    kind = _kind(change)
    if kind is None:
        yield change_problem(
            place, "", "the change names no subject, or several", f"write one of {', '.join(KINDS)}"
        )
        return
    for key in sorted(set(change) - _KEYS[kind]):
        fix = f"write {', '.join(sorted(_KEYS[kind]))}"
        yield change_problem(place, key, f"{key} is not a key of a change of {kind}", fix)
    if change.get("how", "delete") not in list(WAYS):
        yield change_problem(
            place, "how", f"{change['how']!r} is not a way to remove nodes", f"write {', '.join(WAYS)}"
        )
    if kind == "queue" and ("set" in change) == ("state" in change):
        yield change_problem(place, "queue", "a queue is changed by set or by state", "write one of them")
    if kind == "queue" and change.get("state", "open") not in ("open", "closed"):
        yield change_problem(place, "state", f"{change['state']!r} is not a state", "write open or closed")
    if "set" in change and not isinstance(change["set"], Mapping):
        yield change_problem(place, "set", "set is not a mapping of fields of a queue", "write {weight: 5}")
    if kind in ("queue", "pool") and not isinstance(change[kind], str):
        yield change_problem(place, kind, f"{change[kind]!r} is not a name of a {kind}", f"name a {kind}")
    if kind == "pool":
        counts = [change[way] for way in ("add", "remove") if way in change]
        if len(counts) != 1 or isinstance(counts[0], bool) or not isinstance(counts[0], int) or counts[0] < 1:
            yield change_problem(
                place, "pool", "a pool grows or shrinks by a number of nodes", "write add: 2 or remove: 2"
            )
    if kind == "nodes" and not _are_names(change["nodes"]):
        yield change_problem(place, "nodes", "nodes is not a list of names", "write [node-1, node-2]")


def _are_names(given: object) -> bool:
    return isinstance(given, list) and bool(given) and all(isinstance(name, str) for name in given)
