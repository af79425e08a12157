"""What does each queue of a scenario get, as it is now? The demand of its jobs is counted once and kept."""

import json
from collections.abc import Sequence

from planner.clusters.selectors.contents import content_of
from planner.clusters.selectors.demand import demand_counted, demand_key
from planner.scenarios.models import Queue, Scenario
from planner.scenarios.selectors.releases import release_used
from planning.demands import Demand
from planning.frozen import renamed_queues, scenario_objects
from planning.preview import Preview, queue_preview, renamed_demand, under_release


def scenario_preview(scenario: Scenario, queues: Sequence[Queue] | None = None) -> Preview:
    """Return the preview of a scenario (1 query, 1 more for its rows unless `queues` are at hand)."""
    rows = list(scenario.queues.all()) if queues is None else queues
    return queue_preview(
        rows,
        scenario.conf_text,
        release_used(scenario),
        lambda: under_release(_demand(scenario, rows), scenario.release),
    )


def _demand(scenario: Scenario, rows: Sequence[Queue]) -> Demand:
    """Return what the jobs of a scenario hold and request, by the present name of their queue (1 query)."""
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
