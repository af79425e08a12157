"""Editing one queue of a scenario."""

import pytest

from planner.errors import Invalid, StaleRevision
from planner.scenarios.models import Change, Scenario
from planner.scenarios.services.queues import queue_update
from planning.queues import queue_manifest, queue_row, queue_spec
from planning.rows import queue_rows
from tests import factories


@pytest.fixture
def scenario(db: None) -> Scenario:
    return factories.scenario()


def test_a_patch_changes_only_the_given_fields(scenario: Scenario) -> None:
    queue_update(
        scenario=scenario,
        name="waits",
        patch={"weight": 4, "capability": {"memory": "1Gi"}},
        expected_revision=1,
    )
    queue = scenario.queues.get(name="waits")
    assert (queue.weight, queue.capability) == (4, {"cpu": "12", "memory": "1Gi"})
    assert Scenario.objects.get(pk=scenario.pk).revision == scenario.revision == 2


def test_null_in_a_patch_removes_a_value(scenario: Scenario) -> None:
    queue_update(scenario=scenario, name="waits", patch={"capability": None}, expected_revision=1)
    assert scenario.queues.get(name="waits").capability == {}


def test_every_changed_field_is_recorded_in_the_history(scenario: Scenario) -> None:
    editor = factories.user()
    patch = {"weight": 4, "priority": 7, "reclaimable": True}
    queue_update(scenario=scenario, name="waits", patch=patch, expected_revision=1, user=editor)
    kept = Change.objects.values_list("revision", "key", "field", "before", "after", "user__username")
    assert set(kept) == {
        (2, "waits", "weight", 1, 4, "editor"),
        (2, "waits", "priority", None, 7, "editor"),
    }


def test_a_patch_without_effect_creates_no_revision(scenario: Scenario) -> None:
    queue_update(scenario=scenario, name="waits", patch={"weight": 1}, expected_revision=1)
    assert scenario.revision == 1
    assert not Change.objects.exists()


def test_a_stale_edit_is_refused_with_both_revisions(scenario: Scenario) -> None:
    queue_update(scenario=scenario, name="waits", patch={"weight": 4}, expected_revision=1)
    with pytest.raises(StaleRevision) as refused:
        queue_update(scenario=scenario, name="waits", patch={"weight": 5}, expected_revision=1)
    assert (refused.value.expected, refused.value.current) == (1, 2)
    assert scenario.queues.get(name="waits").weight == 4


BROKEN = {
    "a weight of zero": ({"weight": 0}, "queue.weight", "weight"),
    "a weight that is a string": ({"weight": "4"}, "form.type", "weight"),
    "an unreadable quantity": ({"capability": {"cpu": "8 cores"}}, "quantity.unreadable", "capability.cpu"),
    "a negative quantity": ({"deserved": {"cpu": "-1"}}, "quantity.negative", "deserved.cpu"),
    "a guarantee without `resource`": ({"guarantee": {"cpu": "1"}}, "queue.unknown_field", "guarantee.cpu"),
    "an unknown field": ({"wieght": 4}, "queue.unknown_field", "wieght"),
    "a list instead of an object": ({"capability": ["cpu"]}, "form.type", "capability"),
    "a missing parent": ({"parent": "gone"}, "queue.parent_missing", "parent"),
    "its own parent": ({"parent": "waits"}, "queue.cycle", "parent"),
}


@pytest.mark.parametrize(("patch", "rule", "path"), BROKEN.values(), ids=BROKEN.keys())
def test_an_invalid_edit_is_refused(scenario: Scenario, patch: dict, rule: str, path: str) -> None:
    with pytest.raises(Invalid) as refused:
        queue_update(scenario=scenario, name="waits", patch=patch, expected_revision=1)
    assert [(problem.rule, problem.path) for problem in refused.value.problems] == [
        (rule, f"queues.waits.{path}")
    ]
    scenario.refresh_from_db()
    assert scenario.revision == 1


def test_a_queue_object_survives_the_round_trip_through_a_row() -> None:
    manifest = {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "Queue",
        "metadata": {"name": "q", "uid": "1", "labels": {"team": "a"}, "annotations": {"x": "y"}},
        "spec": {
            "weight": 3,
            "parent": "root",
            "reclaimable": False,
            "priority": 5,
            "type": "t",
            "guarantee": {"resource": {"cpu": "1"}},
            "deserved": {"cpu": "2"},
            "capability": {"cpu": "3"},
            "dequeueStrategy": "fifo",
            "affinity": {"nodeGroupAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": ["g"]}},
            "extendClusters": [{"name": "c"}],
        },
        "status": {"state": "Open", "allocated": {"cpu": "1"}},
    }
    assert queue_manifest(queue_row(manifest)) == manifest


def test_a_spec_has_every_field_in_crd_spelling() -> None:
    spec = queue_spec(queue_row(factories.queue("q")))
    assert (spec["dequeueStrategy"], spec["guarantee"], spec["weight"]) == (None, {"resource": {}}, 1)


def test_queue_rows_list_parents_before_children(db: None, django_assert_num_queries) -> None:
    document = factories.cluster()
    document["queues"] = [
        factories.queue("b", parent="a"),
        factories.queue("a", parent="root"),
        factories.queue("root"),
        factories.queue("z"),
    ]
    scenario = factories.scenario(document=document)
    with django_assert_num_queries(1):
        rows = queue_rows(scenario.queues.all())
    assert [(row.name, row.depth, row.children) for row in rows] == [
        ("root", 0, 2),
        ("a", 1, 1),
        ("b", 2, 0),
        ("z", 1, 0),
    ]
