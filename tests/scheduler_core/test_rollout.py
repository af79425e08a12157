"""The webhook accepts every step from one tree of queues to another, and the last step reaches it."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from scheduler_core.admission_rules import QueueAdmission
from scheduler_core.rollout import Rollout, rollout
from tests.builders import queue
from tests.trials import examples

Object = dict[str, Any]
NAMES = ("a", "b", "c", "d", "e")
ALWAYS = [queue("root"), queue("default")]


def parts(draw: st.DrawFn) -> dict[str, Any]:
    """Return amounts in the order that a queue needs: guarantee, deserved, capability."""
    drawn: dict[str, dict[str, int]] = {"guarantee": {}, "deserved": {}, "capability": {}}
    for resource in ("cpu", "gpu"):
        low, middle, high = sorted(draw(st.tuples(*[st.integers(0, 6)] * 3)))
        how_many = draw(st.integers(0, 3))
        if how_many > 0:
            drawn["deserved"][resource] = middle
        if how_many > 1:
            drawn["guarantee"][resource] = low
        if draw(st.booleans()):
            drawn["capability"][resource] = high
    return drawn


@st.composite
def trees(draw: st.DrawFn) -> list[Object]:
    """Draw a tree that the webhook accepts."""
    present: dict[str, Object] = {entry["metadata"]["name"]: entry for entry in ALWAYS}
    for name in draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=5)):
        parent = draw(st.sampled_from(["root", *(present.keys() - {"root", "default"})]))
        new = queue(name, parent=parent, weight=draw(st.integers(1, 3)), **parts(draw))
        if not QueueAdmission(present.values()).on_create(new):
            present[name] = new
    assume(not QueueAdmission(present.values()).of_all())
    return list(present.values())


@st.composite
def edited(draw: st.DrawFn) -> tuple[list[Object], list[Object]]:
    """Draw a deep tree, and the same tree after renames, moves, removals and changed amounts and states."""
    before = draw(deep_trees())
    queues = {entry["metadata"]["name"]: copy.deepcopy(entry) for entry in before}
    for _ in range(draw(st.integers(1, 5))):
        own = sorted(queues.keys() - {"root", "default"})
        if not own:
            break
        name = draw(st.sampled_from(own))
        tried = copy.deepcopy(queues)
        match draw(st.sampled_from(["rename", "move", "remove", "amounts", "state"])):
            case "rename":
                renamed(tried, name, f"{name}x")
            case "move":
                tried[name]["spec"]["parent"] = draw(st.sampled_from(["root", *own]))
            case "remove":
                for gone in (name, *below(tried, name)):
                    del tried[gone]
            case "amounts":
                given_parts = {part: amounts for part, amounts in parts(draw).items() if amounts}
                tried[name] = queue(name, parent=tried[name]["spec"]["parent"], **given_parts)
            case _:
                tried[name]["status"] = {"state": draw(st.sampled_from(["Open", "Closed"]))}
        if name not in below(tried, name) and not QueueAdmission(tried.values()).of_all():
            queues = tried
    return before, list(queues.values())


@st.composite
def deep_trees(draw: st.DrawFn) -> list[Object]:
    """Draw a valid, mostly deep tree; no level deserves more than the level above."""
    present: dict[str, Object] = {entry["metadata"]["name"]: entry for entry in ALWAYS}
    above = "root"
    for name in ("a", "b", "c", "d", "e", "f", "g"):
        parent = above if draw(st.integers(0, 3)) else "root"
        new = queue(name, parent=parent, deserved={"cpu": draw(st.integers(0, 8))})
        if not QueueAdmission(present.values()).on_create(new):
            present[name] = new
            above = name
    assume(not QueueAdmission(present.values()).of_all())
    return list(present.values())


def below(queues: dict[str, Object], name: str) -> list[str]:
    found = [name]
    for above in found:
        found += [
            child
            for child, entry in queues.items()
            if entry["spec"].get("parent") == above and (child not in found or child == name)
        ]
        if len(found) > len(queues):
            break
    return found[1:]


def renamed(queues: dict[str, Object], name: str, new_name: str) -> None:
    moved = queues.pop(name)
    moved["metadata"] = {**moved["metadata"], "name": new_name}
    queues[new_name] = moved
    for entry in queues.values():
        if entry["spec"].get("parent") == name:
            entry["spec"]["parent"] = new_name


def spec_of(queues: list[Object]) -> dict[str, Any]:
    """Return the queues as in their manifests; a missing part equals an empty one."""
    return {
        entry["metadata"]["name"]: {
            key: value for key, value in entry["spec"].items() if value not in ({}, None)
        }
        for entry in queues
    }


def replayed(before: list[Object], way: Rollout) -> list[Object]:
    """Apply the steps, check each one against the webhook's rules, and return the final tree."""
    cluster = {entry["metadata"]["name"]: entry for entry in before}
    for step in (*way.steps, *way.deletions):
        webhook = QueueAdmission(cluster.values())
        if step.verb == "delete":
            assert webhook.on_delete(step.name) == []
            del cluster[step.name]
            continue
        there = cluster.get(step.name)
        assert (there is None) == (step.verb == "create")
        assert "status" not in step.queue
        new = {**step.queue, **({"status": there["status"]} if there and "status" in there else {})}
        assert (webhook.on_create(new) if there is None else webhook.on_update(there, new)) == []
        cluster[step.name] = new
    return list(cluster.values())


