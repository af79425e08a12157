"""How does a run begin over a frozen input, and how is its outcome kept?"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, TypeVar

from django.db import transaction

from planner.accounts.models import User
from planner.accounts.services.members import role_require
from planner.clusters.models import Blob
from planner.clusters.selectors.contents import content_of
from planner.clusters.selectors.usage import room_require
from planner.runs.models import JobOutcome, Outcome, QueueOutcome, Run, Trace, Victim
from planner.scenarios.models import Scenario
from planner.scenarios.selectors.revisions import state_of
from planner.work.lifecycle import Claim, work_end
from planning.frozen import frozen_input
from planning.outcomes import Rows
from planning.states import State

Row = TypeVar("Row", QueueOutcome, JobOutcome, Victim, Trace)


def run_create(
    *, scenario: Scenario, options: Mapping[str, Any] | None = None, user: User | None = None
) -> Run:
    """Freeze the scenario's present revision and queue a run of it.

    `options`: `cycles` (1) and `explain` (true). Interfaces call `planner.runs.tasks.submit_run`.
    """
    role_require(user=user, workspace=scenario.workspace)
    effective = {"cycles": 1, "explain": True, **(options or {})}
    present, _, frozen = scenario_freeze(scenario, effective)
    return run_queue(scenario=present, content=Blob.of(frozen), options=effective, user=user)


def scenario_freeze(
    scenario: Scenario, options: Mapping[str, Any] | None = None
) -> tuple[Scenario, State, bytes]:
    """Return a scenario at its present revision, what it says there, and its document."""
    with transaction.atomic():
        present = Scenario.objects.select_for_update().select_related("snapshot__content").get(pk=scenario.pk)
        state = state_of(present)
    frozen = frozen_input(
        content_of(present.snapshot).document,
        name=present.name,
        queues=state.ordered_queues(),
        conf_text=state.conf_text,
        options=options or {},
        overlay=state.objects,
        release=state.release,
    )
    return present, state, frozen


@transaction.atomic
def run_queue(
    *, scenario: Scenario, content: Blob, options: Mapping[str, Any], user: User | None = None
) -> Run:
    """Queue a run over an input that is frozen already."""
    role_require(user=user, workspace=scenario.workspace)
    room_require(workspace=scenario.workspace)
    return Run.objects.create(
        workspace=scenario.workspace,
        scenario=scenario,
        scenario_revision=scenario.revision,
        owner=user,
        options=dict(options),
        input=content.keep(),
    )


@transaction.atomic
def run_finish(
    *,
    claim: Claim[Run],
    result: Blob,
    rows: Rows | None,
    notes: Sequence[str],
    timings: Mapping[str, float],
    engine_version: str,
) -> bool:
    """Store the result with its rows and end the run, or nothing at all; was the run still this worker's?

    A search has no rows: its answer is its result alone.
    """
    run = claim.mine().select_for_update().first()
    if run is None:
        return False
    return work_end(
        claim=claim,
        state=Run.State.SUCCEEDED,
        outcome=None if rows is None else _outcome_keep(rows),
        result=result.keep(),
        found_so_far=None,
        notes=list(notes),
        timings=dict(timings),
        engine_version=engine_version,
    )


@transaction.atomic
def run_share(*, claim: Claim[Run], twin: Run, timings: Mapping[str, float]) -> bool:
    """End a run with the result and the outcome of its twin; False when either is gone."""
    kept = Run.objects.select_for_update().filter(pk=twin.pk).first()
    return kept is not None and work_end(
        claim=claim,
        state=Run.State.SUCCEEDED,
        outcome=kept.outcome_id,
        result=kept.result_id,
        notes=kept.notes,
        timings=dict(timings),
        engine_version=kept.engine_version,
    )


@transaction.atomic
def run_fail(
    *,
    claim: Claim[Run],
    error: str,
    result: Blob,
    notes: Sequence[str],
    timings: Mapping[str, float],
    engine_version: str,
) -> bool:
    """End a run whose scenario cannot be simulated, with the core's reason; was it still this worker's?"""
    return work_end(
        claim=claim,
        state=Run.State.FAILED,
        error=error,
        result=result.keep(),
        notes=list(notes),
        timings=dict(timings),
        engine_version=engine_version,
    )


def _outcome_keep(rows: Rows) -> Outcome:
    """Save the rows of a result under a new outcome, and return that."""
    outcome = Outcome.objects.create(counts=asdict(rows.counts))
    _rows_keep(QueueOutcome, [QueueOutcome(**columns) for columns in rows.queues], outcome)
    _rows_keep(JobOutcome, [JobOutcome(**columns) for columns in rows.jobs], outcome)
    _rows_keep(Victim, [Victim(**columns) for columns in rows.victims], outcome)
    _rows_keep(Trace, [Trace(**asdict(part)) for part in rows.parts], outcome)
    return outcome


def _rows_keep(model: type[Row], rows: Sequence[Row], outcome: Outcome) -> None:
    for row in rows:
        row.outcome = outcome
    model._default_manager.bulk_create(rows, batch_size=1000)
