"""What is a run held against? A run of its unchanged snapshot, which a worker makes after it."""

import logging
from collections.abc import Mapping
from typing import Any

from django.db import transaction

from planner.clusters.models import Blob, Snapshot
from planner.clusters.selectors.contents import content_of
from planner.clusters.selectors.usage import room_require
from planner.errors import QuotaExceeded
from planner.runs.models import Run
from planner.scenarios.models import Scenario
from planner.scenarios.selectors.revisions import differences_on, state_at, state_of_snapshot
from planning.frozen import frozen_input

logger = logging.getLogger(__name__)


def baseline_create(*, run: Run) -> Run | None:
    """Queue a run of the unchanged snapshot for a run that succeeded; None where it needs none.

    It needs none when it has one, when it is a question or a baseline itself, when its scenario is the
    unchanged snapshot, and when the workspace is full. Baselines of one snapshot have the same input whatever
    their scenarios are called, so a worker computes it once and shares its outcome.
    """
    if run.explains_id is not None or run.searches.filter(is_baseline=True).exists():
        return None
    scenario = Scenario.objects.select_related("snapshot__content", "workspace").get(pk=run.scenario_id)
    if not differences_on(scenario.snapshot, state_at(scenario, run.scenario_revision)):
        return None
    try:
        room_require(workspace=scenario.workspace)
    except QuotaExceeded:
        logger.info("Run %s gets no baseline: its workspace is full.", run.pk)
        return None
    return _queued(run, _unchanged(scenario.snapshot, run.options))


def _unchanged(snapshot: Snapshot, options: Mapping[str, Any]) -> Blob:
    """Return the input of a run of the unchanged snapshot."""
    state = state_of_snapshot(snapshot)
    frozen = frozen_input(
        content_of(snapshot).document,
        name=snapshot.name,
        queues=state.ordered_queues(),
        conf_text=state.conf_text,
        options=options,
    )
    return Blob.of(frozen)


@transaction.atomic
def _queued(run: Run, content: Blob) -> Run | None:
    """Queue the baseline, unless the run was deleted or did not succeed."""
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
