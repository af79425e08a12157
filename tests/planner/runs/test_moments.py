"""Undoing the steps of a run from its end restores its beginning."""

from typing import Any

import pytest

from planner.runs.selectors.moments import moments_of
from planner.runs.selectors.steps import decisions
from planning.rows import Moment
from tests.planner.recorded import simulated_run

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "index", [0, 1, 2, *(pytest.param(more, marks=pytest.mark.long) for more in (3, 4, 5))]
)
@pytest.mark.parametrize(
    "family", ["proportion_reclaim", "capacity_hierarchy", "preempt", "mixed", "hdrf", "gang", "cycles"]
)
def test_the_steps_lead_from_the_opening_of_the_session_to_its_end(family: str, index: int) -> None:
    run = simulated_run(family, index)
    for number, cycle in enumerate(run.result.document()["cycles"], 1):  # type: ignore[union-attr]
        first = next(iter(decisions(run).where(cycle=number)), None)
        if first is None:
            continue
        moments = moments_of(run, number)
        assert moments is not None
        assert_same(moments.at(len(decisions(run))), cycle["at_end"])
        assert_same(moments.at(first.seq - 1), cycle["at_open"])


def assert_same(moment: Moment, session: dict[str, Any]) -> None:
    stood = {queue.queue: queue for queue in moment.queues}
    for shown in session.get("queues", ()):
        if shown["name"] in stood:
            queue = stood[shown["name"]]
            for resource, amount in shown["allocated"].items():
                assert queue.allocated.get(resource, 0) == pytest.approx(amount, abs=1e-6), shown["name"]
            assert queue.share == pytest.approx(shown["share"]), shown["name"]
