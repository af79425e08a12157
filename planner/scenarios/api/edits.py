"""Responses to edits of a scenario: made, dry run or stale, with the problems that an edit causes."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.access import is_dry, saved_unless_dry
from planner.api.errors import StaleEdit
from planner.api.serializers import ProblemSerializer
from planner.errors import StaleRevision
from planner.scenarios.api.preconditions import etag, seen_revision
from planner.scenarios.api.serializers.history import ChangeSerializer
from planner.scenarios.models import Change, Scenario
from planner.scenarios.selectors.history import changes_since
from planner.scenarios.selectors.review import scenario_problems
from planning.rows import Problem, new_problems

LEFT_OUT = ("plan.not_modelled", "conf.not_modelled")
"""The rules of remarks on features that the core does not model."""

Versions = Callable[[list[Change]], tuple[Any, Any]]
"""Returns, for the changes since the caller's revision, the version it saw and the current one."""


@dataclass
class Edited:
    """The problems of a scenario after an edit; known when the edit is made."""

    problems: list[Problem] = field(default_factory=list)
    """The problems that the edit caused, errors first."""

    @property
    def notes(self) -> list[str]:
        """Return what a run no longer models because of the edit."""
        return [problem.message for problem in self.problems if problem.rule in LEFT_OUT]

    def body_with(self, body: Any) -> dict[str, Any]:
        """Return the response body of an edit, with its problems and notes."""
        problems = ProblemSerializer(self.problems, many=True).data
        return {**(body or {}), "problems": problems, "notes": self.notes}


@contextmanager
def editing(request: Request, scenario: Scenario, versions: Versions | None = None) -> Iterator[Edited]:
    """Make the edit in the block; roll it back in a dry run."""
    before = scenario_problems(scenario)
    edit = Edited()
    with reporting_staleness(scenario, versions), saved_unless_dry(request):
        yield edit
        edit.problems = new_problems(before, scenario_problems(scenario))


def edited(
    request: Request,
    scenario: Scenario,
    body: Any,
    code: int = status.HTTP_200_OK,
) -> Response:
    """Return the response to an edit; a dry run shows the old revision."""
    if not is_dry(request):
        return Response(body, code, headers={"ETag": etag(scenario.revision)})
    tried = status.HTTP_200_OK if code == status.HTTP_201_CREATED else code
    return Response(body, tried, headers={"ETag": etag(seen_revision(request))})


@contextmanager
def reporting_staleness(scenario: Scenario, versions: Versions | None = None) -> Iterator[None]:
    """Answer a stale edit with both versions of its object, or with all changes since its revision."""
    try:
        yield
    except StaleRevision as stale:
        later = changes_since(scenario, stale.expected)
        if versions is None:
            seen, current = None, {"changes": ChangeSerializer(later, many=True).data}
        else:
            seen, current = versions(later)
        raise StaleEdit(stale, seen=seen, current=current) from stale
