"""Why no cell of an experiment can have a value: the validators of scenarios, applied to one field."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from planning.nodes import MOST_NODES
from scheduler_core import Problem, problems
from scheduler_core.lint.conf import conf_problems
from scheduler_core.problem import spell_steps
from scheduler_core.release import release_of
from scheduler_core.schema_rules import schema_problems

Json = Mapping[str, Any]
Refusal = tuple[str, str]
"""Message and fix."""


def queue_refusal(queue: Json, steps: Iterable[str]) -> Refusal | None:
    """Return why the API server or the webhook refuses a field of a queue, whatever its other fields are.

    Examples
    --------
    >>> queue_refusal({"metadata": {"name": "a"}, "spec": {"weight": "x"}}, ["weight"])
    ("queue a: spec.weight is the string 'x', not a whole number", 'write a whole number')

    """
    path = spell_steps("queues", 0, "spec", *steps)
    found = [*problems({"queues": [queue]}), *schema_problems("queues", 0, queue)]
    return _first(one for one in found if one.path == path and one.severity != "remark")


def conf_refusal(document: Json, before: Json, after: Json) -> Refusal | None:
    """Return why Volcano does not take a changed configuration of a document, None if it does."""
    release = release_of(document)
    known = {one.message for one in conf_problems(before, release)}
    return _first(
        one
        for one in conf_problems(after, release)
        if one.message not in known and (one.severity == "error" or one.rule == "conf.argument_type")
    )


def count_refusal(value: Any) -> Refusal | None:
    """Return why a value is not a number of nodes, None if it is.

    Examples
    --------
    >>> count_refusal(3), count_refusal("x")
    (None, ("'x' is not a number of nodes", 'write whole numbers'))

    """
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        return f"{value!r} is not a number of nodes", "write whole numbers"
    if value > MOST_NODES:
        return f"{value:,} nodes are more than a scenario has", f"write at most {MOST_NODES}"
    return None


def _first(found: Iterable[Problem]) -> Refusal | None:
    return next(((one.message, one.fix) for one in found), None)
