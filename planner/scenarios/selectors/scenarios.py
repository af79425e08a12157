"""Scenarios: those an account may see, their state at a revision, its differences, and its document."""

from collections.abc import Mapping
from itertools import groupby
from typing import Any, NamedTuple
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from planner.accounts.models import User
from planner.accounts.selectors.workspaces import visible
from planner.clusters.models import Snapshot
from planner.clusters.selectors.contents import content_if_needed, content_of
from planner.errors import Gone
from planner.scenarios.models import Scenario
from planning.contents import Objects, frozen_input
from planning.differences import differences
from planning.queues import Queue, planned_queue, queues_of
from planning.states import Edit, State, touched_objects
from planning.workloads import Workloads

SNAPSHOT, START = "snapshot", "start"
BASES = (SNAPSHOT, START)
"""The base of a comparison: the snapshot, or the first revision, for a branch the parent's."""


class Frozen(NamedTuple):
    """A scenario at one revision, its state, and its document."""

    scenario: Scenario
    state: State
    document: bytes


def scenarios(user: User) -> QuerySet[Scenario]:
    """Return the scenarios that an account may see, last changed first, each with its snapshot (1 query)."""
    present = Scenario.objects.filter(removed=None)
    related = present.select_related("workspace", "snapshot", "owner", "parent")
    return visible(related.defer("snapshot__queues"), user)


def get_scenario(user: User, scenario_id: UUID) -> Scenario:
    """Return a scenario, or raise Scenario.DoesNotExist (1 query)."""
    return scenarios(user).get(pk=scenario_id)


def scenario_frozen(scenario: Scenario, options: Mapping[str, Any] | None = None) -> Frozen:
    """Return a scenario at its current revision, with the document of a run with these options.

    The row is locked while its state is read, so that state and revision belong together. Raises Gone.
    """
    content = content_of(scenario.snapshot)
    with transaction.atomic():
        present = locked_scenario(scenario)
        state = state_of(present)
    document = frozen_input(content.document, name=present.name, state=state, options=options)
    return Frozen(present, state, document)


def locked_scenario(scenario: Scenario) -> Scenario:
    """Return the current row of a scenario, locked until the transaction ends (1 query).

    A removal waits for the lock, and so do edits. Raises Gone if the scenario was removed or deleted.
    """
    rows = Scenario.objects.select_for_update(of=("self",)).select_related("workspace", "snapshot")
    present = rows.filter(pk=scenario.pk, removed=None).first()
    if present is None:
        raise Gone(f"Scenario {scenario.name} was removed in the meantime. Nothing was saved.")
    return present


def state_of(scenario: Scenario) -> State:
    """Return the current state of a scenario (2 queries)."""
    return State(
        conf_text=scenario.conf_text,
        queues={row.name: planned_queue(row, row.pk) for row in scenario.queues.all()},
        objects={(row.kind, row.key): row.manifest for row in scenario.object_changes.all()},
        release=scenario.release,
    )


def state_at(scenario: Scenario, revision: int) -> State:
    """Return the state at a revision: the last full copy before, with the changes since (2 or 3 queries)."""
    copied = (
        scenario.copies.filter(revision__lte=revision).select_related("content").order_by("revision").last()
    )
    if copied is None:
        state, begin = state_of_snapshot(scenario.snapshot), 1
    else:
        state, begin = State.of(copied.content.document()), copied.revision
    changes = scenario.changes.filter(revision__gt=begin, revision__lte=revision).order_by("revision")
    content = content_if_needed(scenario.snapshot)
    for _, group in groupby(changes, key=lambda change: change.revision):
        together = list(group)
        state.make(together)
        content.settle(state, touched_objects(together))
    return state


def state_of_snapshot(snapshot: Snapshot) -> State:
    """Return the first state of a scenario on a snapshot."""
    rows = first_queues(snapshot)
    return State(conf_text=snapshot.scheduler_conf, queues={row.name: row for row in rows})


def objects_in(scenario: Scenario, state: State) -> Objects:
    """Return the objects of a state, including those of the snapshot."""
    return Objects(content_of(scenario.snapshot), state)


def first_queues(snapshot: Snapshot) -> list[Queue]:
    """Return the first queues of a scenario on a snapshot."""
    return queues_of(content_of(snapshot).queues if snapshot.queues is None else snapshot.queues)


def base_of(scenario: Scenario, base: str) -> State:
    """Return the state that a scenario is compared with (2 queries at most)."""
    return state_at(scenario, 1) if base == START else state_of_snapshot(scenario.snapshot)


def differences_from(scenario: Scenario, base: str) -> list[Edit]:
    """Return the differences of a scenario from its snapshot or its start (4 queries at most)."""
    content = content_if_needed(scenario.snapshot)
    return differences(base_of(scenario, base), state_of(scenario), content)


def parts_differing(scenario: Scenario, base: str, edit: Edit) -> list[Edit]:
    """Return the difference `edit` with those of the other objects of its workload, here or in the base."""
    sides = [objects_in(scenario, state) for state in (state_of(scenario), base_of(scenario, base))]
    parts = {part for side in sides for part in Workloads(side).parts(edit.kind, edit.key)}
    return [other for other in differences_from(scenario, base) if (other.kind, other.key) in parts]


def differences_on(snapshot: Snapshot, state: State) -> list[Edit]:
    """Return the differences of a state from its snapshot (1 query at most)."""
    return differences(state_of_snapshot(snapshot), state, content_if_needed(snapshot))


def document_of_snapshot(snapshot: Snapshot, options: Mapping[str, Any] | None = None) -> bytes:
    """Return the document of a snapshot, as a run with these options would freeze it."""
    return document_of(snapshot, snapshot.name, state_of_snapshot(snapshot), options)


def document_of_scenario(scenario: Scenario, revision: int | None = None) -> bytes:
    """Return the document of a scenario at a revision, as a run would freeze it (2 or 3 queries)."""
    state = state_of(scenario) if revision is None else state_at(scenario, revision)
    return document_of(scenario.snapshot, scenario.name, state)


def document_of(
    snapshot: Snapshot, name: str, state: State, options: Mapping[str, Any] | None = None
) -> bytes:
    """Return the document of a state on a snapshot, as a run with these options would freeze it."""
    return frozen_input(content_of(snapshot).document, name=name, state=state, options=options)
