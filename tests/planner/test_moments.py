"""Do the steps of a run, undone from its end, lead back to how it began?"""

import gzip
import json

import pytest

from planner.models import Run
from planner.selectors.moments import Moments
from scheduler_core import simulate_document
from tests.planner.recorded import CASES, run_of

pytestmark = pytest.mark.django_db


def simulated_run(family: str, index: int) -> Run:
    """Return a finished run of a recorded scenario, with the explanations that the core gives today."""
    with gzip.open(CASES / f"{family}.jsonl.gz") as lines:
        scenario = next(json.loads(line)["scenario"] for number, line in enumerate(lines) if number == index)
    return run_of(scenario, simulate_document(scenario))


@pytest.mark.parametrize("index", range(6))
@pytest.mark.parametrize(
    "family", ["proportion_reclaim", "capacity_hierarchy", "preempt", "mixed", "hdrf", "gang", "cycles"]
)
def test_undoing_every_step_leads_back_to_the_opening(family: str, index: int) -> None:
    run = simulated_run(family, index)
    for number, cycle in enumerate(run.result.document()["cycles"], 1):  # type: ignore[union-attr]
        first = run.decisions.filter(cycle=number).first()
        if first is None:
            continue
        moments = Moments(run, number)
        begun = {queue.queue: queue for queue in Moments(run, number).at(first.seq - 1).queues}
        for told in cycle["at_open"].get("queues", ()):
            if told["name"] in begun:
                queue = begun[told["name"]]
                for resource, amount in told["allocated"].items():
                    assert queue.allocated.get(resource, 0) == pytest.approx(amount, abs=1e-6), told["name"]
                assert queue.share == pytest.approx(told["share"]), told["name"]
