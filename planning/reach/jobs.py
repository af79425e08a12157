"""The PodGroup of a job, and how many of its pods have a node."""

from collections.abc import Mapping
from typing import Any

from scheduler_core.explain.cycle_view import items, key_of, podgroup_keys
from scheduler_core.explain.effects import PLACED, PROMISED

Json = Mapping[str, Any]


def placed(entry: Json) -> int:
    """Return how many pods of a job are on a node, or pipelined to one."""
    return sum(task["status"] in (*PLACED, *PROMISED) for task in entry["tasks"])


def podgroup_of(document: Json, job: str) -> str:
    """Return the PodGroup of this key, or the one that a controller creates for the vcjob of this key."""
    groups = {key_of(group) for group in items(document, "podgroups")}
    return job if job in groups else next(podgroup_keys(document, job), job)
