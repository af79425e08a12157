"""End of experiments: all groups have ended, the search is decided, or a user stops it."""

from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from planner.accounts.models import User
from planner.accounts.services.members import role_require
from planner.experiments.models import Experiment, ExperimentGroup
from planner.experiments.selectors.cells import Cells, verdict_written
from planner.experiments.selectors.experiments import VERIFYING
from planner.rules import row_lock
from planning.experiments.definition import SEARCH
from planning.experiments.outcomes import decided
from planning.experiments.search import Found, at_the_end
from planning.experiments.verification import not_verified
from planning.experiments.work import unseen_seeds

State = ExperimentGroup.State
_GOING_ON = (State.QUEUED, State.RUNNING)


@transaction.atomic
def experiment_settle(*, experiment_id: UUID) -> bool:
    """End an experiment with a known answer and stop its remaining groups; return whether it has ended."""
    experiment = Experiment.objects.select_for_update().filter(pk=experiment_id).first()
    if experiment is None or experiment.is_over:
        return True
    cells = Cells(experiment)
    is_done = not any(group.state in _GOING_ON for group in cells.groups)
    if experiment.kind == SEARCH:
        found = decided(cells.cheapest, cells.definition, cells.space, is_over=is_done)
        if found is None:
            return False
        wants = found.status == "found" and bool(unseen_seeds(experiment.written))
        if wants and (cells.verifying is None or cells.verifying.state in _GOING_ON):
            _verify(cells, found)
            return False
        verification = _verification(cells) if wants else None
        bounds = at_the_end(cells.space, found.cell.combination) if found.cell else []
        experiment.verdict = verdict_written(cells, found, bounds, verification)
    elif not is_done:
        return False
    groups_stop(experiment)
    experiment.state, experiment.finished = Experiment.State.SUCCEEDED, timezone.now()
    experiment.save(update_fields=["state", "finished", "verdict"])
    return True


def _verify(cells: Cells, found: Found) -> None:
    """Queue the group that verifies a proposal, if it does not exist yet; stop all others."""
    experiment = cells.experiment
    if cells.verifying is not None or found.cell is None:
        return
    groups_stop(experiment)
    ExperimentGroup.objects.create(
        workspace=experiment.workspace,
        owner=experiment.owner,
        experiment=experiment,
        number=VERIFYING,
        cells=[found.cell.combination],
    )


def _verification(cells: Cells) -> Any:
    """Return the result of the group that verifies the proposal, or why there is none."""
    group = cells.verifying
    assert group is not None, "the group has ended"
    if group.state == State.SUCCEEDED and group.measured and "holds" in group.measured[0]:
        return group.measured[0]
    error = group.measured[0]["error"] if group.measured else group.error or "It was stopped."
    return not_verified(error, len(unseen_seeds(cells.experiment.written)))


@transaction.atomic
def experiment_cancel(*, experiment: Experiment, user: User | None = None) -> Experiment:
    """Stop an experiment and keep the measured cells; leave a finished one unchanged. Return its row."""
    role_require(user=user, workspace=experiment.workspace)
    locked = row_lock(experiment)
    if not locked.is_over:
        groups_stop(locked)
        locked.state, locked.finished = Experiment.State.CANCELLED, timezone.now()
        locked.save(update_fields=["state", "finished"])
    experiment.refresh_from_db()
    return experiment


def groups_stop(experiment: Experiment) -> None:
    """Cancel the queued groups, and request the running ones to stop."""
    groups = ExperimentGroup.objects.filter(experiment=experiment)
    groups.filter(state=State.QUEUED).update(
        state=State.CANCELLED, cancel_requested=True, finished=timezone.now()
    )
    groups.filter(state=State.RUNNING).update(cancel_requested=True)


def experiments_settle() -> None:
    """End the experiments whose last group ended otherwise than by measuring its cells."""
    left = ExperimentGroup.objects.filter(state__in=(State.QUEUED, State.RUNNING))
    over = Experiment.objects.filter(state=Experiment.State.RUNNING).exclude(groups__in=left)
    for experiment_id in over.values_list("pk", flat=True):
        experiment_settle(experiment_id=experiment_id)
