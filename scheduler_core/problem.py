"""Problems of a plan: what is wrong, where, and how to fix it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

Severity = Literal["error", "warning", "remark"]
Place = tuple[Any, ...]
"""The path to a value as (place of its container, key or index); () is the scenario itself."""

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


@dataclass(frozen=True)
class Problem:
    """A problem of a scenario, or something worth knowing about it.

    Attributes
    ----------
    severity : str
        error: it cannot be simulated; warning: Volcano or the API server would refuse it, or it does not do
        what its author meant; remark: worth knowing.
    path : str
        Such as ``queues[3].spec.capability["nvidia.com/gpu"]``.
    queue : str
        The queue that it concerns, empty if none.
    field : str
        The part of the path inside its object.
    actual, limit
        The value found and the value allowed, if these are scalars.

    """

    rule: str
    severity: Severity
    path: str
    message: str
    queue: str = ""
    field: str = ""
    actual: Any = None
    limit: Any = None
    fix: str = ""


def spell(place: Place, inside: Place = ()) -> str:
    """Return a place as a path, from `inside` on.

    Examples
    --------
    >>> spell((((((), "queues"), 3), "spec"), "nvidia.com/gpu"))
    'queues[3].spec["nvidia.com/gpu"]'

    """
    parts: list[str] = []
    while place and place is not inside:
        place, step = place
        parts.append(_spelled(step))
    return "".join(reversed(parts)).removeprefix(".")


def spell_steps(*steps: str | int) -> str:
    """Return a path given step by step.

    Examples
    --------
    >>> spell_steps("spec", "capability", "nvidia.com/gpu")
    'spec.capability["nvidia.com/gpu"]'

    """
    return "".join(map(_spelled, steps)).removeprefix(".")


def _spelled(step: Any) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    text = str(step)
    if _PLAIN_KEY.fullmatch(text):
        return f".{text}"
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'["{escaped}"]'


def refused(
    rule: str,
    way: tuple[str | int, ...],
    message: str,
    queue: str = "",
    *,
    actual: Any = None,
    limit: Any = None,
    fix: str = "",
) -> Problem:
    """Return the problem that a webhook refuses an object because of a field."""
    field = spell_steps(*way)
    return Problem(rule, "error", field, f"{field} {message}", queue, field, actual, limit, fix)
