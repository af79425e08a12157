"""Adding, moving, renaming, duplicating and removing queues of a scenario."""

from collections.abc import Callable
from typing import Any

import pytest

from planner.errors import Invalid, StaleRevision
from planner.scenarios.models import Change, Queue, Scenario
from planner.scenarios.services.queues import queue_create, queue_duplicate, queue_remove, queue_update
from tests import factories

Shaping = Callable[..., Any]


@pytest.fixture
def scenario(db: None) -> Scenario:
    document = factories.cluster()
    document["queues"] += [
        factories.queue("root"),
        factories.queue("default"),
        factories.queue("below", parent="waits", deserved={"cpu": "2"}),
        factories.queue("lowest", parent="below"),
    ]
    return factories.scenario(document=document)


def parents(scenario: Scenario) -> dict[str, str]:
    return dict(scenario.queues.values_list("name", "parent"))


def broken_rules(change: Shaping, **query: Any) -> list[str]:
    with pytest.raises(Invalid) as refused:
        change(expected_revision=1, **query)
    assert Scenario.objects.get().revision == 1
    return [problem.rule for problem in refused.value.problems]


def test_a_queue_is_added_with_its_spec(scenario: Scenario) -> None:
    spec = {"name": "new", "parent": "waits", "weight": 3, "capability": {"cpu": "4"}}
    queue_create(scenario=scenario, spec=spec, expected_revision=1)
    added = scenario.queues.get(name="new")
    assert (added.parent, added.weight, added.capability, added.state) == ("waits", 3, {"cpu": "4"}, "")
    assert scenario.revision == 2
    change = Change.objects.get()
    assert change.before is None
    assert change.after["object"]["spec"]["weight"] == 3


NEW = {
    "no name": ({}, "form.missing"),
    "a taken name": ({"name": "waits"}, "name.taken"),
    "a name with capitals": ({"name": "New"}, "name.illegal"),
    "a missing parent": ({"name": "new", "parent": "gone"}, "queue.parent_missing"),
    "an unreadable quantity": ({"name": "new", "capability": {"cpu": "x"}}, "quantity.unreadable"),
}


@pytest.mark.parametrize(("spec", "rule"), NEW.values(), ids=NEW)
def test_an_invalid_new_queue_is_refused(scenario: Scenario, spec: dict[str, Any], rule: str) -> None:
    assert broken_rules(queue_create, scenario=scenario, spec=spec) == [rule]


def test_a_queue_moves_with_its_subtree(scenario: Scenario) -> None:
    queue_update(scenario=scenario, name="below", patch={"parent": "busy"}, expected_revision=1)
    assert parents(scenario)["below"] == "busy"
    assert parents(scenario)["lowest"] == "below"


def test_a_queue_cannot_move_below_itself(scenario: Scenario) -> None:
    payload = {"scenario": scenario, "name": "waits", "patch": {"parent": "lowest"}}
    assert broken_rules(queue_update, **payload) == ["queue.cycle"]


def test_renaming_a_queue_updates_its_children(scenario: Scenario) -> None:
    queue_update(scenario=scenario, name="waits", patch={"name": "team-a"}, expected_revision=1)
    assert parents(scenario)["below"] == "team-a"
    assert "waits" not in parents(scenario)


@pytest.mark.parametrize("name", ["root", "default"])
def test_queues_that_volcano_creates_cannot_be_renamed_or_removed(scenario: Scenario, name: str) -> None:
    payload = {"scenario": scenario, "name": name}
    assert broken_rules(queue_update, **payload, patch={"name": "other"}) == ["queue.name_fixed"]
    assert broken_rules(queue_remove, **payload, subtree=True) == ["queue.delete_protected"]


def test_a_duplicate_has_the_same_parent_and_fields_and_an_unused_name(scenario: Scenario) -> None:
    queue_duplicate(scenario=scenario, name="below", expected_revision=1)
    twin = queue_duplicate(scenario=scenario, name="below", expected_revision=2)
    assert twin.name == "below-copy-2"
    assert (twin.parent, twin.deserved) == ("waits", {"cpu": "2"})
    assert [name for name, parent in parents(scenario).items() if parent == "below-copy"] == []


def test_a_queue_is_removed_with_its_subtree_on_request(scenario: Scenario) -> None:
    assert broken_rules(queue_remove, scenario=scenario, name="waits", subtree=False) == [
        "queue.delete_has_children"
    ]
    left = queue_remove(scenario=scenario, name="waits", subtree=True, expected_revision=1)
    assert left == ["waits", "below", "lowest"]
    assert set(parents(scenario)) == {"busy", "root", "default"}
    assert {change.after for change in Change.objects.all()} == {None}
    assert Change.objects.filter(revision=2).count() == 3


SHAPING: dict[str, Callable[[Scenario], Any]] = {
    "add": lambda scenario: queue_create(scenario=scenario, spec={"name": "new"}, expected_revision=7),
    "duplicate": lambda scenario: queue_duplicate(scenario=scenario, name="busy", expected_revision=7),
    "remove": lambda scenario: queue_remove(
        scenario=scenario, name="busy", subtree=True, expected_revision=7
    ),
}


@pytest.mark.parametrize("change", SHAPING.values(), ids=SHAPING)
def test_a_stale_tree_edit_is_refused(scenario: Scenario, change: Shaping) -> None:
    before = Queue.objects.count()
    with pytest.raises(StaleRevision):
        change(scenario)
    assert Queue.objects.count() == before
