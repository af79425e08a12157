"""Undo, redo, revert, older revisions, branches and differences."""

import copy
import random
from typing import Any

import pytest

from planner.clusters.selectors.contents import content_of
from planner.errors import Invalid, RoleTooLow, StaleRevision
from planner.scenarios.models import Change, Scenario
from planner.scenarios.selectors.history import steps
from planner.scenarios.selectors.scenarios import (
    SNAPSHOT,
    START,
    differences_from,
    first_queues,
    state_at,
    state_of,
)
from planner.scenarios.services.branches import scenario_branch
from planner.scenarios.services.documents import Wanted, document_update
from planner.scenarios.services.history import change_revert, difference_revert, redo, undo
from planner.scenarios.services.objects import objects_write
from planner.scenarios.services.queues import queue_create, queue_duplicate, queue_remove, queue_update
from planner.scenarios.services.scenarios import conf_update
from planner.scenarios.services.workloads import workload_copy, workload_remove
from planning.contents import frozen_input
from planning.queues import queue_manifest, queue_spec
from planning.states import State
from tests import factories
from tests.trials import trials


@pytest.fixture
def scenario(db: None) -> Scenario:
    document = factories.cluster()
    document["queues"] += [factories.queue("root"), factories.queue("below", parent="waits")]
    return factories.scenario(document=document)


def frozen(scenario: Scenario, state: State | None = None) -> bytes:
    """Return the frozen input of a run in this state."""
    state = state or state_of(Scenario.objects.get(pk=scenario.pk))
    return frozen_input(content_of(scenario.snapshot).document, name=scenario.name, state=state)


def edit(scenario: Scenario, dice: random.Random) -> None:
    """Make a random edit."""
    names = sorted(scenario.queues.exclude(name="root").values_list("name", flat=True))
    seen = {"scenario": scenario, "expected_revision": scenario.revision}
    name = dice.choice(names) if names else ""
    objects = state_of(scenario).objects
    number = dice.randrange(1000)
    node = copy.deepcopy(objects.get(("nodes", "n0"))) or factories.node("n0")
    node["spec"] = {"unschedulable": True} if dice.random() < 0.7 else {}
    group = factories.podgroup(f"new-{number}", name or "busy")
    match dice.randrange(8):
        case 0:
            queue_create(spec={"name": f"q{number}", "parent": dice.choice([None, *names])}, **seen)
        case 1 if name:
            queue_update(name=name, patch={"weight": number + 1, "deserved": {"cpu": str(number)}}, **seen)
        case 2 if name:
            queue_update(name=name, patch={"name": f"r{number}", "priority": number}, **seen)
        case 3 if name:
            queue_remove(name=name, subtree=True, **seen)
        case 4 if name:
            queue_duplicate(name=name, **seen)
        case 5:
            conf_update(text=factories.CONF + f"# {number}\n", **seen)
        case 6:
            objects_write(wanted={("nodes", "n0"): node, ("nodes", "n1"): None}, **seen)
        case _:
            objects_write(wanted={("podgroups", f"default/new-{number}"): group}, **seen)


@pytest.mark.parametrize("seed", trials(range(6), always=3))
def test_every_revision_is_rebuilt_and_undoing_all_restores_the_snapshot(
    scenario: Scenario, seed: int
) -> None:
    dice = random.Random(seed)
    at = {1: frozen(scenario)}
    while scenario.revision < 26:
        try:
            edit(scenario, dice)
        except Invalid:
            continue
        at[scenario.revision] = frozen(scenario)
    assert scenario.copies.filter(revision=20).exists()
    for revision, was in at.items():
        assert frozen(scenario, state_at(scenario, revision)) == was
    last = scenario.revision
    while steps(scenario)["undo"]:
        undo(scenario=scenario, expected_revision=scenario.revision)
    assert frozen(scenario) == at[1]
    assert not scenario.object_changes.exists()
    assert differences_from(scenario, SNAPSHOT) == []
    while steps(scenario)["redo"]:
        redo(scenario=scenario, expected_revision=scenario.revision)
    assert frozen(scenario) == at[last]
    for change in Change.objects.filter(revision=scenario.revision):
        assert change.way == "redo"


def test_an_edit_after_an_undo_clears_the_redo_history(scenario: Scenario) -> None:
    queue_update(scenario=scenario, name="waits", patch={"weight": 2}, expected_revision=1)
    undo(scenario=scenario, expected_revision=2)
    assert steps(scenario) == {"undo": None, "redo": 3}
    queue_update(scenario=scenario, name="waits", patch={"weight": 5}, expected_revision=3)
    assert steps(scenario) == {"undo": 4, "redo": None}
    with pytest.raises(Invalid, match="nothing to redo"):
        redo(scenario=scenario, expected_revision=4)


