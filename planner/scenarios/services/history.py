"""Undo, redo, and revert of single changes."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.db import transaction

from planner.accounts.models import User
from planner.clusters.selectors.contents import content_if_needed
from planner.errors import Invalid
from planner.scenarios.models import Change, Scenario
from planner.scenarios.selectors.history import steps
from planner.scenarios.selectors.scenarios import objects_in, parts_differing, state_of
from planner.scenarios.services.objects import object_rows_save, objects_write
from planner.scenarios.services.queues import (
    queue_remove,
    queue_restore,
    queue_save,
    queue_update,
    targets_follow,
)
from planner.scenarios.services.revisions import revision_lock, revision_raise
from planner.scenarios.services.scenarios import conf_update, release_update
from planning.queues import queue_spec
from planning.rows import Problem
from planning.states import (
    CONF,
    QUEUES,
    RELEASE,
    Difference,
    Edit,
    State,
    inverses,
    queue_of,
    touched_objects,
)
from planning.workload_fields import KINDS


@transaction.atomic
def undo(*, scenario: Scenario, expected_revision: int, user: User | None = None) -> Scenario:
    """Undo the last revision that is not undone yet, as a new revision."""
    return _walk(scenario, Change.Way.UNDO, expected_revision, user)


@transaction.atomic
def redo(*, scenario: Scenario, expected_revision: int, user: User | None = None) -> Scenario:
    """Redo the last undone revision, as a new revision."""
    return _walk(scenario, Change.Way.REDO, expected_revision, user)


@transaction.atomic
def change_revert(
    *, scenario: Scenario, change: Change, expected_revision: int, user: User | None = None
) -> Scenario:
    """Revert one change; raise Invalid if its object has changed since."""
    revision_lock(scenario=scenario, expected=expected_revision, user=user)
    together = list(scenario.changes.filter(revision=change.revision))
    backwards = inverses(together)[together.index(change)]
    if _present(scenario, backwards) != _comparable(backwards, backwards.before):
        raise Invalid([_refusal(change, "history.changed_since", _CHANGED_SINCE)])
    _put(scenario, backwards, expected_revision, user)
    return scenario


@transaction.atomic
def difference_revert(
    *,
    scenario: Scenario,
    difference: Edit,
    base: str,
    expected_revision: int,
    user: User | None = None,
) -> Scenario:
    """Restore an object as it is in the base, a job or PodGroup with all that belongs to it."""
    revision_lock(scenario=scenario, expected=expected_revision, user=user)
    if difference.kind in KINDS:
        parts = parts_differing(scenario, base, difference)
        wanted = {(part.kind, part.key): part.before for part in parts}
        objects_write(scenario=scenario, wanted=wanted, expected_revision=expected_revision, user=user)
        return scenario
    put_back = replace(difference, before=difference.after, after=difference.before)
    _put(scenario, put_back, expected_revision, user)
    return scenario


def _walk(scenario: Scenario, way: Change.Way, expected: int, user: User | None) -> Scenario:
    revision_lock(scenario=scenario, expected=expected, user=user)
    revision = steps(scenario)[way]
    if revision is None:
        message = f"There is nothing to {way}."
        raise Invalid([Problem(f"history.nothing_to_{way}", "error", message, path="revision", fix="Edit.")])
    backwards = inverses(list(scenario.changes.filter(revision=revision)))
    edits_make(scenario=scenario, edits=backwards, user=user, way=way)
    return scenario


def edits_make(
    *, scenario: Scenario, edits: Sequence[Edit], user: User | None, way: str = Change.Way.EDIT
) -> None:
    """Make edits that are possible as a new revision of a locked scenario."""
    state = state_of(scenario)
    state.make(edits)
    content_if_needed(scenario.snapshot).settle(state, touched_objects(edits))
    state_save(scenario=scenario, state=state, edits=edits, user=user, way=way)


def state_save(
    *, scenario: Scenario, state: State, edits: Sequence[Edit], user: User | None, way: str = Change.Way.EDIT
) -> None:
    """Write what `edits` made of the state of a locked scenario to its rows, as a new revision."""
    scenario.conf_text, scenario.release = state.conf_text, state.release
    scenario.save(update_fields=["conf_text", "release"])
    stored = set(scenario.queues.values_list("pk", flat=True))
    scenario.queues.filter(pk__in=stored - {queue.id for queue in state.queues.values()}).delete()
    touched = {edit.after if edit.field == "name" else edit.key for edit in edits if edit.kind == QUEUES}
    for name in touched & state.queues.keys():
        queue_save(scenario=scenario, queue=state.queues[name])
    object_rows_save(scenario=scenario, state=state, touched=touched_objects(edits))
    renamed = {edit.before: edit.after for edit in edits if edit.kind == QUEUES and edit.field == "name"}
    targets_follow(scenario=scenario, renamed=renamed)
    revision_raise(scenario=scenario, user=user, changes=edits, way=way)


_CHANGED_SINCE = "It has been changed since."


def _present(scenario: Scenario, edit: Edit) -> Any:
    """Return the current value of what the edit is about, None if absent."""
    if edit.kind == CONF:
        return scenario.conf_text
    if edit.kind == RELEASE:
        return scenario.release
    if edit.kind != QUEUES:
        return objects_in(scenario, state_of(scenario)).get(edit.kind, edit.key)
    row = scenario.queues.filter(name=edit.key).first()
    if row is None:
        return None
    return queue_spec(row)[edit.field] if edit.field else True


def _comparable(edit: Edit, value: Any) -> Any:
    """Return a value as `_present` returns it: for a whole queue, only its existence counts."""
    whole_queue = edit.kind == QUEUES and not edit.field
    return (True if value is not None else None) if whole_queue else value


def _put(scenario: Scenario, edit: Edit, expected: int, user: User | None) -> None:
    if edit.kind == CONF:
        conf_update(scenario=scenario, text=edit.after, expected_revision=expected, user=user)
    elif edit.kind == RELEASE:
        release_update(scenario=scenario, name=edit.after, expected_revision=expected, user=user)
    elif edit.kind != QUEUES:
        objects_write(
            scenario=scenario,
            wanted={(edit.kind, edit.key): edit.after},
            expected_revision=expected,
            user=user,
        )
    elif edit.field:
        patch = {edit.field: _replacing(edit.before, edit.after)}
        queue_update(scenario=scenario, name=edit.key, patch=patch, expected_revision=expected, user=user)
    elif edit.after is None:
        queue_remove(scenario=scenario, name=edit.key, subtree=False, expected_revision=expected, user=user)
    else:
        queue_restore(scenario=scenario, queue=queue_of(edit.after), expected_revision=expected, user=user)


def _replacing(present: Any, wanted: Any) -> Any:
    """Return the merge patch that turns `present` into `wanted`, at every depth.

    >>> _replacing({"cpu": "8", "memory": "1Gi"}, {"cpu": "4"})
    {'memory': None, 'cpu': '4'}
    """
    if not isinstance(present, dict) or not isinstance(wanted, dict):
        return wanted
    gone = {name: None for name in present if name not in wanted}
    return gone | {name: _replacing(present.get(name), value) for name, value in wanted.items()}


def _refusal(change: Difference, rule: str, message: str) -> Problem:
    path = ".".join(part for part in (change.kind, change.key, change.field) if part)
    fix = "Revert the later change first, or edit the value."
    return Problem(rule, "error", message, path=path, actual=change.after, fix=fix)
