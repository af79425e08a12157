"""How does the queue tree of a scenario change?

An edit that Volcano's webhook would refuse is saved all the same, and listed among the problems; refused is
what could not be simulated, or cannot be: a queue below itself, two of one name, no queue root.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db import transaction

from planner.engine.queue_fields import spec_problems
from planner.engine.queues import (
    apply_spec,
    duplicate_row,
    merge_patch,
    queue_row,
    queue_spec,
)
from planner.engine.states import QUEUES, Edit, kept_queue
from planner.models import Queue, Scenario, User
from planner.rows import Problem
from planner.services.errors import Invalid
from planner.services.members import role_require
from planner.services.objects import workloads_follow
from planner.services.revisions import revision_lock, revision_raise

MADE_BY_VOLCANO = ("root", "default")
"""Queues that the scheduler creates when they are missing."""
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*", re.ASCII)


@transaction.atomic
def queue_update(
    *,
    scenario: Scenario,
    name: str,
    patch: Mapping[str, Any],
    expected_revision: int,
    user: User | None = None,
) -> Queue:
    """Apply an RFC 7396 merge patch in CRD spelling to the queue `name`.

    Every changed field becomes a Change of the new revision; a patch that changes nothing keeps the revision.
    Another name takes the children along, and the workloads. `scenario` is fresh afterwards.

    Raises RoleTooLow, Queue.DoesNotExist, StaleRevision when the scenario is not at `expected_revision`, and
    Invalid with every problem; then nothing was saved.
    """
    role_require(user=user, workspace=scenario.workspace)
    revision_lock(scenario=scenario, expected=expected_revision)
    queue = scenario.queues.get(name=name)
    before = queue_spec(queue)
    after = merge_patch(before, patch)
    if problems := [*spec_problems(name, after), *_tree_problems(scenario, name, after)]:
        raise Invalid(problems)
    apply_spec(queue, after)
    queue.name = after["name"]
    queue.save()
    changes = _field_changes(name, before, queue_spec(queue))
    if queue.name != name:
        changes += _children_follow(scenario, name, queue.name)
        changes += workloads_follow(scenario=scenario, name=name, new_name=queue.name)
    revision_raise(scenario=scenario, user=user, changes=changes)
    return queue


@transaction.atomic
def queue_create(
    *, scenario: Scenario, spec: Mapping[str, Any], expected_revision: int, user: User | None = None
) -> Queue:
    """Add a queue with these fields in CRD spelling; raises as `queue_update` does."""
    role_require(user=user, workspace=scenario.workspace)
    revision_lock(scenario=scenario, expected=expected_revision)
    fields = merge_patch({}, spec)
    name = str(fields.get("name") or "")
    if problems := [*spec_problems(name, fields), *_tree_problems(scenario, "", fields)]:
        raise Invalid(problems)
    queue = queue_row({"metadata": {"name": name}})
    apply_spec(queue, fields)
    _add(scenario, queue, user)
    return queue


@transaction.atomic
def queue_duplicate(
    *, scenario: Scenario, name: str, expected_revision: int, user: User | None = None
) -> Queue:
    """Add a queue like `name` beside it, without its children and jobs; raises as `queue_update` does."""
    role_require(user=user, workspace=scenario.workspace)
    revision_lock(scenario=scenario, expected=expected_revision)
    twin = duplicate_row(scenario.queues.get(name=name))
    taken = set(scenario.queues.values_list("name", flat=True))
    numbered = (
        f"{name}-copy{number}" for number in ("", *(f"-{count}" for count in range(2, len(taken) + 3)))
    )
    twin.name = next(free for free in numbered if free not in taken)
    _add(scenario, twin, user)
    return twin


@transaction.atomic
def queue_remove(
    *,
    scenario: Scenario,
    name: str,
    subtree: bool,
    expected_revision: int,
    user: User | None = None,
) -> list[str]:
    """Remove a queue, with `subtree` those below it, too; return the names. Jobs stay and find no queue.

    Raises as `queue_update` does; Invalid for queues that Volcano makes itself, and for one with children
    unless the subtree goes along.
    """
    role_require(user=user, workspace=scenario.workspace)
    revision_lock(scenario=scenario, expected=expected_revision)
    scenario.queues.get(name=name)
    leaving = [name, *names_below(scenario, name)]
    if problems := list(_removal_problems(name, leaving, subtree=subtree)):
        raise Invalid(problems)
    rows = {row.name: row for row in scenario.queues.filter(name__in=leaving)}
    changes = [Edit(QUEUES, gone, before=kept_queue(rows[gone])) for gone in leaving]
    scenario.queues.filter(name__in=leaving).delete()
    revision_raise(scenario=scenario, user=user, changes=changes)
    return leaving


@transaction.atomic
def queue_restore(
    *, scenario: Scenario, queue: Queue, expected_revision: int, user: User | None = None
) -> Queue:
    """Bring back a queue that was removed, given as its unsaved row; raises as `queue_update` does."""
    role_require(user=user, workspace=scenario.workspace)
    revision_lock(scenario=scenario, expected=expected_revision)
    if problems := list(_tree_problems(scenario, "", queue_spec(queue))):
        raise Invalid(problems)
    queue.scenario = scenario
    queue.save()
    changes = [Edit(QUEUES, queue.name, after=kept_queue(queue))]
    revision_raise(scenario=scenario, user=user, changes=changes)
    return queue


def names_below(scenario: Scenario, name: str) -> list[str]:
    """Return the queues below one, parents first (1 query)."""
    children: dict[str, list[str]] = {}
    for child, parent in scenario.queues.order_by("name").values_list("name", "parent"):
        children.setdefault(parent, []).append(child)
    found = [name]
    for above in found:
        found += [child for child in children.get(above, []) if child not in found]
    return found[1:]


def _add(scenario: Scenario, queue: Queue, user: User | None) -> None:
    last = scenario.queues.order_by("-position").values_list("position", flat=True).first()
    queue.scenario, queue.position = scenario, 0 if last is None else last + 1
    queue.save()
    changes = [Edit(QUEUES, queue.name, after=kept_queue(queue))]
    revision_raise(scenario=scenario, user=user, changes=changes)


def _children_follow(scenario: Scenario, name: str, new_name: str) -> list[Edit]:
    children = list(scenario.queues.filter(parent=name))
    scenario.queues.filter(parent=name).update(parent=new_name)
    return [Edit(QUEUES, child.name, "parent", name, new_name) for child in children]


def _field_changes(name: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Edit]:
    return [
        Edit(QUEUES, name, field, before[field], after[field])
        for field in after
        if after[field] != before[field]
    ]


# what cannot be


def _tree_problems(scenario: Scenario, name: str, spec: Mapping[str, Any]) -> Iterable[Problem]:
    """Yield why the fields of a queue do not fit into the tree; `name` is its present one, empty when new."""
    parents = dict(scenario.queues.values_list("name", "parent"))
    new_name, parent = spec.get("name") or "", spec.get("parent") or ""
    if (new_name != name or not name) and isinstance(new_name, str):
        yield from _name_problems(name, new_name, parents)
    if not isinstance(parent, str) or parent in ("", "root", parents.get(name)):
        return
    if parent not in parents:
        says, fix = f"Queue {parent!r} does not exist.", "Choose a queue of this scenario."
        yield _refusal(name or new_name, "parent", "parent_missing", says, parent, fix)
    elif name and name in _ancestry(parent, parents):
        says, fix = f"{parent!r} is {name!r} itself or one of its descendants.", "Choose another queue."
        yield _refusal(name, "parent", "parent_cycle", says, parent, fix)


def _name_problems(name: str, new_name: str, taken: Iterable[str]) -> Iterable[Problem]:
    queue = name or new_name
    if name in MADE_BY_VOLCANO:
        says = f"Queue {name!r} cannot be renamed: the scheduler creates it when it is missing."
        yield _refusal(queue, "name", "name_fixed", says, new_name, "Add another queue instead.")
    if not new_name:
        yield _refusal(queue, "name", "name_missing", "A queue needs a name.", new_name, "Enter a name.")
    elif len(new_name) > 253 or not _NAME.fullmatch(new_name):
        says = f"{new_name!r} is not a valid Kubernetes name."
        fix = "Use up to 253 lower-case letters, digits, '-' and '.'; begin and end with a letter or digit."
        yield _refusal(queue, "name", "name_bad", says, new_name, fix)
    elif new_name in taken:
        says = f"Queue {new_name!r} already exists."
        yield _refusal(queue, "name", "name_taken", says, new_name, "Choose another name.")


def _removal_problems(name: str, leaving: Sequence[str], *, subtree: bool) -> Iterable[Problem]:
    if kept := [queue for queue in leaving if queue in MADE_BY_VOLCANO]:
        says = f"Queue {kept[0]!r} cannot be removed: Volcano refuses to delete it and recreates it."
        yield _refusal(name, "", "queue.delete_protected", says, kept[0], "Remove other queues.")
    elif len(leaving) > 1 and not subtree:
        says = f"Queue {name!r} has children: {', '.join(leaving[1:])}."
        fix = "Remove or move them first, or remove the whole subtree."
        yield _refusal(name, "", "queue.delete_has_children", says, len(leaving) - 1, fix)


def _ancestry(name: str, parents: Mapping[str, str]) -> list[str]:
    """Return `name` and the queues above it; a circle among them ends the way up."""
    way: list[str] = []
    while name in parents and name not in way:
        way.append(name)
        name = parents[name]
    return way


def _refusal(queue: str, field: str, rule: str, message: str, actual: Any, fix: str) -> Problem:
    path = f"queues.{queue}.{field}".rstrip(".")
    return Problem(
        rule, "error", message, path=path, queue=queue, field=field or None, actual=actual, fix=fix
    )
