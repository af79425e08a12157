"""Parsing of numbers, times and JSON in traces, with the places of problems."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from sys import intern
from typing import Any

from traces.model import TraceProblem, Unreadable
from traces.shapes import CONSTRAINTS, QUANTITY, Check, amount, map_of, record, text

MOST_PROBLEMS = 100
LARGEST = 1e11
"""The largest number in a cell; as seconds since 1970 it is the year 5138."""
SHOWN = 40
"""How many characters of a wrong cell a message repeats."""
_CONSTRAINTS = record(**CONSTRAINTS)
_AMOUNTS, _TEXTS = map_of(amount), map_of(text)
_ODD = re.compile(r"\\u(0000|d[89a-f])", re.IGNORECASE)
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", re.ASCII)
NO_ANNOTATIONS: Mapping[str, str] = {}
"""Shared by the jobs and roles without annotations, of which a trace has a million."""
_NAME = r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?"
_RESOURCE = re.compile(
    rf"[a-z0-9]([-a-z0-9.]*[a-z0-9])?/{_NAME}|hugepages-{_NAME}|ephemeral-storage", re.ASCII
)


@lru_cache(maxsize=1024)
def is_resource_column(name: str) -> bool:
    """Return whether a column of our own CSV is named after a resource, such as ``amd.com/gpu``."""
    return _RESOURCE.fullmatch(name) is not None


class Problems:
    """The problems found so far; after the first hundred nothing more is read."""

    def __init__(self) -> None:
        self.found: list[TraceProblem] = []

    def add(self, line: int, column: str, message: str, fix: str = "") -> None:
        """Add a problem; raise Unreadable with the hundredth."""
        self.found.append(TraceProblem(line, column, message, fix))
        if len(self.found) == MOST_PROBLEMS:
            self.refuse()

    def twice(self, line: int, job: str, fix: str = "give each job a name of its own") -> None:
        """Add the problem that a job occurred before."""
        self.add(line, "", f"the job {job} occurs twice", fix)

    def refuse(self) -> None:
        """Raise Unreadable if there are problems."""
        if self.found:
            raise Unreadable(self.found)


class Row:
    """One line of a table with its cells by name.

    Parameters
    ----------
    line : int
        Its number, from 1.

    """

    def __init__(self, line: int, cells: Mapping[str, str | None], problems: Problems) -> None:
        self.line = line
        self._cells = cells
        self._problems = problems

    @property
    def resources(self) -> list[str]:
        """Return the columns named after a resource that has no fixed column, such as ``amd.com/gpu``."""
        return [name for name in self._cells if name and is_resource_column(name)]

    def text(self, column: str) -> str:
        """Return a cell; empty if missing."""
        return (self._cells.get(column) or "").strip()

    def word(self, column: str) -> str:
        """Return a cell that has the same text in many rows, which is kept once."""
        return intern(self.text(column))

    def expect(self, column: str, first: Row) -> None:
        """Report a problem if a cell differs from that of an earlier line of the same job."""
        text, expected = self.text(column), first.text(column)
        if text != expected:
            says = f"{text[:SHOWN]!r} differs from {expected[:SHOWN]!r} in line {first.line} of the same job"
            self._problems.add(self.line, column, says, "write the same in all lines of a job")

    def number(self, column: str, default: float | None = None, *, least: float = 0.0) -> float:
        """Return the number in a cell; `default` for an empty cell, or a problem without a default."""
        text = self.text(column)
        if not text and default is not None:
            return default
        value = float(text) if _NUMBER.fullmatch(text) else math.nan
        if not least <= value <= LARGEST:
            shown = f"{text[:SHOWN]!r}{'…' if len(text) > SHOWN else ''}"
            says = f"{shown} is not a number of at least {least:g}" if text else "the cell is empty"
            fix = f"write a number of at least {least:g}"
            if value > LARGEST:
                says, fix = f"{shown} is more than {LARGEST:g}", "write a smaller number"
            self._problems.add(self.line, column, says, fix)
            return least
        return value

    def quantity(self, column: str) -> str:
        """Return the Kubernetes quantity in a cell; empty if missing."""
        text = self.word(column)
        if text and not QUANTITY.fullmatch(text):
            self._problems.add(
                self.line, column, f"{text[:SHOWN]!r} is not an amount", "write an amount such as 8 or 64Gi"
            )
        return text

    def count(self, column: str, default: int | None = None, *, least: int = 0) -> int:
        """Return the whole number in a cell."""
        value = self.number(column, default, least=least)
        if value != int(value):
            self._problems.add(self.line, column, f"{value:g} is not a whole number", "write a whole number")
        return int(value)

    def constraints(self, column: str) -> dict[str, Any] | None:
        """Return the node constraints in a cell, a JSON object; None if missing."""
        fix = 'write a JSON object such as {"nodeSelector": {"zone": "a"}, "tolerations": [], "affinity": {}}'
        return self._object(column, "constraints", fix, _CONSTRAINTS, CONSTRAINTS)

    def amounts(self, column: str) -> dict[str, str] | None:
        """Return the Kubernetes quantities in a cell, a JSON object; None if missing."""
        fix = 'write a JSON object such as {"cpu": "8", "memory": "64Gi"}, or {} for none'
        value = self._object(column, "amounts", fix, _AMOUNTS)
        return None if value is None else {name: str(amount).strip() for name, amount in value.items()}

    def annotations(self, column: str, names: Collection[str]) -> Mapping[str, str]:
        """Return the annotations in a cell, a JSON object with some of these names; empty if missing."""
        fix = f"write a JSON object of texts, with some of {', '.join(names)}"
        return self._object(column, "annotations", fix, _TEXTS, names) or NO_ANNOTATIONS

    def _object(
        self, column: str, kind: str, fix: str, check: Check, names: Collection[str] | None = None
    ) -> dict[str, Any] | None:
        """Return the JSON object in a cell, whose keys are some of these names; None if missing.

        What the check finds in its values is reported, too.
        """
        text = self.text(column)
        if not text:
            return None
        value: dict[str, Any] | None
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            value = None
        if (
            not isinstance(value, dict)
            or has_odd_character(text, value)
            or (names is not None and not value.keys() <= set(names))
            or None in value.values()
        ):
            says = f"{text[:SHOWN]!r}{'…' if len(text) > SHOWN else ''} are no {kind}"
            self._problems.add(self.line, column, says, fix)
            return None
        for place, expected in check(value, ""):
            self._problems.add(self.line, column, f"{place.removeprefix('.')} is not {expected}", fix)
        return value

    def time(self, column: str) -> float:
        """Return the seconds since 1970 of a time such as 2020-04-01 00:00:08."""
        text = self.text(column)
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            says = f"{text!r} is not a time" if text else "the cell is empty"
            self._problems.add(self.line, column, says, "write a time such as 2020-04-01 00:00:08")
            return 0.0
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def has_odd_character(text: str, value: object) -> bool:
    r"""Return whether parsed JSON has an escaped character that cannot be stored.

    Examples
    --------
    >>> [has_odd_character(text, json.loads(text)) for text in (r'"\ud83d\ude00"', r'"\ud83d"', r'"\u0000"')]
    [False, True, True]

    """
    if not _ODD.search(text):
        return False
    written = json.dumps(value, ensure_ascii=False).replace("\\\\", "")
    return "\\u0000" in written or any("\ud800" <= character <= "\udfff" for character in written)


def loaded(text: str) -> object:
    """Return parsed JSON.

    Raises
    ------
    Unreadable
        With line and column of what is no JSON.

    """
    try:
        value: object = json.loads(text)
        if not has_odd_character(text, value):
            return value
        problem = TraceProblem(0, "", "a text has a NUL or half of a surrogate pair", "remove the character")
    except json.JSONDecodeError as error:
        problem = TraceProblem(error.lineno, f"column {error.colno}", f"not JSON: {error.msg}")
    except RecursionError:
        problem = TraceProblem(0, "", "it is nested too deeply", "write a list of jobs")
    except ValueError:  # Python reads numbers of up to 4,300 digits.
        problem = TraceProblem(0, "", "a number has thousands of digits", "write a shorter number")
    raise Unreadable([problem])


def counted(number: int, noun: str) -> str:
    """Return a count with its noun.

    Examples
    --------
    >>> counted(1, "job"), counted(2000, "job")
    ('1 job', '2,000 jobs')

    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def exact(number: float) -> str:
    """Return the shortest text that reads back as the same number.

    Examples
    --------
    >>> exact(600.0), exact(1234567.0), exact(0.1)
    ('600', '1234567', '0.1')

    """
    return repr(float(number)).removesuffix(".0")


def stamp(seconds: float) -> str:
    """Return the RFC 3339 text of seconds since 1970.

    Examples
    --------
    >>> stamp(86400)
    '1970-01-02T00:00:00Z'

    """
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
