"""Edits of a scenario's objects other than queues."""

from collections.abc import Collection, Mapping
from typing import Any

from django.conf import settings
from django.db import transaction

from planner.accounts.models import User
from planner.errors import Invalid
from planner.scenarios.models import ObjectChange, Scenario
from planner.scenarios.selectors.scenarios import objects_in, state_of
from planner.scenarios.services.revisions import revision_lock, revision_raise
from planning.contents import Objects, following, renamed_queues
from planning.objects import bare_objects, object_problems
from planning.rows import Problem
from planning.states import Edit, ObjectKey, State, touched_objects

AT_ONCE = 500


@transaction.atomic
def objects_write(
    *,
    scenario: Scenario,
    wanted: Mapping[ObjectKey, Mapping[str, Any] | None],
    expected_revision: int,
    user: User | None = None,
) -> list[ObjectKey]:
    """Bring objects of a scenario to the state `wanted`, None removing one; return the changed objects.

    One call makes one revision. Raises RoleTooLow, StaleRevision, and Invalid with every problem; then
    nothing was saved.
    """
    revision_lock(scenario=scenario, expected=expected_revision, user=user)
    objects = objects_in(scenario, state_of(scenario))
    edits, problems = objects_edited(objects, wanted)
    if problems:
        raise Invalid(problems)
    touched = touched_objects(edits)
    objects.content.settle(objects.state, touched)
    object_rows_save(scenario=scenario, state=objects.state, touched=touched)
    revision_raise(scenario=scenario, user=user, changes=edits)
    return touched


def objects_edited(
    objects: Objects, wanted: Mapping[ObjectKey, Mapping[str, Any] | None]
) -> tuple[list[Edit], list[Problem]]:
    """Bring objects of a state to the state `wanted`, unsaved; return the edits and their problems."""
    edits = [
        Edit(kind, key, before=before, after=after)
        for (kind, key), after in bare_objects(wanted, settings.KEEP_ANNOTATIONS).items()
        if (before := objects.get(kind, key)) != after
    ]
    for edit in edits:
        objects.state.objects[edit.kind, edit.key] = edit.after
    written = {(edit.kind, edit.key): edit.after for edit in edits if edit.after is not None}
    return edits, object_problems(written)


def object_rows_save(*, scenario: Scenario, state: State, touched: Collection[ObjectKey]) -> None:
    """Write the objects `touched` of a state to their rows."""
    keys_of: dict[str, list[str]] = {}
    for kind, key in touched:
        keys_of.setdefault(kind, []).append(key)
    for kind, keys in keys_of.items():
        for start in range(0, len(keys), AT_ONCE):
            scenario.object_changes.filter(kind=kind, key__in=keys[start : start + AT_ONCE]).delete()
    rows = [
        ObjectChange(scenario=scenario, kind=kind, key=key, manifest=state.objects[kind, key])
        for kind, key in touched
        if (kind, key) in state.objects
    ]
    ObjectChange.objects.bulk_create(rows, batch_size=AT_ONCE)


def workloads_follow(*, scenario: Scenario, before: State, renamed: Mapping[str, str]) -> list[Edit]:
    """Rename queues in the workloads that named them, after their rows were written; return the edits.

    Workloads of the snapshot whose queue has kept its name until now are renamed on reading. `before` is the
    state before the renaming, `renamed` has the new name of each renamed queue by its name before.
    """
    objects, state = objects_in(scenario, before), state_of(scenario)
    now = renamed_queues(state.queues.values())
    is_read_so = all(before.queues[name].imported_name == name for name in renamed)
    edits = [
        Edit(kind, key, before=manifest, after=after)
        for kind, key in (before.objects if is_read_so else objects.keys())
        if (manifest := objects.get(kind, key)) is not None
        and (after := following(kind, manifest, renamed)) is not manifest
        and ((kind, key) in before.objects or objects.content.seen(kind, key, now) != after)
    ]
    for edit in edits:
        state.objects[edit.kind, edit.key] = edit.after
    touched = touched_objects(edits)
    objects.content.settle(state, touched)
    object_rows_save(scenario=scenario, state=state, touched=touched)
    return edits
