"""May a queue of this tree be written, or removed? The core's answer."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from planning.rows import Problem
from scheduler_core import Problem as Found
from scheduler_core import queue_edits


def queue_problems(name: str, spec: Mapping[str, Any], parents: Mapping[str, str]) -> list[Problem]:
    """Return why a queue of this tree cannot have these fields; `name` is its present one, empty when new."""
    return [_row(found) for found in queue_edits.queue_problems(name, spec, parents)]


def tree_problems(spec: Mapping[str, Any], parents: Mapping[str, str]) -> list[Problem]:
    """Return why a queue that was removed does not fit into this tree any more."""
    return [_row(found) for found in queue_edits.tree_problems("", spec, parents)]


def removal_problems(name: str, leaving: Sequence[str], *, subtree: bool) -> list[Problem]:
    """Return why queues cannot be removed."""
    return [_row(found) for found in queue_edits.removal_problems(name, leaving, subtree=subtree)]


def names_below(name: str, parents: Mapping[str, str]) -> list[str]:
    """Return the queues below one, parents first."""
    return queue_edits.below(name, parents)


def _row(found: Found) -> Problem:
    return Problem(**asdict(found) | {"field": found.field or None})
