"""The export of a scenario, to apply to a cluster."""

from planner.clusters.selectors.contents import content_if_needed
from planner.scenarios.models import Scenario
from planning.export import export_of
from planning.queues import queue_manifest
from planning.rows import Export


def scenario_export(scenario: Scenario) -> Export:
    """Return the steps from a scenario's snapshot to the scenario (1 query)."""
    snapshot = scenario.snapshot
    queues = [queue_manifest(row) for row in scenario.queues.all()]
    return export_of(content_if_needed(snapshot).queues, queues, snapshot.scheduler_conf, scenario.conf_text)
