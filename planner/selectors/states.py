"""What did a scenario say at one of its revisions?"""

from itertools import groupby

from planner.engine.contents import Objects, content_of
from planner.engine.queues import queue_row
from planner.engine.states import State
from planner.models import Queue, Scenario, Snapshot


def state_of(scenario: Scenario) -> State:
    """Return a scenario as it is now, its queues with their rows (2 queries)."""
    return State(
        conf_text=scenario.conf_text,
        queues={row.name: row for row in scenario.queues.all()},
        objects={(row.kind, row.key): row.manifest for row in scenario.object_changes.all()},
    )


def state_at(scenario: Scenario, revision: int) -> State:
    """Return a scenario as it was: from the last full copy before, by the changes since (2 or 3 queries)."""
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
    content_of(scenario.snapshot).settle(state)
    return state


def state_of_snapshot(snapshot: Snapshot) -> State:
    """Return what a scenario on a snapshot begins with."""
    rows = first_queues(snapshot)
    return State(conf_text=snapshot.scheduler_conf, queues={row.name: row for row in rows})


def objects_in(scenario: Scenario, state: State) -> Objects:
    """Return the objects of a state of a scenario, those of the snapshot included."""
    return Objects(content_of(scenario.snapshot), state)


def first_queues(snapshot: Snapshot) -> list[Queue]:
    """Return the unsaved queues that a scenario on a snapshot begins with."""
    rows = [queue_row(manifest) for manifest in content_of(snapshot).queues]
    for position, row in enumerate(rows):
        row.position, row.imported_name = position, row.name
    return rows
