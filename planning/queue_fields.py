"""May a queue be written so? The core's answer, and what a row has room for."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from planning.queues import SPEC_FIELDS
from planning.rows import Problem
from scheduler_core import Problem as Found
from scheduler_core import queue_edits

Complaint = tuple[str, str, str, Any, str]
"""Rule, path below the queue, message, what was found, what to write instead."""


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


def row_problems(manifest: Mapping[str, Any], path: str) -> list[Problem]:
    """Return which texts of an imported Queue are longer than their columns; all else the core checks."""
    return [
        Problem(
            rule,
            "error",
            message,
            path=f"{path}.{part}.{where}",
            queue=manifest["metadata"]["name"],
            field=field,
            actual=actual,
            fix=fix,
        )
        for part, field, check in _COLUMN_WIDTHS
        if (value := (manifest.get(part) or {}).get(field)) is not None
        for rule, where, message, actual, fix in check(field, value)
    ]


def _row(found: Found) -> Problem:
    return Problem(**asdict(found) | {"field": found.field or None})


def _text_up_to(longest: int) -> Callable[[str, Any], Iterator[Complaint]]:
    def check(field: str, value: Any) -> Iterator[Complaint]:
        if not isinstance(value, str):
            yield "form.type", field, f"{field} must be a string.", value, "Write it in quotes."
        elif len(value) > longest:
            fix = f"Use at most {longest} characters."
            yield "too_long", field, f"{field} has {len(value)} characters.", f"{value[:60]}…", fix

    return check


_COLUMN_WIDTHS = (
    ("metadata", "name", _text_up_to(253)),
    ("metadata", "creationTimestamp", _text_up_to(40)),
    *[("spec", field.name, _text_up_to(field.longest)) for field in SPEC_FIELDS if field.longest],
    ("status", "state", _text_up_to(30)),
)
"""The longest texts that the columns hold; a Kubernetes name is never longer."""
