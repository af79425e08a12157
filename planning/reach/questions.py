"""Questions: a figure and the amount that it should reach, parsed with all problems."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from planning.amounts import read_amounts
from planning.rows import Problem

DESERVED, SHARE, PLACED = FIGURES = ("deserved", "share", "placed")
"""`deserved` and `share` are of a queue when a session opens, `placed` of a job after one session."""
NAMES = ("figure", "queue", "resource", "job", "at_least", "at_most")
_SHARE = re.compile(r"([0-9]+(?:\.[0-9]+)?)(%?)", re.ASCII)
_MOST_PODS = 1_000_000


@dataclass(frozen=True)
class Question:
    """A figure, and the amount that it should reach.

    Attributes
    ----------
    figure : str
        One of `FIGURES`.
    amount : float
        For `deserved` in the scheduler's units, for `share` 1 is all of what is deserved, for `placed` pods.
    is_least : bool
        Whether the figure should be at least the amount, else at most.
    queue, resource : str
        For `deserved` and `share`. The resource of a share is that in which amounts of queues are moved.
    job : str
        For `placed`: namespace/name of a PodGroup or vcjob.

    """

    figure: str
    amount: float
    is_least: bool = True
    queue: str = ""
    resource: str = ""
    job: str = ""

    def is_met_by(self, value: float) -> bool:
        """Return whether a value of the figure meets the question."""
        return value >= self.amount if self.is_least else value <= self.amount


def question_of(params: Mapping[str, str]) -> tuple[Question | None, list[Problem]]:
    """Return the question in texts, or all problems with them.

    Examples
    --------
    >>> about = {"queue": "a", "resource": "cpu"}
    >>> question_of({**about, "figure": "deserved", "at_least": "1500m"})[0].amount
    1500.0
    >>> _, problems = question_of({**about, "figure": "share", "at_most": "most"})
    >>> [problem.path for problem in problems]
    ['at_most']

    """
    written = {name: params.get(name, "").strip() for name in NAMES}
    problems = list(_problems(written))
    if problems:
        return None, problems
    bound = "at_least" if written["at_least"] else "at_most"
    amount = _amount(written, bound)
    assert amount is not None, "an amount that cannot be read is a problem"
    names = {name: written[name] for name in ("figure", "queue", "resource", "job")}
    return Question(amount=amount, is_least=bound == "at_least", **names), []


def _problems(written: Mapping[str, str]) -> Iterator[Problem]:
    figure = written["figure"]
    if figure not in FIGURES:
        yield _problem(
            "figure", f"{figure!r} is not a figure of the workbench", f"write {', '.join(FIGURES)}"
        )
        return
    needed = ("job",) if figure == PLACED else ("queue", "resource")
    for name in needed:
        if not written[name]:
            yield _problem(name, f"{figure} needs a {name}", f"name a {name} of the scenario")
    for name in sorted({"queue", "resource", "job"} - set(needed)):
        if written[name]:
            yield _problem(name, f"{figure} has no {name}", f"leave {name} out")
    bounds = [name for name in ("at_least", "at_most") if written[name]]
    if len(bounds) != 1:
        yield _problem("at_least", "one bound is needed: at_least or at_most", "give one of the two")
    elif figure == PLACED and bounds == ["at_most"]:
        yield _problem("at_most", "placed takes at_least only", "give at_least")
    elif _amount(written, bounds[0]) is None:
        yield _problem(
            bounds[0], f"{written[bounds[0]]!r} is not an amount of {figure}", f"write {_EXAMPLES[figure]}"
        )


_EXAMPLES = {
    DESERVED: "a quantity such as 20, 500m or 64Gi",
    SHARE: "a number such as 0.8, or 80%",
    PLACED: f"a whole number of pods, 1 to {_MOST_PODS:,}",
}


def _amount(written: Mapping[str, str], bound: str) -> float | None:
    text = written[bound]
    if written["figure"] == PLACED:
        return float(text) if text.isdecimal() and 0 < int(text[:9]) <= _MOST_PODS and len(text) < 9 else None
    if written["figure"] == SHARE:
        match = _SHARE.fullmatch(text[:40])
        return float(match.group(1)) / (100 if match.group(2) else 1) if match else None
    value = read_amounts({written["resource"] or "cpu": text}).get(written["resource"] or "cpu")
    return value if value is not None and 0 <= value < math.inf else None


def _problem(field: str, message: str, fix: str) -> Problem:
    return Problem(
        "reach.bad", "error", f"{message}.", path=field, field=field, fix=f"{fix[:1].upper()}{fix[1:]}."
    )
