"""Output of a rollout: objects to apply from top to bottom, and a script for the rest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from shlex import quote
from typing import Any

from scheduler_core.rollout import Rollout

Object = Mapping[str, Any]

_OF_THE_SERVER = ("uid", "resourceVersion", "generation", "managedFields", "creationTimestamp", "selfLink")
_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def changed_objects(way: Rollout, conf: Object | None) -> list[Object]:
    """Return the queues that the steps write, and the scheduler's ConfigMap if it changes."""
    queues = [applicable(step.queue) for step in way.steps]
    return queues if conf is None else [*queues, conf]


def unchanged_objects(way: Rollout, queues: Iterable[Object]) -> Iterator[Object]:
    """Yield the queues that no step changes and that the webhook allows writing."""
    touched = {step.name for step in way.steps} | {problem.queue for problem in way.impossible}
    yield from (applicable(queue) for queue in queues if queue["metadata"]["name"] not in touched)


def applicable(queue: Object) -> Object:
    """Return a Queue without the fields that only the server writes."""
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


def commands(way: Rollout) -> list[str]:
    """Return the commands to delete, open and close queues; names are never parsed as options."""
    lines = [f"kubectl delete queue -- {quote(step.name)}" for step in way.deletions]
    for name, state in sorted(way.states.items()):
        action = "open" if state == "Open" else "close"
        lines.append(f"vcctl queue operate --name={quote(name)} --action={action}")
    return lines


def script(lines: Sequence[str]) -> str:
    """Return commands as a shell script; empty without commands."""
    return "\n".join(["#!/bin/sh", "set -eu", *lines]) + "\n" if lines else ""
