"""Edits of a scenario's queue tree.

An edit that Volcano's webhook would refuse is saved and listed among the problems. Edits are rejected if they
cannot be simulated or are impossible: a queue below itself, two queues of one name, no queue root.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from django.db import transaction

from planner.accounts.models import User
from planner.errors import Invalid
from planner.rules import row_validate
from planner.scenarios.models import Queue, Scenario
from planner.scenarios.selectors.preview import cluster_total
from planner.scenarios.selectors.scenarios import first_queues, state_of
from planner.scenarios.services.objects import workloads_follow
from planner.scenarios.services.revisions import revision_lock, revision_raise
from planning.queue_edits import (
    Patches,
    edit_queues,
    names_below,
    queue_problems,
    removal_problems,
    resolved_patch,
    tree_problems,
)
from planning.queues import Queue as PlannedQueue
from planning.queues import (
    added_again,
    apply_spec,
    duplicate_row,
    merge_patch,
    planned_queue,
    queue_spec,
)
from planning.rows import Problem
from planning.states import QUEUES, Edit, kept_queue


@transaction.atomic
def queue_update(
    *,
    scenario: Scenario,
    name: str,
    patch: Mapping[str, Any],
    expected_revision: int,
    user: User | None = None,
) -> Queue:
    """Apply an RFC 7396 merge patch, with the CRD's field names, to a queue; raise as `queues_update` does.

    Also raises Queue.DoesNotExist.
    """
    # Under the lock: another edit may rename or remove the queue meanwhile, and this one is stale then.
    revision_lock(scenario=scenario, expected=expected_revision, user=user)
    scenario.queues.get(name=name)
    patches = {name: patch}
    [queue] = queues_update(
        scenario=scenario, patches=patches, expected_revision=expected_revision, user=user
    )
    return queue


@transaction.atomic
def queues_update(
    *, scenario: Scenario, patches: Patches, expected_revision: int, user: User | None = None
) -> list[Queue]:
    """Apply a merge patch to each of these queues in one revision, which one undo reverts.

    Weights, priorities and quantities may be arithmetic (see `planning.arithmetic`). Every changed field
    becomes a Change; patches that change nothing keep the revision. A new name is also set in the children,
    the workloads and the wait targets. `scenario` is refreshed.

    Raises RoleTooLow, StaleRevision if the scenario is not at `expected_revision`, and Invalid with every
    problem of every queue; then nothing was saved.
    """
    revision_lock(scenario=scenario, expected=expected_revision, user=user)
    planned = [planned_queue(row, row.pk) for row in scenario.queues.all()]
    batch = edit_queues(planned, patches, partial(cluster_total, scenario))
    if problems := [*_unknown(planned, patches), *batch.problems]:
        raise Invalid(problems)
    renamed = {name: after["name"] for name, (_, after) in batch.edited.items() if after["name"] != name}
    state = state_of(scenario) if renamed else None
    named = {row.name: Queue.of(scenario, row) for row in batch.queues}
    changes: list[Edit] = []
    for name, (before, after) in {**batch.edited, **batch.following}.items():
        changed = _field_changes(name, before, after)
        if changed:
            row_validate(named[after["name"]])
            named[after["name"]].save(force_update=True)
        changes += changed
    if state is not None:
        changes += workloads_follow(scenario=scenario, before=state, renamed=renamed)
        targets_follow(scenario=scenario, renamed=renamed)
    revision_raise(scenario=scenario, user=user, changes=changes)
    return [named[after["name"]] for _, after in batch.edited.values()]


@transaction.atomic
def queue_create(
    *, scenario: Scenario, spec: Mapping[str, Any], expected_revision: int, user: User | None = None
) -> Queue:
    """Add a queue with these fields, named as in the CRD; raises as `queues_update` does."""
    revision_lock(scenario=scenario, expected=expected_revision, user=user)
    stored = {row.name: queue_spec(row) for row in scenario.queues.all()}
    name = str(merge_patch({}, spec).get("name") or "")
    specs = stored if name in stored else {**stored, name: {"parent": spec.get("parent")}}
    resolved, problems = resolved_patch(name, spec, specs, partial(cluster_total, scenario))
    fields = merge_patch({}, resolved)
    parents = {queue: held["parent"] or "" for queue, held in stored.items()}
    if problems := [*problems, *queue_problems("", fields, parents)]:
        raise Invalid(problems)
    queue = PlannedQueue(name)
    apply_spec(queue, fields)
    return _add(scenario, queue, user)


@transaction.atomic
def queue_duplicate(
    *, scenario: Scenario, name: str, expected_revision: int, user: User | None = None
) -> Queue:
    """Add a copy of a queue beside it, without children and jobs; raises as `queue_update` does."""
    revision_lock(scenario=scenario, expected=expected_revision, user=user)
    twin = duplicate_row(scenario.queues.get(name=name))
    taken = set(scenario.queues.values_list("name", flat=True))
    numbered = (
        f"{name}-copy{number}" for number in ("", *(f"-{count}" for count in range(2, len(taken) + 3)))
    )
    twin.name = next(free for free in numbered if free not in taken)
    return _add(scenario, twin, user)


@transaction.atomic
def queue_remove(
    *,
    scenario: Scenario,
    name: str,
    subtree: bool,
    expected_revision: int,
    user: User | None = None,
) -> list[str]:
    """Remove a queue, with `subtree` also its descendants; return the names. Jobs stay without a queue.

    Raises as `queue_update` does; Invalid for queues that Volcano creates itself, and for one with children
    unless `subtree` is given.
    """
    revision_lock(scenario=scenario, expected=expected_revision, user=user)
    scenario.queues.get(name=name)
    leaving = [name, *names_below(name, _parents(scenario))]
    if problems := removal_problems(name, leaving, subtree=subtree):
        raise Invalid(problems)
    rows = {row.name: row for row in scenario.queues.filter(name__in=leaving)}
    changes = [Edit(QUEUES, gone, before=kept_queue(rows[gone])) for gone in leaving]
    scenario.queues.filter(name__in=leaving).delete()
    revision_raise(scenario=scenario, user=user, changes=changes)
    return leaving


@transaction.atomic
def queue_restore(
    *, scenario: Scenario, queue: PlannedQueue, expected_revision: int, user: User | None = None
) -> Queue:
    """Restore a queue that was removed; raises as `queue_update` does."""
    revision_lock(scenario=scenario, expected=expected_revision, user=user)
    if problems := tree_problems(queue_spec(queue), _parents(scenario)):
        raise Invalid(problems)
    if scenario.queues.filter(imported_name=queue.imported_name).exists():
        queue.imported_name = ""  # it has been added again since, and renamed
    return _added(scenario, queue, user)


def targets_follow(*, scenario: Scenario, renamed: Mapping[str, str]) -> None:
    """Keep the wait targets of renamed queues; `renamed` has their new names by their names before."""
    for name, new_name in renamed.items():
        if moved := scenario.wait_targets.filter(queue=name).first():
            scenario.wait_targets.filter(queue=new_name).delete()
            moved.queue = new_name
            moved.save(update_fields=["queue"])


def queue_save(*, scenario: Scenario, queue: PlannedQueue) -> Queue:
    """Write a planned queue to its row, or to a new one."""
    row = Queue.of(scenario, queue)
    row_validate(row)
    row.save(force_insert=queue.id is None, force_update=queue.id is not None)
    return row


def _add(scenario: Scenario, queue: PlannedQueue, user: User | None) -> Queue:
    present = list(scenario.queues.all())
    queue.position = max((row.position for row in present), default=-1) + 1
    return _added(scenario, added_again(queue, first_queues(scenario.snapshot), present), user)


def _added(scenario: Scenario, queue: PlannedQueue, user: User | None) -> Queue:
    row = queue_save(scenario=scenario, queue=queue)
    changes = [Edit(QUEUES, queue.name, after=kept_queue(queue))]
    revision_raise(scenario=scenario, user=user, changes=changes)
    return row


def _unknown(queues: Sequence[PlannedQueue], patches: Patches) -> list[Problem]:
    known = {row.name for row in queues}
    return [
        Problem(
            "queue.unknown",
            "error",
            f"queue {name!r} does not exist",
            f"queues.{name}",
            name,
            fix="name a queue of this scenario, or add the queue first",
        )
        for name in patches
        if name not in known
    ]


def _field_changes(name: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Edit]:
    return [
        Edit(QUEUES, name, field, before[field], after[field])
        for field in after
        if after[field] != before[field]
    ]


def _parents(scenario: Scenario) -> dict[str, str]:
    """Return the parent of each queue (1 query)."""
    return dict(scenario.queues.values_list("name", "parent"))
