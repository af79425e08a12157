"""Rows of problems."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar


@dataclass(frozen=True)
class Problem:
    """A problem of, or a remark about, a plan or a text; unknown values are None."""

    rule: str
    severity: str
    message: str
    path: str | None = None
    queue: str | None = None
    field: str | None = None
    actual: Any = None
    limit: Any = None
    fix: str | None = None
    document: str | None = None
    line: int | None = None

    @property
    def is_error(self) -> bool:
        """Whether it prevents saving or simulating."""
        return self.severity == "error"

    @property
    def beside_place(self) -> str:
        """What is wrong, for a table whose own column names the place.

        >>> Problem("a", "error", "tiers[1]: it is empty", field="tiers[1]").beside_place
        'it is empty'
        """
        return self.message.removeprefix(f"{self.field}: ")

    @property
    def beside_field(self) -> str:
        """What is wrong, for a place that names both the object and its field.

        >>> Problem("a", "error", "queue q: spec.weight is below 0", field="weight").beside_field
        'is below 0'
        """
        field = re.escape(self.field) if self.field else ".^"
        return re.sub(rf"^([^:]+: )?(\S+\.)?{field}:? ", "", self.message)

    @property
    def in_full(self) -> str:
        """The message with its fix.

        >>> Problem("a", "error", "The name is empty.", fix="Write a name.").in_full
        'The name is empty. Write a name.'
        >>> Problem("b", "error", "queue 'a' does not exist", fix="add the queue first").in_full
        "queue 'a' does not exist: add the queue first"
        >>> Problem("c", "error", "must be at least 0", fix="at least 0").in_full
        'must be at least 0'
        """
        if not self.fix or self.fix in self.message:
            return self.message
        return f"{self.message}{'' if self.message.endswith('.') else ':'} {self.fix}"


class Unusable(Exception):
    """What was given cannot be used; `problems` says everything that prevents it."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(problem.message for problem in problems))
        self.problems = list(problems)


class Worded(Protocol):
    """A problem, of the core or of a row."""

    @property
    def rule(self) -> str: ...  # noqa: D102
    @property
    def severity(self) -> str: ...  # noqa: D102
    @property
    def message(self) -> str: ...  # noqa: D102


AnyProblem = TypeVar("AnyProblem", bound=Worded)


def new_problems(before: Iterable[AnyProblem], after: Iterable[AnyProblem]) -> list[AnyProblem]:
    """Return the problems of `after` that `before` does not have.

    A problem is the same one if rule, severity and message are: its path changes with the object's place in
    its list.

    >>> seen, moved = Problem("a", "error", "no cpu", "jobs[1]"), Problem("a", "error", "no cpu", "jobs[0]")
    >>> [problem.rule for problem in new_problems([seen], [moved, Problem("b", "error", "no cpu")])]
    ['b']
    """
    known = {(one.rule, one.severity, one.message) for one in before}
    return [one for one in after if (one.rule, one.severity, one.message) not in known]


@dataclass(frozen=True)
class ConfFinding(Problem):
    """A finding about a configuration.

    `remedy` is the JSON patch of the configuration that mends it, empty where no edit of its own does.
    """

    remedy: Sequence[Mapping[str, Any]] = ()

    @property
    def patch(self) -> str:
        """Return the remedy as a button sends it."""
        return json.dumps(self.remedy, ensure_ascii=False)
