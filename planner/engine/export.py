"""What does somebody apply to a cluster so that it becomes what a scenario says?"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from shlex import quote
from typing import Any

import manifests
from planner.engine.contents import content_of
from planner.engine.queues import queue_manifest
from planner.models import Scenario
from planner.rows import Export, ExportStep, Problem
from scheduler_core.rollout import Rollout, rollout

Json = Mapping[str, Any]

NAMESPACE = "volcano-system"
_OF_THE_SERVER = ("uid", "resourceVersion", "generation", "managedFields", "creationTimestamp", "selfLink")
_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def scenario_export(scenario: Scenario) -> Export:
    """Return the way from a scenario's snapshot to the scenario (1 query)."""
    rows = list(scenario.queues.all())
    way = rollout(content_of(scenario.snapshot).queues, [queue_manifest(row) for row in rows])
    return Export(
        steps=[ExportStep(step.verb, step.name, step.halfway) for step in way.steps],
        deletions=[step.name for step in way.deletions],
        states=dict(way.states),
        conf_changed=scenario.conf_text != scenario.snapshot.scheduler_conf,
        impossible=[Problem(**asdict(problem)) for problem in way.impossible],
        changed=_documents(_changed(way, scenario)),
        whole=_documents(
            [*_changed(way, scenario), *_unchanged(way, [queue_manifest(row) for row in rows], scenario)]
        ),
        script=_script(way),
    )


def _changed(way: Rollout, scenario: Scenario) -> list[Json]:
    queues = [_applicable(step.queue) for step in way.steps]
    if scenario.conf_text == scenario.snapshot.scheduler_conf:
        return queues
    return [*queues, _config_map(scenario.conf_text)]


def _unchanged(way: Rollout, queues: Sequence[Json], scenario: Scenario) -> Iterator[Json]:
    """Yield what the steps do not touch, as far as the webhook lets it be written."""
    touched = {step.name for step in way.steps} | {problem.queue for problem in way.impossible}
    yield from (_applicable(queue) for queue in queues if queue["metadata"]["name"] not in touched)
    if scenario.conf_text and scenario.conf_text == scenario.snapshot.scheduler_conf:
        yield _config_map(scenario.conf_text)


def _applicable(queue: Json) -> Json:
    """Return a Queue without what only the server writes."""
    metadata = {key: value for key, value in queue["metadata"].items() if key not in _OF_THE_SERVER}
    annotations = {
        key: value for key, value in (metadata.get("annotations") or {}).items() if key != _APPLIED
    }
    metadata.pop("annotations", None)
    if annotations:
        metadata["annotations"] = annotations
    return {
        "apiVersion": queue.get("apiVersion") or "scheduling.volcano.sh/v1beta1",
        "kind": "Queue",
        "metadata": metadata,
        "spec": queue.get("spec") or {},
    }


def _config_map(text: str) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": manifests.CONF_MAP, "namespace": NAMESPACE},
        "data": {manifests.CONF_KEY: text},
    }


def _documents(objects: Sequence[Json]) -> str:
    return manifests.dump(objects) if objects else ""


def _script(way: Rollout) -> str:
    """Return what no manifest does: deleting, opening and closing queues; no name is read as an option."""
    lines = [f"kubectl delete queue -- {quote(step.name)}" for step in way.deletions]
    for name, state in sorted(way.states.items()):
        action = "open" if state == "Open" else "close"
        lines.append(f"vcctl queue operate --name={quote(name)} --action={action}")
    return "\n".join(["#!/bin/sh", "set -eu", *lines]) + "\n" if lines else ""
