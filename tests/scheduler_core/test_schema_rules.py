"""Fields and values of a Queue or a PodGroup that the CRDs reject."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.lint import REFUSED, review
from scheduler_core.queue_edits import queue_problems
from scheduler_core.schema_rules import PODGROUP_SPEC, QUEUE_SPEC
from tests.builders import queue

CONF = {"actions": "allocate", "tiers": [{"plugins": [{"name": "gang"}]}]}


def found(**lists: Any) -> dict[str, str]:
    document = {"nodes": [], "pods": [], "podgroups": [], "queues": [], "scheduler_conf": CONF, **lists}
    return {one.path: one.rule for one in review(document) if one.severity == "error"}


def written(**spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "a"}, "spec": spec}


@pytest.mark.parametrize(
    ("spec", "rule", "path"),
    [
        ({"wieght": 4}, "queue.unknown_field", "queues[0].spec.wieght"),
        ({"guarantee": {"cpu": "1"}}, "queue.unknown_field", "queues[0].spec.guarantee.cpu"),
        ({"weight": 0}, "queue.weight", "queues[0].spec.weight"),
        ({"weight": 70_000}, "queue.weight", "queues[0].spec.weight"),
        ({"priority": 1.5}, "form.type", "queues[0].spec.priority"),
    ],
)
def test_field_that_the_crd_rejects_is_an_error(spec: dict[str, Any], rule: str, path: str) -> None:
    assert found(queues=[written(**spec)]) == {path: rule}


def test_misspelt_queue_field_suggests_the_correct_name() -> None:
    (one,) = [one for one in review({"queues": [written(wieght=4)]}) if one.rule == "queue.unknown_field"]
    assert one.fix == "write 'weight'"
    assert one.queue == "a"


def test_misspelt_podgroup_field_is_an_error() -> None:
    group = {"metadata": {"name": "g", "namespace": "ml"}, "spec": {"minMembr": 2, "queue": "default"}}
    assert found(podgroups=[group]) == {"podgroups[0].spec.minMembr": "podgroup.unknown_field"}


@pytest.mark.parametrize(("letters", "is_taken"), [(262_143, True), (262_144, False)])
def test_annotations_are_limited_to_the_api_servers_size(letters: int, is_taken: bool) -> None:
    annotations = {"a": "x" * letters}
    thing = {"metadata": {"name": "a", "annotations": annotations}, "spec": {}}
    rules = {} if is_taken else {"queues[0].metadata.annotations": "queue.annotations"}
    assert found(queues=[thing]) == rules
    edit = queue_problems("a", {"name": "a", "annotations": annotations}, {"a": ""})
    assert [(one.rule, one.path) for one in edit] == (
        [] if is_taken else [("queue.annotations", "queues.a.annotations")]
    )


def test_existing_objects_that_break_schema_rules_may_be_imported() -> None:
    rules = {"queue.unknown_field", "queue.weight", "queue.priority", "podgroup.unknown_field"}
    assert rules <= REFUSED


@given(st.sampled_from(QUEUE_SPEC), st.sampled_from("abcxyz"))
def test_queue_field_with_an_extra_letter_is_unknown(field: str, letter: str) -> None:
    assert found(queues=[written(**{field + letter: "1"})]) == {
        f"queues[0].spec.{field}{letter}": "queue.unknown_field"
    }


def test_crd_fields_are_known() -> None:
    assert len(set(QUEUE_SPEC)) == 11
    assert "minMember" in PODGROUP_SPEC
    assert found(queues=[queue("a", weight=65535, capability={"cpu": "1"}, guarantee={})]) == {}


@pytest.mark.parametrize(
    ("fields", "rules"),
    [
        ({"name": "a", "weight": 2}, []),
        ({"name": "a", "deserved": {"cpu": "-1"}}, ["quantity.negative"]),
        ({"name": "a", "state": "Shut"}, ["word.unknown"]),
        ({"name": "a", "parent": "b"}, ["queue.cycle"]),
        ({"name": "a", "parent": "gone", "weight": "4"}, ["form.type", "queue.parent_missing"]),
        ({"name": "b"}, ["name.taken"]),
        ({"name": "A"}, ["name.illegal"]),
        ({"name": ""}, ["form.missing"]),
        ({"name": ["a"], "parent": "gone"}, ["form.type", "queue.parent_missing"]),
    ],
)
def test_edit_is_refused_with_all_its_problems(fields: dict[str, Any], rules: list[str]) -> None:
    actual = queue_problems("a", fields, {"root": "", "a": "", "b": "a"})
    assert [one.rule for one in actual] == rules
    assert all(one.path.startswith("queues.a.") and one.fix for one in actual)
