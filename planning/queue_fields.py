"""Validation of queues in their tree, by the core's checks."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from planning.rows import Problem
from scheduler_core import Problem as Found
from scheduler_core import queue_edits


def queue_problems(name: str, spec: Mapping[str, Any], parents: Mapping[str, str]) -> list[Problem]:
    """Return why a queue of this tree cannot have these fields; `name` is its current one, empty if new."""
    return [_row(found) for found in queue_edits.queue_problems(name, spec, parents)]


def tree_problems(spec: Mapping[str, Any], parents: Mapping[str, str]) -> list[Problem]:
    """Return why a removed queue no longer fits into this tree."""
    return [_row(found) for found in queue_edits.tree_problems("", spec, parents)]


def removal_problems(name: str, leaving: Sequence[str], *, subtree: bool) -> list[Problem]:
    """Return why queues cannot be removed."""
    return [_row(found) for found in queue_edits.removal_problems(name, leaving, subtree=subtree)]


def names_below(name: str, parents: Mapping[str, str]) -> list[str]:
    """Return the descendants of a queue, parents first."""
    return queue_edits.below(name, parents)


def _row(found: Found) -> Problem:
    return Problem(**asdict(found) | {"field": found.field or None})
