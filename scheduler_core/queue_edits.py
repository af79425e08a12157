"""Validation of edits to queues, for the server and for files.

A refusal by the webhook alone is a problem of the plan and does not prevent an edit. An edit is refused if it
cannot be simulated, if the CRD lacks the field, or if the queues would not form a tree.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from scheduler_core.problem import Problem
from scheduler_core.schema_rules import schema_problems
from scheduler_core.validate import problems

MADE_BY_VOLCANO = ("root", "default")
"""Queues that the scheduler creates if they are missing."""

_METADATA = ("annotations", "labels")
_NOT_ALLOWED = ("quantity.negative", "word.unknown")
"""Rules that existing objects may break, with a warning, but edits may not."""
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*", re.ASCII)
_PART = re.compile(r"^queues\[0\]\.(?:spec|metadata|status)\.?")

Parents = Mapping[str, str]
"""The parent of each queue of a tree; empty for those below root."""


def queue_problems(name: str, fields: Mapping[str, Any], parents: Parents) -> list[Problem]:
    """Return why a queue cannot have these fields.

    Parameters
    ----------
    name : str
        Its current name, empty for a new queue.
    fields : mapping
        All its fields in the spelling of the CRD, including those of metadata and status.
    parents : mapping
        The tree before the edit; of an edit of several queues, all others as they are after it.

    Examples
    --------
    >>> [found.path for found in queue_problems("a", {"name": "a", "wieght": 4}, {"a": ""})]
    ['queues.a.wieght']
    >>> [one.rule for one in queue_problems("root", {"name": "root", "parent": "a"}, {"root": "", "a": ""})]
    ['queue.cycle']

    """
    return [
        *_form_problems(name or str(fields.get("name") or ""), fields),
        *tree_problems(name, fields, parents),
    ]


def removal_problems(name: str, leaving: Sequence[str], *, subtree: bool) -> Iterator[Problem]:
    """Yield why a queue cannot be removed; `leaving` has the queue and all its descendants."""
    if kept := [queue for queue in leaving if queue in MADE_BY_VOLCANO]:
        message = f"queue {kept[0]} cannot be removed: Volcano refuses to delete it and recreates it"
        yield _refusal(name, "", "queue.delete_protected", message, kept[0], "remove other queues")
    elif len(leaving) > 1 and not subtree:
        message = f"queue {name} has children: {', '.join(leaving[1:])}"
        fix = "remove or move them first, or remove the whole subtree"
        yield _refusal(name, "", "queue.delete_has_children", message, len(leaving) - 1, fix)


def moved(parents: Parents, patches: Mapping[str, Mapping[str, Any] | None]) -> dict[str, str]:
    """Return the parents after merge patches of several queues; illegal parents are left out.

    >>> moved({"a": "", "b": "a"}, {"b": {"parent": None}, "a": {"parent": "b"}})
    {'a': 'b', 'b': ''}
    """
    wanted = {name: patch["parent"] or "" for name, patch in patches.items() if patch and "parent" in patch}
    return {**parents} | {
        name: parent for name, parent in wanted.items() if name in parents and isinstance(parent, str)
    }


def below(name: str, parents: Parents) -> list[str]:
    """Return the descendants of a queue, parents first."""
    children: dict[str, list[str]] = {}
    for child in sorted(parents):
        children.setdefault(parents[child], []).append(child)
    found = [name]
    for above in found:
        found += [child for child in children.get(above, []) if child not in found]
    return found[1:]


def _form_problems(name: str, fields: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield the problems of the fields themselves, by the rules of an import."""
    metadata = {part: fields[part] for part in _METADATA if part in fields}
    spec = {field: value for field, value in fields.items() if field not in (*_METADATA, "name", "state")}
    queue = {
        "metadata": {**metadata, "name": name if _NAME.fullmatch(name) else "queue"},
        "spec": spec,
        "status": {"state": fields.get("state")},
    }
    found = [*problems({"queues": [queue]}), *schema_problems("queues", 0, queue)]
    for one in found:
        field = _PART.sub("", one.path)
        if (one.severity == "error" or one.rule in _NOT_ALLOWED) and field != one.path:
            yield Problem(
                one.rule, "error", f"queues.{name}.{field}", one.message, name,
                re.split(r"[.\[]", field)[0], one.actual, one.limit, one.fix,
            )  # fmt: skip


def tree_problems(name: str, fields: Mapping[str, Any], parents: Parents) -> Iterator[Problem]:
    """Yield why a queue's fields do not fit into the tree; `name` is empty for a new queue."""
    new_name, parent = fields.get("name") or "", fields.get("parent") or ""
    if not isinstance(new_name, str):
        message = f"the name of a queue is a text, not {str(new_name)[:60]}"
        yield _refusal(name, "name", "form.type", message, str(new_name)[:60], "write it in quotes")
        new_name = name
    elif new_name != name or not name:
        yield from _name_problems(name, new_name, parents)
    if not isinstance(parent, str) or parent in ("", "root", parents.get(name)):
        return
    if parent not in parents:
        message = f"queue {name or new_name}: there is no queue {parent!r} to be its parent"
        fix = "choose a queue of this scenario"
        yield _refusal(name or new_name, "parent", "queue.parent_missing", message, parent, fix)
    elif new_name == "root" or (name and name in _ancestry(parent, parents)):
        queue = name or new_name
        message = f"queue {queue}: its parent {parent!r} is the queue itself or one of its descendants"
        yield _refusal(queue, "parent", "queue.cycle", message, parent, "choose another queue")


def _name_problems(name: str, new_name: str, taken: Iterable[str]) -> Iterator[Problem]:
    queue = name or new_name
    if name in MADE_BY_VOLCANO:
        message = f"queue {name} cannot be renamed: the scheduler creates it when it is missing"
        yield _refusal(queue, "name", "queue.name_fixed", message, new_name, "add another queue instead")
    if not new_name:
        yield _refusal(queue, "name", "form.missing", "a queue needs a name", new_name, "write the name")
    elif len(new_name) > 253 or not _NAME.fullmatch(new_name):
        message = f"{new_name[:253]!r} is not a valid Kubernetes name"
        fix = "use up to 253 lower-case letters, digits, '-' and '.'; begin and end with a letter or digit"
        yield _refusal(queue, "name", "name.illegal", message, new_name[:253], fix)
    elif new_name in taken:
        message = f"queue {new_name} already exists"
        yield _refusal(queue, "name", "name.taken", message, new_name, "choose another name")


def _ancestry(name: str, parents: Parents) -> list[str]:
    """Return `name` and its ancestors, up to a cycle if there is one."""
    way: list[str] = []
    while name in parents and name not in way:
        way.append(name)
        name = parents[name]
    return way


def _refusal(queue: str, field: str, rule: str, message: str, actual: Any, fix: str) -> Problem:
    path = f"queues.{queue}.{field}".rstrip(".")
    return Problem(rule, "error", path, message, queue, field, actual, None, fix)
