"""Branches of a scenario, on the same snapshot or on another one."""

from django.db import transaction

from planner.accounts.models import User
from planner.accounts.services.members import role_require
from planner.clusters.models import Snapshot
from planner.errors import Invalid
from planner.rules import row_create
from planner.scenarios.models import ObjectChange, Queue, Scenario
from planner.scenarios.selectors.rebases import rebase_of
from planner.scenarios.selectors.scenarios import locked_scenario, state_at
from planner.scenarios.services.revisions import copy_store, revision_lock
from planning.objects import object_problems
from planning.rebase import Rebased
from planning.rebase.conflicts import OURS, THEIRS, Choices, Conflict
from planning.rows import Problem
from planning.states import State


@transaction.atomic
def scenario_branch(
    *, scenario: Scenario, name: str, revision: int | None = None, user: User | None = None
) -> Scenario:
    """Create a scenario with the state of another one at its current or an older revision. Raises Gone."""
    role_require(user=user, workspace=scenario.workspace)
    present = locked_scenario(scenario)
    begin = present.revision if revision is None else revision
    state = state_at(present, begin)
    return _begun(present, state, snapshot=present.snapshot, name=name, revision=begin, user=user)


def scenario_rebase(
    *,
    scenario: Scenario,
    snapshot: Snapshot,
    name: str,
    choices: Choices,
    expected_revision: int,
    user: User | None = None,
) -> Scenario:
    """Create a branch on another snapshot with all changes of this scenario, which stays unchanged.

    Raises RoleTooLow, StaleRevision, and Invalid with every undecided conflict and every incompatible choice;
    then nothing was saved.
    """
    carried = rebase_prepare(
        scenario=scenario, snapshot=snapshot, choices=choices, expected_revision=expected_revision, user=user
    )
    return rebase_store(
        scenario=scenario,
        snapshot=snapshot,
        carried=carried,
        name=name,
        expected_revision=expected_revision,
        user=user,
    )


def rebase_prepare(
    *,
    scenario: Scenario,
    snapshot: Snapshot,
    choices: Choices,
    expected_revision: int,
    user: User | None = None,
) -> Rebased:
    """Return the state of a scenario on another snapshot, unsaved; slow, so call it outside transactions.

    Raises RoleTooLow, StaleRevision, Gone, and Invalid as `scenario_rebase` does.
    """
    with transaction.atomic():
        revision_lock(scenario=scenario, expected=expected_revision, user=user)
    carried = rebase_of(scenario, snapshot, choices)
    objects = {id_: manifest for id_, manifest in carried.state.objects.items() if manifest is not None}
    undecided = [_undecided(conflict) for conflict in carried.conflicts if not conflict.take]
    if problems := [*undecided, *carried.problems, *object_problems(objects)]:
        raise Invalid(problems)
    return carried


@transaction.atomic
def rebase_store(
    *,
    scenario: Scenario,
    snapshot: Snapshot,
    carried: Rebased,
    name: str,
    expected_revision: int,
    user: User | None = None,
) -> Scenario:
    """Create the branch from the state of `rebase_prepare`. Raises RoleTooLow, and StaleRevision."""
    revision_lock(scenario=scenario, expected=expected_revision, user=user)
    return _begun(
        scenario, carried.state, snapshot=snapshot, name=name, revision=expected_revision, user=user
    )


def _undecided(conflict: Conflict) -> Problem:
    path = ".".join(part for part in conflict.id if part)
    message = "Both sides changed this; choose one."
    fix = f"Choose {OURS} or {THEIRS} for it."
    return Problem("rebase.undecided", "error", message, path=path, field=conflict.field or None, fix=fix)


def _begun(
    parent: Scenario, state: State, *, snapshot: Snapshot, name: str, revision: int, user: User | None
) -> Scenario:
    branch = row_create(
        Scenario(
            workspace=parent.workspace,
            name=name,
            snapshot=snapshot,
            parent=parent,
            parent_revision=revision,
            conf_text=state.conf_text,
            release=state.release,
            owner=user,
        )
    )
    Queue.objects.bulk_create(Queue.of(branch, queue) for queue in state.ordered_queues())
    ObjectChange.objects.bulk_create(
        (
            ObjectChange(scenario=branch, kind=kind, key=key, manifest=manifest)
            for (kind, key), manifest in sorted(state.objects.items(), key=lambda entry: entry[0])
        ),
        batch_size=500,
    )
    _targets_copy(parent, branch, state)
    copy_store(scenario=branch)
    return branch


def _targets_copy(parent: Scenario, branch: Scenario, state: State) -> None:
    """Give a branch the wait targets of its parent: a queue may have another name there, or be gone."""
    own_names = {row.name: row.imported_name for row in parent.queues.all()}
    of_snapshot = {queue.imported_name: name for name, queue in state.queues.items() if queue.imported_name}
    found = {
        of_snapshot.get(own_names.get(target.queue) or "", target.queue): target.seconds
        for target in parent.wait_targets.all()
    }
    branch.wait_targets.bulk_create(
        parent.wait_targets.model(scenario=branch, queue=name, seconds=seconds)
        for name, seconds in found.items()
        if name in state.queues
    )
