"""The webhook's rules for queues, one at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.admission_rules import QueueAdmission, WebhookOptions
from tests.builders import queue

GPU = "nvidia.com/gpu"
PATH, WEIGHTS = "volcano.sh/hierarchy", "volcano.sh/hierarchy-weights"


def path(text: str, weights: str) -> dict[str, str]:
    return {PATH: text, WEIGHTS: weights}


def holding(entry: dict[str, Any], pods: int) -> dict[str, Any]:
    return {**entry, "status": {**entry["status"], "allocated": {"pods": str(pods)}}}


PARENT = queue("p", guarantee={"cpu": 4, "gpu": 2}, deserved={"cpu": 8, "gpu": 4}, capability={"cpu": 10})


class Case(NamedTuple):
    """A queue to create, the existing queues, and the rules that it breaks by field."""

    queue: dict[str, Any]
    want: Mapping[str, str] = {}
    beside: tuple[dict[str, Any], ...] = ()


CREATE = {
    "an ordinary queue": Case(queue("a")),
    "guarantee, deserved and capability in order": Case(
        queue("a", guarantee={"cpu": 1}, deserved={"cpu": 2}, capability={"cpu": 3})
    ),
    "all three equal": Case(queue("a", guarantee={"cpu": 1}, deserved={"cpu": 1}, capability={"cpu": 1})),
    "a negative amount": Case(queue("a", capability={"cpu": -1}), {"queue.negative": "spec.capability.cpu"}),
    "a negative guarantee": Case(
        queue("a", guarantee={"cpu": -1}, deserved={"cpu": 1}),
        {"queue.negative": "spec.guarantee.resource.cpu"},
    ),
    "negative deserved": Case(queue("a", deserved={"cpu": -1}), {"queue.negative": "spec.deserved.cpu"}),
    "half a service": Case(
        queue("a", capability={"services": "500m"}), {"queue.fraction": "spec.capability.services"}
    ),
    "half a device that is guaranteed": Case(
        queue("a", guarantee={"gpu": "500m"}, deserved={"gpu": 1}),
        {"queue.fraction": f'spec.guarantee.resource["{GPU}"]'},
    ),
    "half a pod": Case(queue("a", deserved={"pods": "1500m"}), {"queue.fraction": "spec.deserved.pods"}),
    "half a device": Case(
        queue("a", capability={"gpu": "500m"}), {"queue.fraction": f'spec.capability["{GPU}"]'}
    ),
    "half a core": Case(queue("a", capability={"cpu": "500m"})),
    "half a huge page byte": Case(queue("a", capability={"hugepages-2Mi": "500m"})),
    "a guarantee without deserved": Case(
        queue("a", guarantee={"cpu": 1}), {"queue.guarantee_without_deserved": "spec.deserved.cpu"}
    ),
    "a guarantee of nothing without deserved": Case(
        queue("a", guarantee={"cpu": 0}), {"queue.guarantee_without_deserved": "spec.deserved.cpu"}
    ),
    "a guarantee above deserved": Case(
        queue("a", guarantee={"cpu": 3}, deserved={"cpu": 2}),
        {"queue.deserved_below_guarantee": "spec.deserved.cpu"},
    ),
    "deserved above capability": Case(
        queue("a", deserved={"cpu": 3}, capability={"cpu": 2}),
        {"queue.deserved_above_capability": "spec.deserved.cpu"},
    ),
    "deserved of what capability does not name": Case(queue("a", deserved={"gpu": 3}, capability={"cpu": 2})),
    "a state that only the controller writes": Case(
        queue("a", state="Closing"), {"queue.state": "status.state"}
    ),
    "a state that nobody knows": Case(queue("a", state="Unknown"), {"queue.state": "status.state"}),
    "a closed queue": Case(queue("a", state="Closed")),
    "a queue without a state": Case(queue("a", state="")),
    "as many weights as parts": Case(queue("a", annotations=path("root/a", "1/2"))),
    "too few weights": Case(
        queue("a", annotations=path("root/a", "1")),
        {"queue.path_length": f'metadata.annotations["{WEIGHTS}"]'},
    ),
    "weights without a path": Case(
        queue("a", annotations={WEIGHTS: "1/2"}), {"queue.path_length": f'metadata.annotations["{WEIGHTS}"]'}
    ),
    "a path without weights": Case(
        queue("a", annotations={PATH: "root/a"}),
        {"queue.path_length": f'metadata.annotations["{WEIGHTS}"]'},
    ),
    "a path of one part without weights": Case(
        queue("a", annotations={PATH: "root"}), {"queue.path_weight": f'metadata.annotations["{WEIGHTS}"]'}
    ),
    "a weight below 0": Case(
        queue("a", annotations=path("root/a", "1/-1")),
        {"queue.path_weight": f'metadata.annotations["{WEIGHTS}"]'},
    ),
    "a weight that is no number": Case(
        queue("a", annotations=path("root/a", "1/x")),
        {"queue.path_weight": f'metadata.annotations["{WEIGHTS}"]'},
    ),
    "a weight of 0": Case(
        queue("a", annotations=path("root/a", "1/0")),
        {"queue.path_weight": f'metadata.annotations["{WEIGHTS}"]'},
    ),
    "a weight too large for Go": Case(
        queue("a", annotations=path("root/a", "1/1e999")),
        {"queue.path_weight": f'metadata.annotations["{WEIGHTS}"]'},
    ),
    "a weight that is not a number at all passes": Case(queue("a", annotations=path("root/a", "1/NaN"))),
    "a path that leads on to another": Case(
        queue("a", annotations=path("root/sci", "1/2")),
        {"queue.path_inner": f'metadata.annotations["{PATH}"]'},
        (queue("b", annotations=path("root/sci/dev", "1/2/3")),),
    ),
    "a path that leads on to another once root is put before it": Case(
        queue("a", annotations=path("sci", "2")),
        {"queue.path_inner": f'metadata.annotations["{PATH}"]'},
        (queue("b", annotations=path("root/sci/dev", "1/2/3")),),
    ),
    "a path that begins with the letters of root gets no root": Case(
        queue("a", annotations=path("rootish", "2")),
        {},
        (queue("b", annotations=path("root/rootish/dev", "1/2/3")),),
    ),
    "the path of another queue passes": Case(
        queue("a", annotations=path("root/sci", "1/2")),
        {},
        (queue("b", annotations=path("root/sci", "1/2")),),
    ),
    "a path that begins like another": Case(
        queue("a", annotations=path("root/sci", "1/2")),
        {},
        (queue("b", annotations=path("root/science", "1/2")),),
    ),
    "a path below another's end passes": Case(
        queue("a", annotations=path("root/sci/dev", "1/2/3")),
        {},
        (queue("b", annotations=path("root/sci", "1/2")),),
    ),
    "its own parent": Case(queue("a", parent="a"), {"queue.own_parent": "spec.parent"}),
    "a parent that is not there": Case(queue("a", parent="gone"), {"queue.parent_missing": "spec.parent"}),
    "an ancestor that is not there": Case(
        queue("a", parent="p"), {"queue.parent_missing": "spec.parent"}, (queue("p", parent="gone"),)
    ),
    "root as the parent": Case(queue("a", parent="root")),
    "a parent with pods and no child": Case(
        queue("a", parent="p"), {"queue.parent_has_pods": "spec.parent"}, (holding(queue("p"), 3),)
    ),
    "a parent with pods and a child": Case(
        queue("a", parent="p"), {}, (holding(queue("p"), 3), queue("b", parent="p"))
    ),
    "capability above the parent's": Case(
        queue("a", parent="p", capability={"cpu": 11}),
        {"queue.capability_above_ancestor": "spec.capability.cpu"},
        (PARENT,),
    ),
    "capability above that of the nearest ancestor that has one": Case(
        queue("a", parent="m", capability={"cpu": 11}),
        {"queue.capability_above_ancestor": "spec.capability.cpu"},
        (PARENT, queue("m", parent="p")),
    ),
    "capability of what no ancestor limits": Case(
        queue("a", parent="p", capability={"memory": "1Ti"}), {}, (PARENT,)
    ),
    "capability above root's": Case(
        queue("a", capability={"cpu": 11}), {}, (queue("root", capability={"cpu": 1}),)
    ),
    "capability above a parent's of 0, which limits nothing": Case(
        queue("a", parent="p", capability={"cpu": 3}), {}, (queue("p", capability={"cpu": 0}),)
    ),
    "capabilities above the parent's together": Case(
        queue("a", parent="p", capability={"cpu": 6}),
        {},
        (PARENT, queue("b", parent="p", capability={"cpu": 6})),
    ),
    "guarantee and deserved above root's": Case(
        queue("a", parent="root", guarantee={"cpu": 2}, deserved={"cpu": 2}),
        {},
        (queue("root", guarantee={"cpu": 1}, deserved={"cpu": 1}),),
    ),
    "a guarantee within the parent's": Case(
        queue("a", parent="p", guarantee={"cpu": 2}, deserved={"cpu": 2}),
        {},
        (PARENT, queue("b", parent="p", guarantee={"cpu": 2}, deserved={"cpu": 2})),
    ),
    "guarantees above the parent's together": Case(
        queue("a", parent="p", guarantee={"cpu": 3}, deserved={"cpu": 3}),
        {"queue.children_guarantee": "spec.guarantee.resource.cpu"},
        (PARENT, queue("b", parent="p", guarantee={"cpu": 2}, deserved={"cpu": 2})),
    ),
    "deserved above the parent's together": Case(
        queue("a", parent="p", deserved={"cpu": 7}),
        {"queue.children_deserved": "spec.deserved.cpu"},
        (PARENT, queue("b", parent="p", deserved={"cpu": 2})),
    ),
    "deserved below a parent that has none": Case(
        queue("a", parent="p", deserved={"cpu": 1}),
        {"queue.children_deserved": "spec.deserved.cpu"},
        (queue("p"),),
    ),
    "a guarantee below a parent that has none": Case(
        queue("a", parent="p", guarantee={"cpu": 1}, deserved={"cpu": 1}),
        {"queue.children_guarantee": "spec.guarantee.resource.cpu"},
        (queue("p", deserved={"cpu": 1}),),
    ),
    "nothing of what the parent has nothing of": Case(
        queue("a", parent="p", deserved={"gpu": 0}), {}, (queue("p", deserved={"gpu": 0}),)
    ),
    "nothing of what the parent does not name": Case(
        queue("a", parent="p", deserved={"gpu": 0}),
        {"queue.children_deserved": f'spec.deserved["{GPU}"]'},
        (queue("p"),),
    ),
    "children that were there before": Case(
        queue("a", capability={"cpu": 1}),
        {"queue.capability_below_descendant": "spec.capability.cpu"},
        (queue("b", parent="a", capability={"cpu": 2}),),
    ),
    "a grandchild behind a child without a limit": Case(
        queue("a", capability={"cpu": 1}),
        {"queue.capability_below_descendant": "spec.capability.cpu"},
        (queue("b", parent="a"), queue("c", parent="b", capability={"cpu": 2})),
    ),
    "a child's limit hides those below it": Case(
        queue("a", capability={"cpu": 1}),
        {},
        (queue("b", parent="a", capability={"cpu": 1}), queue("c", parent="b", capability={"cpu": 2})),
    ),
    "a capability of 0 is not held against the children's": Case(
        queue("a", capability={"cpu": 0}), {}, (queue("b", parent="a", capability={"cpu": 2}),)
    ),
    "children that are guaranteed more": Case(
        queue("a", guarantee={"cpu": 1}, deserved={"cpu": 5}),
        {"queue.children_guarantee": "spec.guarantee.resource.cpu"},
        (queue("b", parent="a", guarantee={"cpu": 2}, deserved={"cpu": 2}),),
    ),
    "children that deserve more": Case(
        queue("a", deserved={"cpu": 1}),
        {"queue.children_deserved": "spec.deserved.cpu"},
        (queue("b", parent="a", deserved={"cpu": 2}),),
    ),
    "everything at once": Case(
        queue(
            "a",
            parent="gone",
            guarantee={"cpu": 3},
            deserved={"cpu": 2},
            capability={"cpu": 1},
            state="Closing",
        ),
        {
            "queue.deserved_below_guarantee": "spec.deserved.cpu",
            "queue.deserved_above_capability": "spec.deserved.cpu",
            "queue.state": "status.state",
            "queue.parent_missing": "spec.parent",
        },
    ),
}


@pytest.mark.parametrize("case", CREATE.values(), ids=CREATE.keys())
def test_on_create_reports_broken_rules_with_their_fields(case: Case) -> None:
    found = QueueAdmission(case.beside).on_create(case.queue)
    assert {problem.rule: problem.field for problem in found} == case.want
    assert all(problem.severity == "error" and problem.queue == "a" and problem.message for problem in found)


def chain(length: int) -> list[dict[str, Any]]:
    """Return a chain of nested queues; the first is a child of root."""
    return [
        queue(f"q{level}", parent=f"q{level - 1}" if level > 1 else "root") for level in range(1, length + 1)
    ]


DEPTHS = {
    "the fifth level": (4, 5, True),
    "the sixth level": (5, 5, False),
    "a level of its own": (1, 1, False),
}


@pytest.mark.parametrize(("above", "limit", "taken"), DEPTHS.values(), ids=DEPTHS.keys())
def test_queue_depth_is_limited(above: int, limit: int, taken: bool) -> None:
    found = QueueAdmission(chain(above), WebhookOptions(max_depth=limit)).on_create(
        queue("a", parent=f"q{above}")
    )
    assert [problem.rule for problem in found] == ([] if taken else ["queue.depth"])
    assert [(problem.actual, problem.limit) for problem in found] == ([] if taken else [(limit + 1, limit)])


class Change(NamedTuple):
    """A queue before and after a change, and the rules that the change breaks."""

    before: dict[str, Any]
    after: dict[str, Any]
    want: list[str] = []
    beside: tuple[dict[str, Any], ...] = ()


LOADED = (holding(queue("p"), 3),)
BELOW_NOTHING = queue("a", parent="gone", weight=1)

UPDATE = {
    "a weight": Change(queue("a"), queue("a", weight=2)),
    "of a queue that is closing": Change(
        queue("a", state="Closing"), queue("a", state="Closing", weight=2), ["queue.state"]
    ),
    "to a parent with pods": Change(queue("a"), queue("a", parent="p"), ["queue.parent_has_pods"], LOADED),
    "below a parent with pods, not of the parent": Change(
        queue("a", parent="p"), queue("a", parent="p", weight=2), [], LOADED
    ),
    "a weight below a parent that is gone": Change(
        BELOW_NOTHING, {**BELOW_NOTHING, "spec": {"weight": 2, "parent": "gone"}}
    ),
    "an amount below a parent that is gone": Change(
        BELOW_NOTHING, queue("a", parent="gone", capability={"cpu": 1}), ["queue.parent_missing"]
    ),
    "an amount below its child's": Change(
        queue("a", capability={"cpu": 3}),
        queue("a", capability={"cpu": 1}),
        ["queue.capability_below_descendant"],
        (queue("b", parent="a", capability={"cpu": 2}),),
    ),
    "a weight beside a child that is too large already": Change(
        queue("a", capability={"cpu": 1}),
        queue("a", capability={"cpu": 1}, weight=2),
        [],
        (queue("b", parent="a", capability={"cpu": 2}),),
    ),
    "the same amount written in another way": Change(
        queue("a", capability={"cpu": 1}),
        queue("a", capability={"cpu": "1000m"}),
        [],
        (queue("b", parent="a", capability={"cpu": 2}),),
    ),
    "the amounts of root": Change(
        queue("root"), queue("root", capability={"cpu": 1}), ["queue.root_protected"]
    ),
    "what root deserves": Change(queue("root"), queue("root", deserved={"cpu": 1}), ["queue.root_protected"]),
    "the guarantee of root": Change(
        queue("root", deserved={"cpu": 1}),
        queue("root", deserved={"cpu": 1}, guarantee={"cpu": 1}),
        ["queue.root_protected"],
    ),
    "a path is left as it is written": Change(
        queue("a"),
        queue("a", annotations=path("sci", "2")),
        [],
        (queue("b", annotations=path("root/sci/dev", "1/2/3")),),
    ),
    "of a queue in a state that nobody knows": Change(
        queue("a", state="Unknown"), queue("a", state="Unknown", weight=2), ["queue.state"]
    ),
    "back to open": Change(queue("a", state="Closed"), queue("a")),
    "the weight of root": Change(queue("root"), queue("root", weight=2)),
    "to a parent that lies below it": Change(
        queue("a", parent="root"), queue("a", parent="b"), [], (queue("b", parent="a"),)
    ),
}


@pytest.mark.parametrize("case", UPDATE.values(), ids=UPDATE.keys())
def test_on_update_reports_broken_rules(case: Change) -> None:
    found = QueueAdmission([case.before, *case.beside]).on_update(case.before, case.after)
    assert [problem.rule for problem in found] == case.want


def test_root_may_be_changed_if_unprotected() -> None:
    admission = QueueAdmission([queue("root")], WebhookOptions(protects_root=False))
    assert admission.on_update(queue("root"), queue("root", capability={"cpu": 1})) == []


DELETE = {
    "a queue with pods": ("p", WebhookOptions(), []),
    "a queue with pods where that is checked": (
        "p",
        WebhookOptions(checks_pods_on_delete=True),
        ["queue.delete_has_pods"],
    ),
    "a queue with children": ("q1", WebhookOptions(), ["queue.delete_has_children"]),
    "a leaf": ("q2", WebhookOptions(), []),
    "root": ("root", WebhookOptions(), ["queue.delete_protected"]),
    "default": ("default", WebhookOptions(), ["queue.delete_protected"]),
    "a queue that is not there": ("gone", WebhookOptions(), ["queue.unknown"]),
}


@pytest.mark.parametrize(("name", "options", "want"), DELETE.values(), ids=DELETE.keys())
def test_on_delete_reports_broken_rules(name: str, options: WebhookOptions, want: list[str]) -> None:
    admission = QueueAdmission([queue("root"), queue("default"), *chain(2), *LOADED], options)
    assert [problem.rule for problem in admission.on_delete(name)] == want


def test_problem_carries_actual_value_limit_and_fix() -> None:
    (found,) = QueueAdmission([PARENT]).on_create(queue("a", parent="p", capability={"cpu": 11}))
    assert found.message == "queue a: spec.capability.cpu: 11 is above the 10 of p"
    assert (found.actual, found.limit, found.fix) == (11000.0, 10000.0, "write at most 10")


def test_of_all_checks_every_queue_of_a_tree() -> None:
    tree = [
        queue("p", capability={"cpu": 1}),
        queue("a", parent="p", capability={"cpu": 2}),
        queue("b", parent="gone"),
    ]
    assert [(problem.queue, problem.rule) for problem in QueueAdmission(tree).of_all()] == [
        ("a", "queue.capability_above_ancestor"),
        ("b", "queue.parent_missing"),
    ]


NAMES = st.sampled_from(["root", "default", "a", "b", "c", "d"])
AMOUNTS = st.dictionaries(
    st.sampled_from(["cpu", "memory", "pods", GPU, "ephemeral-storage"]),
    st.sampled_from(["0", "1", "1500m", "2Gi", "-1", "x", ""]),
    max_size=3,
)
QUEUES = st.builds(
    lambda name, parent, capability, deserved, guarantee, annotations: {
        "metadata": {"name": name, "annotations": annotations},
        "spec": {
            "parent": parent,
            "capability": capability,
            "deserved": deserved,
            "guarantee": {"resource": guarantee},
        },
    },
    NAMES,
    NAMES | st.just(""),
    AMOUNTS,
    AMOUNTS,
    AMOUNTS,
    st.dictionaries(st.sampled_from([PATH, WEIGHTS]), st.sampled_from(["root/a", "1/2", "1/nan", "x"])),
)


@given(queues=st.lists(QUEUES, max_size=6), before=QUEUES, after=QUEUES)
def test_rules_never_fail_on_any_tree(
    queues: list[Any], before: dict[str, Any], after: dict[str, Any]
) -> None:
    """The rules terminate even with parent cycles and unparsable quantities."""
    admission = QueueAdmission([*queues, before])
    admission.of_all()
    admission.on_create(after)
    changed = {**after, "metadata": {**after["metadata"], "name": before["metadata"]["name"]}}
    admission.on_update(before, changed)
    assert admission.on_update(before, before) == [
        problem
        for problem in admission.on_update(before, before)
        if not problem.rule.startswith(("queue.children", "queue.capability", "queue.depth", "queue.parent"))
    ]