def test_undo_requires_the_current_revision_and_the_editor_role(scenario: Scenario) -> None:
    queue_update(scenario=scenario, name="waits", patch={"weight": 2}, expected_revision=1)
    with pytest.raises(StaleRevision):
        undo(scenario=scenario, expected_revision=1)
    with pytest.raises(RoleTooLow):
        undo(scenario=scenario, expected_revision=2, user=factories.user("viewer", role="viewer"))


def test_workloads_follow_a_renamed_queue(scenario: Scenario) -> None:
    group = factories.podgroup("mine", "waits")
    wanted = {("podgroups", "default/mine"): group}
    objects_write(scenario=scenario, wanted=wanted, expected_revision=1)
    queue_update(scenario=scenario, name="waits", patch={"name": "team"}, expected_revision=2)
    groups = content_of(scenario.snapshot)
    assert groups.objects["podgroups"]["default/wait"]["spec"]["queue"] == "waits"
    text = frozen(scenario).decode()
    assert '"queue":"waits"' not in text
    assert text.count('"queue":"team"') == 2


@pytest.mark.parametrize("is_added", [True, False])
def test_workloads_follow_a_renamed_queue_that_has_taken_a_name_of_the_snapshot(
    scenario: Scenario, is_added: bool
) -> None:
    queue_remove(scenario=scenario, name="waits", subtree=True, expected_revision=1)
    if is_added:
        queue_create(scenario=scenario, spec={"name": "waits"}, expected_revision=2)
    else:
        queue_update(scenario=scenario, name="busy", patch={"name": "waits"}, expected_revision=2)
    queue_update(scenario=scenario, name="waits", patch={"name": "team"}, expected_revision=3)
    assert '"queue":"waits"' not in frozen(scenario).decode()
    assert state_at(scenario, 4).as_copy() == state_of(scenario).as_copy()
    assert scenario.object_changes.exists() is not is_added
    undo(scenario=scenario, expected_revision=4)
    assert not scenario.object_changes.exists()
    assert '"queue":"team"' not in frozen(scenario).decode()


def test_a_revision_is_rebuilt_after_a_workload_was_restored_and_its_queue_renamed(
    scenario: Scenario,
) -> None:
    wait = ("podgroups", "default/wait")
    imported = content_of(scenario.snapshot).objects[wait[0]][wait[1]]
    there = {**imported, "spec": {**imported["spec"], "minMember": 9}}
    objects_write(scenario=scenario, wanted={wait: there}, expected_revision=1)
    objects_write(scenario=scenario, wanted={wait: imported}, expected_revision=2)
    queue_update(scenario=scenario, name="waits", patch={"name": "team"}, expected_revision=3)
    assert state_at(scenario, 4).as_copy() == state_of(scenario).as_copy()
    branch = scenario_branch(scenario=scenario, name="as it was", revision=4)
    assert '"queue":"waits"' not in frozen(branch).decode()


def changed_fields(scenario: Scenario, base: str) -> list[tuple[str, str, str, Any, Any]]:
    return [
        (edit.kind, edit.key, edit.field, edit.before, edit.after)
        for edit in differences_from(scenario, base)
        if edit.field
    ]


def test_differences_of_a_renamed_queue_are_listed_by_field(scenario: Scenario) -> None:
    queue_update(scenario=scenario, name="waits", patch={"name": "team", "weight": 3}, expected_revision=1)
    assert changed_fields(scenario, SNAPSHOT) == [
        ("queues", "team", "name", "waits", "team"),
        ("queues", "team", "weight", 1, 3),
    ]


def test_a_queue_added_again_after_its_removal_differs_by_field(scenario: Scenario) -> None:
    queue_remove(scenario=scenario, name="waits", subtree=True, expected_revision=1)
    spec = {"name": "waits", "weight": 3, "reclaimable": True, "capability": {"cpu": "12"}, "state": "Open"}
    queue_create(scenario=scenario, spec=spec, expected_revision=2)
    assert [(edit.key, edit.field) for edit in differences_from(scenario, SNAPSHOT)] == [
        ("waits", "weight"),
        ("below", ""),
    ]
    weight = differences_from(scenario, SNAPSHOT)[0]
    difference_revert(scenario=scenario, difference=weight, base=SNAPSHOT, expected_revision=3)
    assert scenario.queues.get(name="waits").weight == 1


@pytest.mark.parametrize("is_document", [False, True])
def test_a_queue_added_again_as_it_was_gives_the_same_run(scenario: Scenario, is_document: bool) -> None:
    before = frozen(scenario)
    queue_remove(scenario=scenario, name="busy", subtree=True, expected_revision=1)
    seen = {"scenario": scenario, "expected_revision": 2}
    busy = next(row for row in first_queues(scenario.snapshot) if row.name == "busy")
    assert busy.created
    if is_document:
        document_update(wanted=Wanted(objects={"queues": [queue_manifest(busy)]}), **seen)
    else:
        queue_create(spec={name: value for name, value in queue_spec(busy).items() if value}, **seen)
    assert frozen(scenario) == before
    assert differences_from(scenario, SNAPSHOT) == []


