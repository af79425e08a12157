"""Collects the problems found so far, and the object being checked."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from scheduler_core.problem import Place, Problem, Severity, spell

MOST = 1000


class Report:
    """The problems found so far.

    Attributes
    ----------
    subject : str
        The object being checked, in words.
    inside : Place
        The path of that object.
    sound_amounts : set
        Resources with amounts that have no problems.
    sound : dict
        Objects without problems, regardless of their place, by identity.

    Parameters
    ----------
    sound_before : mapping
        `sound` of another report.

    """

    def __init__(self, sound_before: Mapping[int, Any] = MappingProxyType({})) -> None:
        self.sound: dict[int, Any] = {}
        self.sound_before = sound_before
        self.problems: list[Problem] = []
        self.left_out = 0
        self._counts: Counter[Severity] = Counter()
        self.subject = "the scenario"
        self.queue = ""
        self.inside: Place = ()
        self.sound_amounts: set[tuple[Any, str]] = set()

    def _has_room(self, severity: Severity) -> bool:
        """Count a problem; return False if there are too many of its severity to list it."""
        self._counts[severity] += 1
        if self._counts[severity] > MOST:
            self.left_out += 1
            return False
        return True

    def found(self) -> int:
        """Return the number of problems found so far, including those not listed."""
        return len(self.problems) + self.left_out

    def is_sound(self, thing: Any) -> bool:
        """Return whether the same object had no problems; if so, record that in this report."""
        name = id(thing)
        if name not in self.sound and name in self.sound_before:
            self.sound[name] = thing
        return name in self.sound

    def include(self, other: Report) -> None:
        """Add the problems of another report."""
        self.problems += other.problems
        self.left_out += other.left_out

    def sorted(self) -> list[Problem]:
        """Return the listed problems, errors before warnings before remarks, and how many more there are."""
        rank = {"error": 0, "warning": 1, "remark": 2}
        problems = sorted(self.problems, key=lambda problem: rank[problem.severity])
        more = len(problems) - MOST + self.left_out
        if more <= 0:
            return problems
        message = f"the scenario: {more} more problems are not shown"
        return [*problems[:MOST], Problem("form.many", "remark", "", message)]

    def set_subject(self, subject: str, place: Place, queue: str = "") -> None:
        """Set the object to which the next problems refer."""
        self.subject, self.inside, self.queue = subject, place, queue

    def add(
        self,
        rule: str,
        severity: Severity,
        place: Place,
        text: str,
        *,
        actual: Any = None,
        limit: Any = None,
        fix: str = "",
    ) -> None:
        """Add a problem; `text` continues a sentence that names the object and the field."""
        if not self._has_room(severity):
            return
        field = spell(place, self.inside)
        message = f"{self.subject}: {field} {text}" if field else f"{self.subject} {text}"
        self.problems.append(
            Problem(rule, severity, spell(place), message, self.queue, field, _shown(actual), limit, fix)
        )

    def include_problem(self, problem: Problem, place: Place, meaning: str) -> None:
        """Add a problem that another check found in the object at a place."""
        if not self._has_room(problem.severity):
            return
        path = f"{spell(place)}.{problem.path}"
        self.problems.append(replace(problem, path=path, message=f"{problem.message}: {meaning}"))

    def wrong_type(self, place: Place, wanted: str, value: Any) -> None:
        """Add the problem that a value has the wrong type for its field."""
        message = f"is {type_name(value)}, not {wanted}"
        self.add("form.type", "error", place, message, actual=value, fix=f"write {wanted}")

    def missing(self, place: Place) -> None:
        """Add the problem that a required field is missing."""
        self.add("form.missing", "error", place, "is missing", fix="write it")


def _shown(value: Any) -> Any:
    """Return a scalar value that is short enough to show, else None."""
    if isinstance(value, str):
        return value[:200]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, int) and abs(value) < 2**63 else None


def type_name(value: Any) -> str:
    """Return the type of a value in words."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, (int, float)):
        return f"the number {value!r}" if abs(value) < 1e15 else "a number"
    if isinstance(value, str):
        return f"the string {value!r}" if len(value) <= 40 else f"the string {value[:40]!r}…"
    if isinstance(value, Mapping):
        return "an object"
    return "a list" if isinstance(value, (list, tuple)) else f"of type {type(value).__name__}"
