"""Model validation: values that are too long, missing or out of range are reported, not stored."""

import pytest

from planner.accounts.models import User, Workspace
from planner.clusters.models import Snapshot
from planner.errors import Invalid
from planner.rules import row_create, row_validate
from planner.scenarios.models import Queue, Scenario
from planner.scenarios.services.queues import queue_save
from planner.scenarios.services.scenarios import scenario_create
from planning.queues import Queue as PlannedQueue
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def editor() -> User:
    return factories.user()


def test_every_violated_rule_is_reported_at_its_field() -> None:
    row = Queue(name="x" * 254, state="y" * 31, weight=2**70)
    with pytest.raises(Invalid) as refused:
        row_validate(row)
    assert [(problem.rule, problem.path, problem.fix) for problem in refused.value.problems] == [
        ("queue.name", "name", "Shorten it."),
        ("queue.weight", "weight", "Write a smaller number."),
        ("queue.state", "state", "Shorten it."),
    ]


def test_unset_fields_violate_no_rule() -> None:
    row_validate(Queue(name="x"))
    row_validate(Snapshot(name="x", queues=[], problems=[], counts={}))


@pytest.mark.parametrize("name", ["", "x" * 101, "a\u200bb"])
def test_a_workspace_requires_a_visible_name(name: str) -> None:
    with pytest.raises(Invalid):
        row_create(Workspace(name=name))
    assert not Workspace.objects.filter(name=name).exists()


def test_a_scenario_with_an_overlong_name_is_not_created(editor: User) -> None:
    snapshot = factories.snapshot()
    with pytest.raises(Invalid):
        scenario_create(snapshot=snapshot, name="x" * 254, owner=editor)
    assert not Scenario.objects.exists()


def test_a_queue_weight_beyond_its_column_is_not_saved() -> None:
    scenario = factories.scenario()
    with pytest.raises(Invalid):
        queue_save(scenario=scenario, queue=PlannedQueue("new", weight=2**70))
    assert not scenario.queues.filter(name="new").exists()
