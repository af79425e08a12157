"""Branches keep the wait targets of their parent: each for the queue that it was set for."""

import pytest

from planner.scenarios.models import Scenario
from planner.scenarios.services.branches import scenario_branch, scenario_rebase
from planner.scenarios.services.queues import queue_update
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def scenario(db: None) -> Scenario:
    """A scenario whose queue `busy` is named `team`, with targets."""
    scenario = factories.scenario()
    queue_update(scenario=scenario, name="busy", patch={"name": "team"}, expected_revision=1)
    scenario.wait_targets.create(queue="team", seconds=600)
    scenario.wait_targets.create(queue="waits", seconds=60)
    return scenario


def targets(scenario: Scenario) -> dict[str, float]:
    return {target.queue: target.seconds for target in scenario.wait_targets.all()}


@pytest.mark.parametrize(("take", "name"), [("ours", "team"), ("theirs", "busy")])
def test_a_rebase_keeps_the_target_of_a_queue_under_its_name_there(
    scenario: Scenario, take: str, name: str
) -> None:
    """Another queue of the newer snapshot has the name that the scenario gave it."""
    document = factories.cluster()
    document["queues"].append(factories.queue("team"))
    rebased = scenario_rebase(
        scenario=scenario,
        snapshot=factories.snapshot(document),
        name="later",
        choices={("queues", "busy", "name"): take},
        expected_revision=2,
    )
    assert targets(rebased) == {name: 600, "waits": 60}


def test_a_branch_at_an_older_revision_keeps_the_target_under_the_older_name(scenario: Scenario) -> None:
    assert targets(scenario_branch(scenario=scenario, name="before", revision=1)) == {
        "busy": 600,
        "waits": 60,
    }
    assert targets(scenario_branch(scenario=scenario, name="now")) == {"team": 600, "waits": 60}
