"""What is wrong with a scenario, where, and what would mend it?"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Severity = Literal["error", "warning", "remark"]
Place = tuple[Any, ...]
"""The way to a value as (place of what holds it, key or index); () is the scenario itself."""

MOST = 1000
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with, or worth knowing about, a scenario.

    Attributes
    ----------
    severity : str
        error: it cannot be simulated. warning: Volcano or the API server would not take it, or it does not do
        what its author meant. remark: worth knowing.
    path : str
        Such as ``queues[3].spec.capability["nvidia.com/gpu"]``.
    queue : str
        The queue that it concerns, empty when it concerns none.
    field : str
        The part of the path inside its object.
    actual, limit
        What was found and what would be allowed, where these are single values.

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


class Report:
    """The problems found so far.

    Attributes
    ----------
    subject : str
        The object that is looked at, in words.
    inside : Place
        The place of that object.
    sound_amounts : set
        Resources with amounts about which there was nothing to say.

    """

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.left_out = 0
        self.subject = "the scenario"
        self.queue = ""
        self.inside: Place = ()
        self.sound_amounts: set[tuple[Any, str]] = set()

    def look_at(self, subject: str, place: Place, queue: str = "") -> None:
        """Say which object the next problems are about."""
        self.subject, self.inside, self.queue = subject, place, queue

    def add(
        self,
        rule: str,
        severity: Severity,
        place: Place,
        says: str,
        *,
        actual: Any = None,
        limit: Any = None,
        fix: str = "",
    ) -> None:
        """Add a problem; `says` goes on where the object and the field were named."""
        if len(self.problems) >= MOST:
            self.left_out += 1
            return
        field = spell(place, self.inside)
        message = f"{self.subject}: {field} {says}" if field else f"{self.subject} {says}"
        self.problems.append(
            Problem(rule, severity, spell(place), message, self.queue, field, _shown(actual), limit, fix)
        )

    def wrong_type(self, place: Place, wanted: str, value: Any) -> None:
        """Add that a value is of another type than its field takes."""
        says = f"is {type_name(value)}, not {wanted}"
        self.add("form.type", "error", place, says, actual=value, fix=f"write {wanted}")

    def missing(self, place: Place) -> None:
        """Add that a field must be there and is not."""
        self.add("form.missing", "error", place, "is missing", fix="write it")


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


def _spelled(step: Any) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    text = str(step)
    if _PLAIN_KEY.fullmatch(text):
        return f".{text}"
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'["{escaped}"]'


def _shown(value: Any) -> Any:
    """Return a single value that is small enough to be shown, else None."""
    if isinstance(value, str):
        return value[:200]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, int) and abs(value) < 2**63 else None


def type_name(value: Any) -> str:
    """Return what kind of value this is, in words."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, (int, float)):
        return f"the number {value!r}" if abs(value) < 1e15 else "a number"
    if isinstance(value, str):
        return f"the text {value!r}" if len(value) <= 40 else f"the text {value[:40]!r}…"
    if isinstance(value, Mapping):
        return "an object"
    return "a list" if isinstance(value, (list, tuple)) else f"of type {type(value).__name__}"
