"""The search for the smallest change of each kind with which a figure of a scenario reaches an amount.

A request simulates for a limited processor time, and returns what it has not tried yet. The next request
continues: it sends the findings back, signed, so that the server stores nothing.
"""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from django.core import signing

from planner.clusters.selectors.contents import content_of
from planner.errors import Invalid
from planner.scenarios.models import Scenario
from planner.scenarios.selectors.preview import scenario_demand
from planning.preview import under_release
from planning.reach.answers import question_document, unanswered
from planning.reach.figures import Unanswered
from planning.reach.questions import PLACED, Question, question_of
from planning.reach.search import Reached, Tried, reached
from planning.rows import Problem
from planning.version import ENGINE_VERSION

SECONDS = 1.8
"""The processor time after which a search starts no further simulation."""
MOST_PODS = 20_000
"""Larger clusters are not simulated within a request."""
AFTER = "after"
"""The parameter with the findings so far."""
_SALT = "planner.scenarios.reach"


def scenario_reach(scenario: Scenario, params: Mapping[str, str]) -> Reached:
    """Return the answer to the question in `params`, as far as time allows (3 queries at most).

    Raises
    ------
    Invalid
        With every problem of the question, or why the figure has no value or the search cannot go on.

    """
    question, problems = question_of(params)
    if question is None:
        raise Invalid(problems)
    known = _known(scenario, question, params[AFTER]) if params.get(AFTER) else ()
    rows = list(scenario.queues.all())
    overlay = {(row.kind, row.key): row.manifest for row in scenario.object_changes.all()}
    began = time.thread_time()
    try:
        document = question_document(
            content_of(scenario.snapshot).document,
            queues=rows,
            conf_text=scenario.conf_text,
            overlay=overlay,
            release=scenario.release,
        )
        if question.figure == PLACED:
            _refuse_large(document)
            demand = None
        else:
            demand = under_release(scenario_demand(scenario, rows), scenario.release)
        return reached(document, question, demand, lambda: time.thread_time() - began > SECONDS, known)
    except Unanswered as error:
        raise Invalid([unanswered(error)]) from None


def continuation(scenario: Scenario, answer: Reached) -> str | None:
    """Return the value of `AFTER` that continues a search; None if every kind is decided."""
    if answer.is_complete:
        return None
    found = [one.so_far for one in answer.found]
    return signing.dumps([_searched(scenario, answer.question), found], salt=_SALT, compress=True)


def _known(scenario: Scenario, question: Question, written: str) -> Sequence[Tried]:
    """Return the findings so far."""
    try:
        searched, found = signing.loads(written, salt=_SALT)
    except signing.BadSignature:
        searched, found = None, []
    if searched != _searched(scenario, question):
        message, fix = "The search cannot go on: the scenario has changed since it began.", "Search again."
        raise Invalid([Problem("reach.changed", "error", message, path=AFTER, field=AFTER, fix=fix)])
    return [(tried, is_found, value, refused) for tried, is_found, value, refused in found]


def _searched(scenario: Scenario, question: Question) -> list[Any]:
    """Return everything that the findings depend on."""
    return [str(scenario.pk), scenario.revision, ENGINE_VERSION, repr(question)]


def _refuse_large(document: Mapping[str, Any]) -> None:
    pods = len(document.get("pods") or ())
    if pods > MOST_PODS:
        raise Unanswered(
            f"The scenario has {pods:,} pods; sessions of more than {MOST_PODS:,} are not simulated while "
            "somebody waits. Run the scenario, and search what would unblock the job on its page."
        )