def test_a_single_difference_is_reverted(scenario: Scenario) -> None:
    queue_update(
        scenario=scenario, name="waits", patch={"weight": 3, "capability": {"gpu": "1"}}, expected_revision=1
    )
    one = next(edit for edit in differences_from(scenario, SNAPSHOT) if edit.field == "capability")
    difference_revert(scenario=scenario, difference=one, base=SNAPSHOT, expected_revision=2)
    assert changed_fields(scenario, SNAPSHOT) == [("queues", "waits", "weight", 1, 3)]


def test_reverting_a_job_includes_its_pods(scenario: Scenario) -> None:
    before = frozen(scenario)
    workload_copy(scenario=scenario, kind="podgroups", key="default/wait", count=1, expected_revision=1)
    added = differences_from(scenario, SNAPSHOT)
    assert [edit.kind for edit in added] == ["podgroups", *["pods"] * 4]
    difference_revert(scenario=scenario, difference=added[0], base=SNAPSHOT, expected_revision=2)
    assert frozen(scenario) == before
    workload_remove(scenario=scenario, kind="podgroups", key="default/wait", expected_revision=3)
    gone = differences_from(scenario, SNAPSHOT)
    assert [edit.kind for edit in gone] == ["podgroups", *["pods"] * 4]
    difference_revert(scenario=scenario, difference=gone[0], base=SNAPSHOT, expected_revision=4)
    assert frozen(scenario) == before


def test_a_change_is_reverted_unless_it_was_changed_since(scenario: Scenario) -> None:
    queue_update(scenario=scenario, name="waits", patch={"weight": 3, "priority": 1}, expected_revision=1)
    queue_update(scenario=scenario, name="waits", patch={"priority": 2}, expected_revision=2)
    weight, priority = (Change.objects.get(revision=2, field=field) for field in ("weight", "priority"))
    change_revert(scenario=scenario, change=weight, expected_revision=3)
    assert scenario.queues.get(name="waits").weight == 1
    with pytest.raises(Invalid) as refused:
        change_revert(scenario=scenario, change=priority, expected_revision=4)
    assert [problem.rule for problem in refused.value.problems] == ["history.changed_since"]


def test_reverting_a_removal_restores_the_object(scenario: Scenario) -> None:
    before = frozen(scenario)
    queue_remove(scenario=scenario, name="below", subtree=True, expected_revision=1)
    change_revert(scenario=scenario, change=Change.objects.get(), expected_revision=2)
    assert frozen(scenario) == before
    node = {("nodes", "n1"): None}
    objects_write(scenario=scenario, wanted=node, expected_revision=3)
    change_revert(scenario=scenario, change=Change.objects.get(revision=4), expected_revision=4)
    assert frozen(scenario) == before


def test_a_queue_is_restored_beside_the_one_that_was_added_again_and_renamed(scenario: Scenario) -> None:
    queue_remove(scenario=scenario, name="waits", subtree=True, expected_revision=1)
    queue_create(scenario=scenario, spec={"name": "waits", "weight": 3}, expected_revision=2)
    queue_update(scenario=scenario, name="waits", patch={"name": "team"}, expected_revision=3)
    removal = scenario.changes.get(revision=2, key="waits")
    change_revert(scenario=scenario, change=removal, expected_revision=4)
    named = dict(scenario.queues.values_list("name", "imported_name"))
    assert (named["team"], named["waits"]) == ("waits", "")
    assert state_at(scenario, 5).as_copy() == state_of(scenario).as_copy()


def test_a_branch_starts_with_the_state_of_its_parent(scenario: Scenario) -> None:
    queue_update(scenario=scenario, name="waits", patch={"name": "team"}, expected_revision=1)
    objects_write(scenario=scenario, wanted={("nodes", "n1"): None}, expected_revision=2)
    branch = scenario_branch(scenario=scenario, name="what if", user=factories.user())
    assert frozen(branch) == frozen(scenario)
    assert (branch.parent, branch.parent_revision, branch.revision) == (scenario, 3, 1)
    assert differences_from(branch, START) == []
    assert [edit.key for edit in differences_from(branch, SNAPSHOT)] == ["team", "n1"]
    queue_update(scenario=branch, name="busy", patch={"weight": 9}, expected_revision=1)
    assert changed_fields(branch, START) == [("queues", "busy", "weight", 1, 9)]
    assert scenario.queues.get(name="busy").weight == 1


def test_every_unreadable_amount_of_an_object_is_reported(scenario: Scenario) -> None:
    broken = factories.node("n0")
    broken["status"]["allocatable"] = {"cpu": "many", "memory": "-"}
    with pytest.raises(Invalid) as refused:
        objects_write(scenario=scenario, wanted={("nodes", "n0"): broken}, expected_revision=1)
    assert [problem.path for problem in refused.value.problems] == [
        "nodes.n0.status.allocatable.cpu",
        "nodes.n0.status.allocatable.memory",
    ]
    assert not scenario.object_changes.exists()
