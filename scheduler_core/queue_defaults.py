"""Defaults that a queue's webhook and controller fill in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping
from typing import Any

from scheduler_core.model.queue import rooted

Object = Mapping[str, Any]


def with_defaults(queue: Object, changes: Counter[str]) -> Object:
    """Return a queue with its defaults; `changes` counts a sentence for each default."""
    spec, status, metadata = queue.get("spec") or {}, queue.get("status") or {}, queue["metadata"]
    changed_spec: dict[str, Any] = {}
    if not spec.get("weight"):
        changed_spec["weight"] = 1
        changes["Assumed: {n} queue{s} without spec.weight: weight 1."] += 1
    if spec.get("reclaimable") is None:
        changed_spec["reclaimable"] = True
        changes["Assumed: {n} queue{s} without spec.reclaimable: reclaimable."] += 1
    changed: dict[str, Any] = {}
    if changed_spec:
        changed["spec"] = {**spec, **changed_spec}
    if not status.get("state"):
        changed["status"] = {**status, "state": "Open"}
        changes["Assumed: {n} queue{s} without status.state: Open."] += 1
    annotations = rooted(metadata.get("annotations") or {})
    if annotations is not None:
        changed["metadata"] = {**metadata, "annotations": annotations}
        changes[
            "Assumed: {n} queue{s} whose hierarchy annotation does not begin with root: root put first."
        ] += 1
    return {**queue, **changed} if changed else queue


def queues_of_volcano(present: Container[str]) -> list[Object]:
    """Return the queues that Volcano creates at its start because they are not `present`."""
    return [
        _created_queue(name, reclaimable)
        for name, reclaimable in (("default", True), ("root", False))
        if name not in present
    ]


def _created_queue(name: str, reclaimable: bool) -> Object:
    return {
        "metadata": {"name": name},
        "spec": {"weight": 1, "reclaimable": reclaimable},
        "status": {"state": "Open"},
    }
