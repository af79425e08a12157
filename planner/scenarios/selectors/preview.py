"""Previews of the queues of a scenario, with or without unsaved edits.

The demand of the jobs is counted once and cached.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict

from django.core.cache import cache

from planner.clusters.selectors.contents import content_of
from planner.clusters.selectors.demand import demand_counted, demand_key, preview_key
from planner.scenarios.models import Queue, Scenario
from planner.scenarios.selectors.scenarios import first_queues
from planning.amounts import limited_amounts
from planning.contents import renamed_queues, scenario_objects
from planning.demands import Demand
from planning.preview import Preview, preview_from, queue_preview, renamed_demand, under_release
from planning.queue_edits import Batch, Patches, edit_queues
from planning.queues import Queue as PlannedQueue
from planning.queues import planned_queue
from planning.rows import Amounts


def scenario_preview(scenario: Scenario, queues: Sequence[Queue] | None = None) -> Preview:
    """Return the preview of a scenario (1 query, 1 more for its rows unless `queues` are given)."""
    rows = list(scenario.queues.all()) if queues is None else queues
    return queue_preview(
        rows,
        scenario.conf_text,
        lambda: under_release(scenario_demand(scenario, rows), scenario.release),
    )


def edited_preview(scenario: Scenario, patches: Patches) -> tuple[Batch, Preview]:
    """Return queues with unsaved edits, and their preview (2 queries).

    Edits with problems are left out; the batch lists them.
    """
    stored = list(scenario.queues.all())
    demand = scenario_demand(scenario, stored)
    planned = [planned_queue(row, row.pk) for row in stored]
    batch = edit_queues(planned, patches, lambda: limited_amounts(demand.total.as_dict()))
    moved = renamed_demand(demand, {name: after["name"] for name, (_, after) in batch.edited.items()})
    preview = queue_preview(
        batch.queues,
        scenario.conf_text,
        lambda: under_release(moved, scenario.release),
    )
    return batch, preview


def snapshot_preview(scenario: Scenario) -> tuple[Sequence[PlannedQueue], Preview]:
    """Return the queues of a scenario's snapshot and their preview, which is cached.

    The scenario's edits, configuration and release are not applied.
    """
    snapshot = scenario.snapshot
    queues = first_queues(snapshot)
    key = preview_key(snapshot.content_id, snapshot.pk)
    if (kept := cache.get(key)) is not None:
        return queues, preview_from(kept)
    demand = demand_counted(demand_key(snapshot.content_id), lambda: content_of(snapshot).document)
    preview = queue_preview(queues, snapshot.scheduler_conf, lambda: demand)
    cache.set(key, asdict(preview))
    return queues, preview


def cluster_total(scenario: Scenario) -> Amounts:
    """Return the total resources of a scenario's nodes (2 queries)."""
    return limited_amounts(scenario_demand(scenario, list(scenario.queues.all())).total.as_dict())


def scenario_demand(scenario: Scenario, rows: Sequence[Queue]) -> Demand:
    """Return the allocated and requested resources by the current name of their queue (1 query)."""
    snapshot, renamed = scenario.snapshot, renamed_queues(rows)
    overlay = {(row.kind, row.key): row.manifest for row in scenario.object_changes.all()}
    if overlay:
        changes = json.dumps([sorted(overlay.items()), renamed], sort_keys=True)
        return demand_counted(
            demand_key(snapshot.content_id, changes),
            lambda: scenario_objects(content_of(snapshot).document, queues=rows, overlay=overlay),
        )
    demand = demand_counted(demand_key(snapshot.content_id), lambda: content_of(snapshot).document)
    return renamed_demand(demand, renamed)