@examples(always=60, many=150)
@given(trees(), trees())
def test_rollout_between_two_trees_is_accepted_and_reaches_the_target(
    before: list[Object], after: list[Object]
) -> None:
    way = rollout(before, after)
    assert way.impossible == []
    assert spec_of(replayed(before, way)) == spec_of(after)


@examples(always=80, many=200)
@given(edited())
def test_rollout_of_renames_moves_removals_and_states_is_accepted(
    pair: tuple[list[Object], list[Object]],
) -> None:
    before, after = pair
    way = rollout(before, after)
    assert way.impossible == []
    arrived = replayed(before, way)
    assert spec_of(arrived) == spec_of(after)
    for entry in arrived:
        name = entry["metadata"]["name"]
        wanted = next(one for one in after if one["metadata"]["name"] == name)
        assert way.states.get(name, state_of(entry)) == state_of(wanted), name


def state_of(entry: Object) -> str:
    return (entry.get("status") or {}).get("state") or "Open"


def test_rollout_to_the_same_tree_has_no_steps() -> None:
    tree = [*ALWAYS, queue("a", deserved={"cpu": 4})]
    assert rollout(tree, tree) == Rollout([], [], {}, [])


def test_parents_grow_before_their_children_and_shrink_after_them() -> None:
    small = [*ALWAYS, queue("p", deserved={"cpu": 4}), queue("c", parent="p", deserved={"cpu": 4})]
    large = [*ALWAYS, queue("p", deserved={"cpu": 8}), queue("c", parent="p", deserved={"cpu": 8})]
    assert [step.name for step in rollout(small, large).steps] == ["p", "c"]
    assert [step.name for step in rollout(large, small).steps] == ["c", "p"]


def test_parent_that_exchanges_resources_takes_an_intermediate_step() -> None:
    before = [
        *ALWAYS,
        queue("p", deserved={"cpu": 8, "gpu": 2}),
        queue("c", parent="p", deserved={"cpu": 8, "gpu": 2}),
    ]
    after = [
        *ALWAYS,
        queue("p", deserved={"cpu": 4, "gpu": 4}),
        queue("c", parent="p", deserved={"cpu": 4, "gpu": 4}),
    ]
    way = rollout(before, after)
    assert [(step.name, step.halfway) for step in way.steps] == [("p", True), ("c", False), ("p", False)]
    assert spec_of(replayed(before, way)) == spec_of(after)


def test_inner_queue_is_renamed_even_without_spare_deserved_in_its_parent() -> None:
    four = {"deserved": {"cpu": 4}}
    ends = [*ALWAYS, queue("top", **four)]
    before = [*ends, queue("old", parent="top", **four), queue("leaf", parent="old", **four)]
    after = [*ends, queue("new", parent="top", **four), queue("leaf", parent="new", **four)]
    way = rollout(before, after)
    assert way.impossible == []
    assert spec_of(replayed(before, way)) == spec_of(after)


def test_an_invalid_parent_is_reported_once_and_not_for_each_changed_child() -> None:
    parts = ("a", "b", "c")
    before = [*ALWAYS, queue("top", deserved={"cpu": 4}, capability={"cpu": 8})]
    before += [queue(name, parent="top", deserved={"cpu": 1}) for name in parts]
    for deserved, said in (
        (10, ("top", "queue.deserved_above_capability")),
        (5, ("b", "queue.children_deserved")),
    ):
        after = [*ALWAYS, queue("top", deserved={"cpu": deserved}, capability={"cpu": 8})]
        after += [queue(name, parent="top", deserved={"cpu": 3}) for name in parts]
        found = [(problem.queue, problem.rule) for problem in rollout(before, after).impossible]
        assert found == [said]


