"""Rebases by a worker."""

from collections.abc import Sequence
from dataclasses import asdict

from django.db import transaction

from planner.accounts.models import Role, User
from planner.clusters.models import Snapshot
from planner.errors import Invalid, StaleRevision
from planner.scenarios.models import Rebase, Scenario
from planner.scenarios.services.branches import rebase_prepare, rebase_store
from planner.scenarios.services.revisions import revision_lock
from planner.work.execution import Watch, retry_on_db_error
from planner.work.lifecycle import Claim, work_end, work_enqueue
from planning.rebase import Rebased
from planning.rebase.conflicts import Choices
from planning.rows import Problem

CHANGED = "The scenario was changed in the meantime. Preview the rebase again."


@transaction.atomic
def rebase_create(
    *,
    scenario: Scenario,
    snapshot: Snapshot,
    name: str,
    choices: Choices,
    expected_revision: int,
    user: User | None = None,
) -> Rebase:
    """Queue a rebase for a worker; its problems are known once the worker has compared the snapshots.

    Raises RoleTooLow, StaleRevision and Gone.
    """
    revision_lock(scenario=scenario, expected=expected_revision, user=user)
    return work_enqueue(
        Rebase(
            workspace=scenario.workspace,
            owner=user,
            scenario=scenario,
            revision=expected_revision,
            snapshot=snapshot,
            name=name,
            choices=[[*decided, take] for decided, take in choices.items()],
        )
    )


def rebase_make(claim: Claim[Rebase], watch: Watch) -> None:
    """Compare the snapshots of a rebase and store the branch, or why there is none."""
    related = Rebase.objects.select_related("scenario__snapshot", "scenario__workspace", "snapshot")
    rebase = retry_on_db_error(lambda: related.get(pk=claim.id))
    choices = {(kind, key, field): take for kind, key, field, take in rebase.choices}
    try:
        with watch.beating("comparing the snapshots"):
            carried = retry_on_db_error(
                lambda: rebase_prepare(
                    scenario=rebase.scenario,
                    snapshot=rebase.snapshot,
                    choices=choices,
                    expected_revision=rebase.revision,
                )
            )
        if not watch.beat(1.0, "storing the branch"):
            watch.end()
            return
        retry_on_db_error(lambda: _finish(claim, rebase, carried))
    except Invalid as error:
        undecided = error.problems
        count = f"{len(undecided)} problem{'' if len(undecided) == 1 else 's'}"
        reason = f"{count} to fix; nothing was saved."
        retry_on_db_error(lambda: _refuse(claim, reason, undecided))
    except StaleRevision:
        retry_on_db_error(lambda: _refuse(claim, CHANGED))


@transaction.atomic
def _finish(claim: Claim[Rebase], rebase: Rebase, carried: Rebased) -> bool:
    """Store the branch and end the rebase, in one transaction; return False if the claim was lost."""
    mine = claim.mine().select_for_update().first()
    if mine is None:
        return False
    # The sender's current permissions count.
    user = None if mine.owner is None else mine.owner.acting(Role.EDITOR)
    branch = rebase_store(
        scenario=rebase.scenario,
        snapshot=rebase.snapshot,
        carried=carried,
        name=mine.name,
        expected_revision=mine.revision,
        user=user,
    )
    return work_end(claim=claim, state=Rebase.State.SUCCEEDED, branch=branch)


def _refuse(claim: Claim[Rebase], error: str, problems: Sequence[Problem] = ()) -> bool:
    """End a rebase without a branch, with the reason; return False if the claim was lost."""
    found = [asdict(problem) for problem in problems]
    return work_end(claim=claim, state=Rebase.State.FAILED, error=error, problems=found)
