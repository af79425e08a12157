"""Optimistic locking of scenarios, and the changes of each revision."""

from collections.abc import Sequence

from django.utils import timezone

from planner.accounts.models import User
from planner.accounts.services.members import role_require
from planner.clusters.models import Blob
from planner.errors import StaleRevision
from planner.scenarios.models import Change, Scenario, ScenarioCopy
from planner.scenarios.selectors.scenarios import locked_scenario, state_of
from planning.documents import encoded
from planning.states import Edit

COPY_EVERY = 20
"""The interval of full copies, in revisions."""


def revision_lock(*, scenario: Scenario, expected: int, user: User | None) -> None:
    """Lock the scenario for an edit until the transaction ends, and refresh it.

    Raises RoleTooLow for an account that may not edit it, StaleRevision, and Gone. Of two edits based on the
    same revision only one succeeds: the second one waits here, and is stale.
    """
    role_require(user=user, workspace=scenario.workspace)
    present = locked_scenario(scenario)
    scenario.revision = present.revision
    scenario.conf_text, scenario.release = present.conf_text, present.release
    if present.revision != expected:
        raise StaleRevision(expected=expected, current=present.revision)


def revision_raise(
    *, scenario: Scenario, user: User | None, changes: Sequence[Edit], way: str = Change.Way.EDIT
) -> None:
    """Store `changes` as a new revision, after the rows were written; without changes there is none."""
    if not changes:
        return
    scenario.revision += 1
    scenario.updated = timezone.now()
    scenario.save(update_fields=["revision", "updated"])
    Change.objects.bulk_create(
        (
            Change(
                scenario=scenario,
                revision=scenario.revision,
                way=way,
                user=user,
                actor=user.get_username() if user else "",
                kind=edit.kind,
                key=edit.key,
                field=edit.field,
                before=edit.before,
                after=edit.after,
            )
            for edit in changes
        ),
        batch_size=500,
    )
    if scenario.revision % COPY_EVERY == 0:
        copy_store(scenario=scenario)


def copy_store(*, scenario: Scenario) -> None:
    """Store a full copy of the scenario's current state."""
    content = Blob.of(encoded(state_of(scenario).as_copy()))
    ScenarioCopy.objects.create(scenario=scenario, revision=scenario.revision, content=content.keep())
