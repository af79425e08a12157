"""Timed changes of a forecast, such as "At 18:00 the weight of batch is 5", as events of a replay."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import manifests
from planning.documents import items
from planning.forecasts.clock import FORMS, duration, seconds_until
from planning.nodes import MOST_NODES, node_like, numbered_names, pool_name
from planning.queue_edits import queue_problems
from planning.queues import merge_patch
from planning.rows import Problem
from scheduler_core.lint.conf import conf_problems
from scheduler_core.release import release_of
from traces.text import counted

Json = Mapping[str, Any]

KINDS = {
    "queue": "the name of a queue; with `set`, a merge patch of its spec, or `state`: open or closed",
    "pool": "the name of a node pool; with `add`, or with `remove` and `how`",
    "nodes": "names of nodes; with `how`",
    "scheduler_conf": "the text of a scheduler configuration",
}
WAYS = {"delete": "deleted with their pods", "drain": "drained", "lose": "lost"}
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
            problems.append(_problem(place, "", "the change is not a mapping", "write {at: 18:00, queue: …}"))
            continue
        found = list(_form_problems(change, place))
        at = seconds_until(change.get("at"), begin) if "at" in change else None
        if at is None:
            found += _State(document).problems(change, place) if not found and "queue" in change else ()
            found.append(
                _problem(place, "at", f"{repr(change.get('at'))[:60]} is not a moment of the forecast", FORMS)
            )
        if at is not None and not found:
            times, found = _times(change, place, at, horizon)
            read += [(time, place, change) for time in times]
        problems += found
    state = _State(document)
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
        return [], [_problem(place, "every", message, "write a time such as 1d, 12h or 90m")]
    count = int(max(horizon - at, 0.0) / every) + 1
    if count > MOST_REPEATS:
        message = f"the change would happen {count:,} times, more than {MOST_REPEATS:,}"
        fix = f"choose an interval of at least {ceil((horizon - at) / (MOST_REPEATS - 1))}s"
        return [], [_problem(place, "every", message, fix)]
    # The last sum may exceed the horizon by a rounding error.
    return [at, *(min(at + number * every, horizon) for number in range(1, count))], []


def _kind(change: Json) -> str | None:
    named = [kind for kind in KINDS if kind in change]
    return named[0] if len(named) == 1 else None


def _form_problems(change: Json, place: int) -> Iterator[Problem]:
    kind = _kind(change)
    if kind is None:
        yield _problem(
            place, "", "the change names no subject, or several", f"write one of {', '.join(KINDS)}"
        )
        return
    for key in sorted(set(change) - _KEYS[kind]):
        fix = f"write {', '.join(sorted(_KEYS[kind]))}"
        yield _problem(place, key, f"{key} is not a key of a change of {kind}", fix)
    if change.get("how", "delete") not in list(WAYS):
        yield _problem(
            place, "how", f"{change['how']!r} is not a way to remove nodes", f"write {', '.join(WAYS)}"
        )
    if kind == "queue" and ("set" in change) == ("state" in change):
        yield _problem(place, "queue", "a queue is changed by set or by state", "write one of them")
    if kind == "queue" and change.get("state", "open") not in ("open", "closed"):
        yield _problem(place, "state", f"{change['state']!r} is not a state", "write open or closed")
    if "set" in change and not isinstance(change["set"], Mapping):
        yield _problem(place, "set", "set is not a mapping of fields of a queue", "write {weight: 5}")
    if kind in ("queue", "pool") and not isinstance(change[kind], str):
        yield _problem(place, kind, f"{change[kind]!r} is not a name of a {kind}", f"name a {kind}")
    if kind == "pool":
        counts = [change[way] for way in ("add", "remove") if way in change]
        if len(counts) != 1 or isinstance(counts[0], bool) or not isinstance(counts[0], int) or counts[0] < 1:
            yield _problem(
                place, "pool", "a pool grows or shrinks by a number of nodes", "write add: 2 or remove: 2"
            )
    if kind == "nodes" and not _are_names(change["nodes"]):
        yield _problem(place, "nodes", "nodes is not a list of names", "write [node-1, node-2]")


def _are_names(given: object) -> bool:
    return isinstance(given, list) and bool(given) and all(isinstance(name, str) for name in given)


class _State:
    """The queues and nodes of a scenario after the changes so far."""

    def __init__(self, document: Json) -> None:
        self._queues = {queue["metadata"]["name"]: queue for queue in items(document.get("queues"))}
        self._nodes = {node["metadata"]["name"]: node for node in items(document.get("nodes"))}
        self._names = set(self._nodes)
        self._unusable: set[str] = set()
        self._release = release_of(document)

    def problems(self, change: Json, place: int) -> list[Problem]:
        """Return why a change is impossible in this state; none if it is possible."""
        made = self.make(change, place)
        return [] if isinstance(made, tuple) else made

    def make(self, change: Json, place: int) -> tuple[Json, str] | list[Problem]:
        """Return the event of a change with the change in words, or why it is impossible."""
        if "queue" in change:
            return self._queue(change, place)
        if "pool" in change:
            return self._pool(change, place)
        if "nodes" in change:
            return self._named_nodes(change, place)
        return self._scheduler_conf(change, place)

    def _queue(self, change: Json, place: int) -> tuple[Json, str] | list[Problem]:
        name = change["queue"]
        if name not in self._queues:
            return [_unknown(place, "queue", name, self._queues)]
        if "state" in change:
            verb = "open" if change["state"] == "open" else "close"
            return {verb: {"queues": [name]}}, f"Queue {name} is {'opened' if verb == 'open' else 'closed'}."
        if not change["set"]:
            return [_problem(place, "set", "set changes no field of the queue", "write {weight: 5}")]
        if "name" in change["set"]:
            return [_problem(place, "set", "a queue keeps its name", "remove name")]
        queue = self._queues[name]
        changed = {**queue, "spec": merge_patch(queue.get("spec") or {}, change["set"])}
        parents = {key: (one.get("spec") or {}).get("parent") or "" for key, one in self._queues.items()}
        if wrong := [
            found
            for found in queue_problems(name, {"name": name, **changed["spec"]}, parents)
            if found.is_error
        ]:
            return [replace(found, path=f"changes[{place}].set") for found in wrong]
        self._queues[name] = changed
        fields = ", ".join(f"{field} {shown_value(value)}" for field, value in sorted(change["set"].items()))
        return {"replace": {"queues": [changed]}}, f"Queue {name} gets {fields}."

    def _pool(self, change: Json, place: int) -> tuple[Json, str] | list[Problem]:
        name = change["pool"]
        pools: dict[str, list[str]] = {}
        for node, manifest in sorted(self._nodes.items()):
            if node in self._unusable:
                continue
            pools.setdefault(pool_name(manifest), []).append(node)
        if name not in pools:
            return [_unknown(place, "pool", name, pools)]
        members = pools[name]
        if "add" in change and change["add"] > MOST_NODES - len(self._nodes):
            message = f"with {change['add']:,} nodes more the scenario would have more than {MOST_NODES:,}"
            fix = f"add at most {max(MOST_NODES - len(self._nodes), 0)}"
            return [_problem(place, "add", message, fix)]
        if "add" in change:
            like = self._nodes[members[0]]
            names = numbered_names(f"{members[0]}-more", change["add"], self._names)
            added = [node_like(like, new) for new in names]
            self._nodes |= {node["metadata"]["name"]: node for node in added}
            self._names |= set(self._nodes)
            return {"create": {"nodes": added}}, f"Pool {name} gets {counted(len(added), 'node')}."
        if change["remove"] > len(members):
            message = f"pool {name} has {counted(len(members), 'node')} at that time, not {change['remove']}"
            return [_problem(place, "remove", message, f"remove at most {len(members)}")]
        gone = members[-change["remove"] :]
        event, ends = self._without(gone, change)
        return event, f"Of pool {name} {counted(len(gone), 'node')} {ends}: {', '.join(gone)}."

    def _named_nodes(self, change: Json, place: int) -> tuple[Json, str] | list[Problem]:
        for name in change["nodes"]:
            if name not in self._nodes:
                return [_unknown(place, "nodes", name, self._nodes)]
        gone = list(dict.fromkeys(change["nodes"]))
        event, ends = self._without(gone, change)
        return event, f"{counted(len(gone), 'node')} {ends}: {', '.join(gone)}."

    def _scheduler_conf(self, change: Json, place: int) -> tuple[Json, str] | list[Problem]:
        fix = "correct the configuration"
        try:
            conf = manifests.resolve({"scheduler_conf": change["scheduler_conf"]}).get("scheduler_conf")
        except manifests.Unreadable as unreadable:
            return [_problem(place, "scheduler_conf", str(unreadable), fix)]
        if not isinstance(conf, Mapping):
            message = "scheduler_conf is not a scheduler configuration"
            return [_problem(place, "scheduler_conf", message, "write a text with actions and tiers")]
        wrong = [one for one in conf_problems(conf, self._release) if one.severity == "error"]
        if wrong:
            return [_problem(place, "scheduler_conf", one.message, one.fix or fix) for one in wrong]
        return {"scheduler_conf": conf}, "The scheduler gets another configuration."

    def _without(self, gone: Sequence[str], change: Json) -> tuple[Json, str]:
        how = change.get("how", "delete")
        self._unusable.update(gone)
        if how == "delete":
            for name in gone:
                del self._nodes[name]
        return {how: {"nodes": list(gone)}}, f"{'is' if len(gone) == 1 else 'are'} {WAYS[how]}"


def _problem(place: int, key: str, message: str, fix: str) -> Problem:
    path = f"changes[{place}]" + (f".{key}" if key else "")
    return Problem("forecast.change", "error", message, path=path, fix=fix)


def _unknown(place: int, key: str, name: object, known: Mapping[str, object]) -> Problem:
    shown = ", ".join(sorted(known)[:10]) + (" …" if len(known) > 10 else "")
    what = {"nodes": "node"}.get(key, key)
    return _problem(place, key, f"there is no {what} {name!r} at that time", f"write one of {shown}")


def shown_value(value: Any) -> str:
    """Return a value of a change as text, nested ones as `cpu=8 memory=4Gi`."""
    if isinstance(value, Mapping):
        return " ".join(f"{name}={shown_value(inner)}" for name, inner in sorted(value.items()))
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
