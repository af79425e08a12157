"""What does somebody apply to a cluster so that it becomes what a scenario says?"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import manifests
from planner.scenarios.models import Scenario
from planning.contents import content_of
from planning.queues import queue_manifest
from planning.rows import Export, ExportStep, Problem
from scheduler_core.rollout import rollout
from scheduler_core.rollout_objects import changed_objects, commands, script, unchanged_objects

Json = Mapping[str, Any]


def scenario_export(scenario: Scenario) -> Export:
    """Return the way from a scenario's snapshot to the scenario (1 query)."""
    queues = [queue_manifest(row) for row in scenario.queues.all()]
    way = rollout(content_of(scenario.snapshot).queues, queues)
    conf_changed = scenario.conf_text != scenario.snapshot.scheduler_conf
    conf = manifests.conf_manifest(scenario.conf_text)
    changed = changed_objects(way, conf if conf_changed else None)
    unchanged = list(unchanged_objects(way, queues))
    if scenario.conf_text and not conf_changed:
        unchanged.append(conf)
    return Export(
        steps=[ExportStep(step.verb, step.name, step.halfway) for step in way.steps],
        deletions=[step.name for step in way.deletions],
        states=dict(way.states),
        conf_changed=conf_changed,
        impossible=[Problem(**asdict(problem)) for problem in way.impossible],
        changed=_documents(changed),
        whole=_documents([*changed, *unchanged]),
        script=script(commands(way)),
    )


def _documents(objects: Sequence[Json]) -> str:
    return manifests.dump(objects) if objects else ""
