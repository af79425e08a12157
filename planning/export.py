"""Export of a scenario as steps that change a cluster."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import manifests
from planning.rows import Export, ExportStep, Problem
from scheduler_core.conf import DEFAULT_CONF
from scheduler_core.rollout import rollout
from scheduler_core.rollout_objects import changed_objects, commands, script, unchanged_objects

Json = Mapping[str, Any]


def export_of(imported: Sequence[Json], queues: Sequence[Json], imported_conf: str, conf_text: str) -> Export:
    """Return the steps from imported Queue objects and configuration to those of a scenario.

    An emptied configuration is written as Volcano's default: a scheduler that reads an empty one keeps the
    configuration that it has.
    """
    way = rollout(imported, queues)
    conf_changed = conf_text != imported_conf
    conf = manifests.conf_manifest(conf_text if conf_text.strip() else manifests.dump(DEFAULT_CONF))
    changed = changed_objects(way, conf if conf_changed else None)
    unchanged = list(unchanged_objects(way, queues))
    if conf_text and not conf_changed:
        unchanged.append(conf)
    return Export(
        steps=[ExportStep(step.verb, step.name, step.halfway, step.removes) for step in way.steps],
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
