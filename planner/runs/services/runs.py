"""Queue runs over a frozen input, and the baseline that each run is compared with."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from planner.accounts.models import User
from planner.accounts.services.members import role_require
from planner.clusters.models import Blob
from planner.clusters.selectors.usage import quota_require
from planner.errors import Gone, QuotaExceeded
from planner.runs.models import Run
from planner.scenarios.models import Scenario
from planner.scenarios.selectors.scenarios import (
    document_of_snapshot,
    locked_scenario,
    scenario_frozen,
    state_at,
    state_of_snapshot,
)
from planner.work.lifecycle import work_enqueue

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class RunPlan:
    """A run to queue, with the frozen scenario as an unsaved document."""

    scenario: Scenario
    content: Blob
    options: Mapping[str, Any]


def run_create(
    *, scenario: Scenario, options: Mapping[str, Any] | None = None, user: User | None = None
) -> Run:
    """Freeze the scenario's current revision and queue a run of it, by `run_plan` and `run_queue`."""
    plan = run_plan(scenario=scenario, options=options, user=user)
    return run_queue(scenario=plan.scenario, content=plan.content, options=plan.options, user=user)


def run_plan(
    *, scenario: Scenario, options: Mapping[str, Any] | None = None, user: User | None = None
) -> RunPlan:
    """Freeze the scenario's current revision; slow, so call it outside transactions.

    `options`: `cycles` (1) and `explain` (true). Raises RoleTooLow, QuotaExceeded and Gone.
    """
    role_require(user=user, workspace=scenario.workspace)
    quota_require(workspace=scenario.workspace)
    effective = {"cycles": 1, "explain": True, **(options or {})}
    frozen = scenario_frozen(scenario, effective)
    return RunPlan(frozen.scenario, Blob.of(frozen.document), effective)


@transaction.atomic
def run_queue(
    *, scenario: Scenario, content: Blob, options: Mapping[str, Any], user: User | None = None
) -> Run:
    """Queue a run over a frozen input; the caller has checked role and quota. Raises Gone."""
    locked_scenario(scenario)
    return work_enqueue(
        Run(
            workspace=scenario.workspace,
            scenario=scenario,
            scenario_revision=scenario.revision,
            owner=user,
            options=dict(options),
            input=content.keep(),
        )
    )


def baseline_create(*, run: Run) -> Run | None:
    """Queue a run of the unchanged snapshot for a run that succeeded; return None if it needs none.

    It needs none if it has one, if it is a search or a baseline itself, if its scenario equals the snapshot,
    or if the workspace is full. Baselines of one snapshot have the same input whatever their scenarios are
    called, so a worker computes it once and they share its outcome.
    """
    if run.explains_id is not None or run.searches.filter(is_baseline=True).exists():
        return None
    scenario = Scenario.objects.select_related("snapshot__content", "workspace").get(pk=run.scenario_id)
    if state_at(scenario, run.scenario_revision) == state_of_snapshot(scenario.snapshot):
        return None
    try:
        quota_require(workspace=scenario.workspace)
        return _baseline_queue(run, Blob.of(document_of_snapshot(scenario.snapshot, run.options)))
    except QuotaExceeded:
        logger.info("Run %s gets no baseline: its workspace is full.", run.pk)
    except Gone:
        logger.info("Run %s gets no baseline: its scenario was removed.", run.pk)
    return None


@transaction.atomic
def _baseline_queue(run: Run, content: Blob) -> Run | None:
    """Queue the baseline, unless the run was deleted or did not succeed; the worker takes it next."""
    locked_scenario(run.scenario)
    present = Run.objects.select_for_update().filter(pk=run.pk, state=Run.State.SUCCEEDED).first()
    if present is None:
        return None
    return Run.objects.create(
        workspace_id=present.workspace_id,
        scenario_id=present.scenario_id,
        scenario_revision=present.scenario_revision,
        options=present.options,
        explains=present,
        is_baseline=True,
        input=content.keep(),
    )
