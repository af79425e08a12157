"""The state of a scenario at a revision, and its differences from its base."""

from collections.abc import Mapping
from itertools import groupby
from typing import Any

from planner.clusters.models import Blob, Snapshot
from planner.clusters.selectors.contents import content_if_needed, content_of
from planner.scenarios.models import Scenario
from planning.contents import Objects, frozen_input
from planning.differences import differences
from planning.queues import Queue, planned_queue, queues_of
from planning.rebase import Rebased, rebased
from planning.rebase.conflicts import Choices, Side
from planning.states import Edit, State
from planning.workloads import Workloads

AT_ONCE_BYTES = 2_000_000
"""The most text of snapshots that is unpacked within a request."""
SNAPSHOT, START = "snapshot", "start"
BASES = (SNAPSHOT, START)
"""The base of a comparison: the snapshot, or the first revision, for a branch the parent's."""


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
    for _, together in groupby(changes, key=lambda change: change.revision):
        state.make(together)
    content_if_needed(scenario.snapshot).settle(state)
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


def rebase_of(scenario: Scenario, snapshot: Snapshot, choices: Choices) -> Rebased:
    """Return the state of a scenario rebased onto another snapshot (4 queries at most)."""
    sides = [Side(content_if_needed(one), one.scheduler_conf) for one in (scenario.snapshot, snapshot)]
    return rebased(sides[0], state_of(scenario), sides[1], choices)


def rebase_takes_long(scenario: Scenario, snapshot: Snapshot) -> bool:
    """Return whether two large snapshots have to be unpacked to compare objects (2 queries)."""
    if not scenario.object_changes.exists():
        return False
    both = Blob.objects.filter(pk__in=(scenario.snapshot.content_id, snapshot.content_id))
    return sum(both.values_list("size", flat=True)) > AT_ONCE_BYTES


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
