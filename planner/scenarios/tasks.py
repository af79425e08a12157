"""How do large rebases reach a worker?"""

from django.db import transaction

from planner.accounts.models import User
from planner.clusters.models import Snapshot
from planner.scenarios.models import Rebase, Scenario
from planner.scenarios.services.rebases import rebase_create, rebase_make
from planner.work.kinds import work_register
from planner.work.tasks import notify_workers
from planning.rebase.conflicts import Choices


def register() -> None:
    """Let workers make rebases."""
    work_register(Rebase, rebase_make)


def submit_rebase(
    *,
    scenario: Scenario,
    snapshot: Snapshot,
    name: str,
    choices: Choices,
    expected_revision: int,
    user: User | None = None,
) -> Rebase:
    """Queue a rebase that takes too long for its sender to wait, and notify a worker."""
    rebase = rebase_create(
        scenario=scenario,
        snapshot=snapshot,
        name=name,
        choices=choices,
        expected_revision=expected_revision,
        user=user,
    )
    transaction.on_commit(notify_workers)
    return rebase