def test_a_child_with_a_problem_of_its_own_is_reported_beside_its_parent() -> None:
    before = [*ALWAYS, queue("top", deserved={"cpu": 4}, capability={"cpu": 8}), queue("a", parent="top")]
    after = [*ALWAYS, queue("top", deserved={"cpu": 10}, capability={"cpu": 8})]
    after += [queue("a", parent="top", deserved={"cpu": -1})]
    found = [(problem.queue, problem.rule) for problem in rollout(before, after).impossible]
    assert found == [("top", "queue.deserved_above_capability"), ("a", "queue.negative")]


def test_closing_queue_cannot_be_changed() -> None:
    before = [*ALWAYS, queue("a", state="Closing")]
    way = rollout(before, [*ALWAYS, queue("a", weight=2, state="Closing")])
    assert way.steps == []
    assert [problem.rule for problem in way.impossible] == ["queue.state"]


def test_protected_root_keeps_its_amounts_and_accepts_other_fields() -> None:
    before = [queue("root", capability={"cpu": 8}), queue("default")]
    way = rollout(before, [queue("root", capability={"cpu": 16}, weight=3), queue("default")])
    assert [problem.rule for problem in way.impossible] == ["queue.root_protected"]
    assert [(step.name, step.queue["spec"]["weight"]) for step in way.steps] == [("root", 3)]
    assert way.steps[0].queue["spec"]["capability"] == {"cpu": "8"}


def test_deletions_come_last_with_children_first_and_skip_protected_queues() -> None:
    before = [*ALWAYS, queue("p"), queue("c", parent="p")]
    way = rollout(before, [queue("root")])
    assert [step.name for step in way.deletions] == ["c", "p"]
    assert [problem.rule for problem in way.impossible] == ["queue.delete_protected"]


def test_opening_and_closing_a_queue_is_a_state_command() -> None:
    way = rollout([*ALWAYS, queue("a")], [*ALWAYS, queue("a", state="Closed")])
    assert (way.steps, way.states) == ([], {"a": "Closed"})


def test_root_that_the_snapshot_lacks_is_there_and_protected() -> None:
    way = rollout([], [queue("root", capability={"cpu": 8}, reclaimable=False)])
    assert way.steps == []
    assert [problem.rule for problem in way.impossible] == ["queue.root_protected"]


def test_default_queue_that_the_snapshot_lacks_is_updated() -> None:
    way = rollout([], [queue("default", weight=3)])
    assert [(step.verb, step.name) for step in way.steps] == [("update", "default")]
    assert rollout([], []) == Rollout([], [], {}, [])


def test_root_is_not_closed() -> None:
    way = rollout(ALWAYS, [queue("root", state="Closed"), queue("default", state="Closed")])
    assert way.states == {"default": "Closed"}
    assert [problem.rule for problem in way.impossible] == ["queue.root_closed"]


def test_queue_that_cannot_be_created_is_not_closed() -> None:
    refused = queue("a", state="Closed", guarantee={"cpu": 2}, deserved={"cpu": 1})
    way = rollout(ALWAYS, [*ALWAYS, refused])
    assert (way.steps, way.states) == ([], {})
    assert [problem.rule for problem in way.impossible] == ["queue.deserved_below_guarantee"]


def test_step_names_the_fields_that_it_removes() -> None:
    before = queue("a", capability={"cpu": 4, "gpu": 1}, deserved={"cpu": 2}, annotations={"x.io/y": "z"})
    after = queue("a", weight=2, capability={"gpu": 2}, parent="root")
    (step,) = rollout([*ALWAYS, before], [*ALWAYS, after]).steps
    assert set(step.removes) == {
        "spec.deserved",
        "spec.capability.cpu",
        'metadata.annotations["x.io/y"]',
    }


def test_new_hierarchy_path_is_prefixed_with_root_before_comparison() -> None:
    def below(name: str, path: str, weights: str) -> Object:
        annotations = {"volcano.sh/hierarchy": path, "volcano.sh/hierarchy-weights": weights}
        return queue(name, annotations=annotations)

    inner, dev = below("a", "sci", "2"), below("b", "root/sci/dev", "1/2/3")
    found = rollout([*ALWAYS, dev], [*ALWAYS, dev, inner])
    assert [problem.rule for problem in found.impossible] == ["queue.path_inner"]
    made = rollout(ALWAYS, [*ALWAYS, inner])
    assert [step.queue["metadata"]["annotations"] for step in made.steps] == [
        {"volcano.sh/hierarchy": "root/sci", "volcano.sh/hierarchy-weights": "1/2"}
    ]
