"""The timed changes of a forecast as form rows."""

import json
import re
from dataclasses import replace
from functools import cached_property
from typing import Any

from django.http import QueryDict

from planner.clusters.selectors.contents import content_of
from planner.forecasts.forms.changes import ChangeForm, changes_typed, in_form
from planner.scenarios.models import Scenario
from planner.scenarios.selectors.scenarios import document_of_scenario
from planning.forecasts.changes import timed_changes
from planning.forecasts.clock import duration
from planning.forecasts.document import late_problems
from planning.forecasts.options import DEFAULTS
from planning.forecasts.typed_changes import Timeline, timeline
from planning.nodes import pool_name
from planning.rows import Problem

PLACE = re.compile(r"changes\[(\d+)\]")
SPARE = 2
"""The number of empty rows after the filled ones."""


class TypedChanges:
    """The rows of timed changes of a form: as entered, as changes, on a time axis, with all problems."""

    def __init__(self, scenario: Scenario, typed: QueryDict, leaves: list[str]) -> None:
        self.scenario = scenario
        self.leaves = leaves
        self.typed = typed
        self.filled = changes_typed(typed)
        read = [row.change() for row in self.filled]
        self.changes = [change for change, _ in read]
        self.unread = [problem for _, problems in read for problem in problems]

    @cached_property
    def rows(self) -> list[ChangeForm]:
        """Return the filled rows, each with its problems, and some empty ones."""
        for problem in self.problems:
            self.filled[place_of(problem)].refuse([problem])
        first, more = len(self.filled), SPARE + 1 if "add" in self.typed else SPARE
        spare = (ChangeForm(place, conf_text=self.scenario.conf_text) for place in range(first, first + more))
        return [*self.filled, *spare]

    @property
    def problems(self) -> list[Problem]:
        """Return all problems of the changes, row by row."""
        return sorted([*self.unread, *self._timed[1]], key=place_of)

    @property
    def listed_problems(self) -> list[Problem]:
        """Return all problems with their place in words."""
        return [in_form(problem) for problem in self.problems]

    @property
    def timeline(self) -> Timeline:
        """Return the valid changes on a time axis."""
        return self._timed[0]

    @cached_property
    def subjects(self) -> list[str]:
        """The queues, and the pools of the snapshot, to choose from."""
        nodes = content_of(self.scenario.snapshot).document.get("nodes") or ()
        return [*self.leaves, *sorted({pool_name(node) for node in nodes})]

    @property
    def begin(self) -> str:
        """Return the time of second 0; empty if the scenario has no time."""
        return str(self._document.get("now") or "")

    @cached_property
    def _document(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(document_of_scenario(self.scenario))
        return document

    @property
    def _horizon(self) -> float:
        typed = duration(self.typed.get("horizon_seconds", ""))
        return typed or float(DEFAULTS["horizon_seconds"])

    @cached_property
    def _timed(self) -> tuple[Timeline, list[Problem]]:
        if not self.changes:
            return timeline([], self._horizon), []
        broken = {place_of(problem) for problem in self.unread}
        places = [place for place in range(len(self.changes)) if place not in broken]
        timed, found = timed_changes(
            self._document, [self.changes[place] for place in places], self.begin, self._horizon
        )
        if "horizon_seconds" not in self.typed or duration(self.typed["horizon_seconds"]):
            found += late_problems(timed, self._horizon)
        shown = [replace(one, place=places[one.place]) for one in timed if one.at <= self._horizon]
        problems = [_at(one, places[place_of(one)]) for one in found]
        for place in sorted(broken):
            # Of a change that cannot be read as a whole, its time and its queue can be checked.
            _, found = timed_changes(self._document, [self.changes[place]], self.begin, self._horizon)
            problems += [_at(one, place) for one in found if (one.path or "").endswith((".at", ".queue"))]
        return timeline(shown, self._horizon), problems


def _at(problem: Problem, place: int) -> Problem:
    """Return a problem of the change at another place."""
    return replace(problem, path=PLACE.sub(f"changes[{place}]", problem.path or ""))


def place_of(problem: Problem) -> int:
    """Return the index of the change that a problem belongs to."""
    found = PLACE.match(problem.path or "")
    return int(found[1]) if found else 0
