"""What is the smallest change of each kind with which a figure of a scenario reaches an amount?

It is answered within a request, for the processor's time is bounded: what was not tried by then is said.
"""

import time
from collections.abc import Mapping
from typing import Any

from planner.clusters.selectors.contents import content_of
from planner.errors import Invalid
from planner.scenarios.models import Scenario
from planner.scenarios.selectors.preview import scenario_demand
from planning.preview import under_release
from planning.reach.answers import question_document, unanswered
from planning.reach.figures import Unanswered
from planning.reach.questions import PLACED, question_of
from planning.reach.search import Reached, reached

SECONDS = 1.8
"""How much of the processor's time a search takes before it begins no further trial."""
MOST_PODS = 20_000
"""Of a larger cluster no session is simulated within a request."""


def scenario_reach(scenario: Scenario, params: Mapping[str, str]) -> Reached:
    """Return the answer to a question as typed (3 queries at most).

    Raises
    ------
    Invalid
        With every problem of the question, or why the figure has no value.

    """
    question, problems = question_of(params)
    if question is None:
        raise Invalid(problems)
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
        return reached(document, question, demand, lambda: time.thread_time() - began > SECONDS)
    except Unanswered as error:
        raise Invalid([unanswered(error)]) from None


def _refuse_large(document: Mapping[str, Any]) -> None:
    pods = len(document.get("pods") or ())
    if pods > MOST_PODS:
        raise Unanswered(
            f"The scenario has {pods:,} pods; sessions of more than {MOST_PODS:,} are not simulated while "
            "somebody waits. Run the scenario, and search what would unblock the job on its page."
        )
