"""The queues, nodes and configuration of a scenario after timed changes, and the events of these changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import manifests
from planning.documents import items
from planning.nodes import MOST_NODES, node_like, numbered_names, pool_name
from planning.queue_edits import queue_problems
from planning.queues import merge_patch
from planning.rows import Problem
from scheduler_core.conf import parse_conf
from scheduler_core.errors import InputError
from scheduler_core.explain.wording import agreed
from scheduler_core.lint.conf import conf_problems
from scheduler_core.release import Release, release_of
from scheduler_core.replay.queues import accepts_podgroups, closed, opened
from traces.text import counted

Json = Mapping[str, Any]

WAYS = {"delete": "deleted with their pods", "drain": "drained", "lose": "lost"}


class ChangedState:
    """The queues, nodes and configuration of a scenario after the changes so far."""

    def __init__(self, document: Json) -> None:
        self._queues = {queue["metadata"]["name"]: queue for queue in items(document.get("queues"))}
        self._nodes = {node["metadata"]["name"]: node for node in items(document.get("nodes"))}
        self._names = set(self._nodes)
        self._unusable: set[str] = set()
        self._release = release_of(document)
        self._conf = document.get("scheduler_conf")

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
            return self._queue_state(change, place)
        if not change["set"]:
            return [change_problem(place, "set", "set changes no field of the queue", "write {weight: 5}")]
        if "name" in change["set"]:
            return [change_problem(place, "set", "a queue keeps its name", "remove name")]
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

    def _queue_state(self, change: Json, place: int) -> tuple[Json, str] | list[Problem]:
        name, opens = change["queue"], change["state"] == "open"
        queues = [*self._queues.values()]
        queues = opened(queues, [name]) if opens else closed(queues, [name], in_use=())
        if accepts_podgroups(queues, name) != opens:
            message = "root cannot be closed"
            if opens:
                parent = self._queues[name]["spec"]["parent"]
                message = f"{name} stays closed while its parent {parent} is closed"
            fix = "open the parent, too" if opens else "close queues below root"
            return [change_problem(place, "state", message, fix)]
        # Later changes of these queues keep the annotation of those that their parent has closed.
        self._queues = {queue["metadata"]["name"]: queue for queue in queues}
        verb = "open" if opens else "close"
        return {verb: {"queues": [name]}}, f"Queue {name} is {'opened' if opens else 'closed'}."

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
            return [change_problem(place, "add", message, fix)]
        if "add" in change:
            like = self._nodes[members[0]]
            names = numbered_names(f"{members[0]}-more", change["add"], self._names)
            added = [node_like(like, new) for new in names]
            self._nodes |= {node["metadata"]["name"]: node for node in added}
            self._names |= set(self._nodes)
            return {"create": {"nodes": added}}, f"Pool {name} gets {counted(len(added), 'node')}."
        if change["remove"] > len(members):
            message = f"pool {name} has {counted(len(members), 'node')} at that time, not {change['remove']}"
            return [change_problem(place, "remove", message, f"remove at most {len(members)}")]
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
            conf = _structure(change["scheduler_conf"])
        except manifests.Unreadable as unreadable:
            return [change_problem(place, "scheduler_conf", str(unreadable), fix)]
        if not isinstance(conf, Mapping):
            message = "scheduler_conf is not a scheduler configuration"
            return [change_problem(place, "scheduler_conf", message, "write a text with actions and tiers")]
        wrong = [one for one in conf_problems(conf, self._release) if one.severity == "error"]
        if wrong:
            return [change_problem(place, "scheduler_conf", one.message, one.fix or fix) for one in wrong]
        differences = _conf_differences(self._conf, conf, self._release)
        self._conf = conf
        return {"scheduler_conf": conf}, f"The scheduler gets another configuration{differences}."

    def _without(self, gone: Sequence[str], change: Json) -> tuple[Json, str]:
        how = change.get("how", "delete")
        self._unusable.update(gone)
        if how == "delete":
            for name in gone:
                del self._nodes[name]
        return {how: {"nodes": list(gone)}}, f"{'is' if len(gone) == 1 else 'are'} {WAYS[how]}"


def _structure(conf: Any) -> Any:
    """Return the structure of a configuration; of a text, what it says."""
    return manifests.resolve({"scheduler_conf": conf}).get("scheduler_conf")


def _conf_differences(before: Any, after: Json, release: Release) -> str:
    """Return in which actions and plugins a configuration differs from the one before, after a colon."""
    try:
        old, new = parse_conf(_structure(before) or None, release), parse_conf(after, release)
    except (InputError, manifests.Unreadable):
        return ""
    had, has = ({option.name for option in conf.options()} for conf in (old, new))
    parts = [f"actions {', '.join(new.actions)}"] if old.actions != new.actions else []
    for word, names in (("with", has - had), ("without", had - has)):
        if names:
            parts.append(f"{word} {agreed(len(names), 'plugin', 'plugins')} {', '.join(sorted(names))}")
    return f": {'; '.join(parts)}" if parts else ""


def change_problem(place: int, key: str, message: str, fix: str) -> Problem:
    """Return the problem of a part of the change at a place of the list."""
    path = f"changes[{place}]" + (f".{key}" if key else "")
    return Problem("forecast.change", "error", message, path=path, fix=fix)


def _unknown(place: int, key: str, name: object, known: Mapping[str, object]) -> Problem:
    shown = ", ".join(sorted(known)[:10]) + (" …" if len(known) > 10 else "")
    what = {"nodes": "node"}.get(key, key)
    return change_problem(place, key, f"there is no {what} {name!r} at that time", f"write one of {shown}")


def shown_value(value: Any) -> str:
    """Return a value of a change as text, nested ones as `cpu=8 memory=4Gi`."""
    if isinstance(value, Mapping):
        return " ".join(f"{name}={shown_value(inner)}" for name, inner in sorted(value.items()))
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
