"""How does a what-if begin as a copy of another one?"""

from django.contrib.auth.models import User
from django.db import transaction

from planner.engine.revisions import state_at
from planner.models import ObjectChange, Queue, Scenario
from planner.services.members import role_require
from planner.services.revisions import copy_keep


@transaction.atomic
def scenario_branch(
    *, scenario: Scenario, name: str, revision: int | None = None, user: User | None = None
) -> Scenario:
    """Begin a what-if with all that another one says now, or said at one of its revisions."""
    role_require(user=user, workspace=scenario.workspace)
    present = Scenario.objects.select_for_update().select_related("snapshot").get(pk=scenario.pk)
    begin = present.revision if revision is None else revision
    state = state_at(present, begin)
    branch = Scenario.objects.create(
        workspace=present.workspace,
        name=name,
        snapshot=present.snapshot,
        parent=present,
        parent_revision=begin,
        conf_text=state.conf_text,
        owner=user,
    )
    Queue.objects.bulk_create(_own(row, branch) for row in state.ordered_queues())
    ObjectChange.objects.bulk_create(
        (
            ObjectChange(scenario=branch, kind=kind, key=key, manifest=manifest)
            for (kind, key), manifest in sorted(state.objects.items(), key=lambda entry: entry[0])
        ),
        batch_size=500,
    )
    copy_keep(scenario=branch)
    return branch


def _own(row: Queue, branch: Scenario) -> Queue:
    row.scenario = branch
    return row
