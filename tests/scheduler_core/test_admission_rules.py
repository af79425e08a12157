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
    "valid queue": Case(queue("a")),
    "guarantee below deserved below capability": Case(
        queue("a", guarantee={"cpu": 1}, deserved={"cpu": 2}, capability={"cpu": 3})
    ),
    "guarantee, deserved and capability equal": Case(
        queue("a", guarantee={"cpu": 1}, deserved={"cpu": 1}, capability={"cpu": 1})
    ),
    "negative capability": Case(
        queue("a", capability={"cpu": -1}), {"queue.negative": "spec.capability.cpu"}
    ),
    "negative guarantee": Case(
        queue("a", guarantee={"cpu": -1}, deserved={"cpu": 1}),
        {"queue.negative": "spec.guarantee.resource.cpu"},
    ),
    "negative deserved": Case(queue("a", deserved={"cpu": -1}), {"queue.negative": "spec.deserved.cpu"}),
    "fractional services": Case(
        queue("a", capability={"services": "500m"}), {"queue.fraction": "spec.capability.services"}
    ),
    "fractional device in guarantee": Case(
        queue("a", guarantee={"gpu": "500m"}, deserved={"gpu": 1}),
        {"queue.fraction": f'spec.guarantee.resource["{GPU}"]'},
    ),
    "fractional pods": Case(queue("a", deserved={"pods": "1500m"}), {"queue.fraction": "spec.deserved.pods"}),
    "fractional device": Case(
        queue("a", capability={"gpu": "500m"}), {"queue.fraction": f'spec.capability["{GPU}"]'}
    ),
    "fractional cores": Case(queue("a", capability={"cpu": "500m"})),
    "fractional hugepages byte": Case(queue("a", capability={"hugepages-2Mi": "500m"})),
    "guarantee without deserved": Case(
        queue("a", guarantee={"cpu": 1}), {"queue.guarantee_without_deserved": "spec.deserved.cpu"}
    ),
    "zero guarantee without deserved": Case(
        queue("a", guarantee={"cpu": 0}), {"queue.guarantee_without_deserved": "spec.deserved.cpu"}
    ),
    "guarantee above deserved": Case(
        queue("a", guarantee={"cpu": 3}, deserved={"cpu": 2}),
        {"queue.deserved_below_guarantee": "spec.deserved.cpu"},
    ),
    "deserved above capability": Case(
        queue("a", deserved={"cpu": 3}, capability={"cpu": 2}),
        {"queue.deserved_above_capability": "spec.deserved.cpu"},
    ),
    "deserved resource that capability does not list": Case(
        queue("a", deserved={"gpu": 3}, capability={"cpu": 2})
    ),
    "state set only by the controller": Case(queue("a", state="Closing"), {"queue.state": "status.state"}),
    "unknown state": Case(queue("a", state="Unknown"), {"queue.state": "status.state"}),
    "closed queue": Case(queue("a", state="Closed")),
    "no state": Case(queue("a", state="")),
    "as many hierarchy weights as path parts": Case(queue("a", annotations=path("root/a", "1/2"))),
    "fewer hierarchy weights than path parts": Case(
        queue("a", annotations=path("root/a", "1")),
        {"queue.path_length": f'metadata.annotations["{WEIGHTS}"]'},
    ),
    "hierarchy weights without a path": Case(
        queue("a", annotations={WEIGHTS: "1/2"}), {"queue.path_length": f'metadata.annotations["{WEIGHTS}"]'}
    ),
    "hierarchy path without weights": Case(
        queue("a", annotations={PATH: "root/a"}),
        {"queue.path_length": f'metadata.annotations["{WEIGHTS}"]'},
    ),
    "one-part hierarchy path without weights": Case(
        queue("a", annotations={PATH: "root"}), {"queue.path_weight": f'metadata.annotations["{WEIGHTS}"]'}
    ),
    "negative hierarchy weight": Case(
        queue("a", annotations=path("root/a", "1/-1")),
        {"queue.path_weight": f'metadata.annotations["{WEIGHTS}"]'},
    ),
    "hierarchy weight that is not a number": Case(
        queue("a", annotations=path("root/a", "1/x")),
        {"queue.path_weight": f'metadata.annotations["{WEIGHTS}"]'},
    ),
    "hierarchy weight of zero": Case(
        queue("a", annotations=path("root/a", "1/0")),
        {"queue.path_weight": f'metadata.annotations["{WEIGHTS}"]'},
    ),
    "hierarchy weight too large for Go": Case(
        queue("a", annotations=path("root/a", "1/1e999")),
        {"queue.path_weight": f'metadata.annotations["{WEIGHTS}"]'},
    ),
    "hierarchy weight NaN passes": Case(queue("a", annotations=path("root/a", "1/NaN"))),
    "hierarchy path that is a prefix of another": Case(
        queue("a", annotations=path("root/sci", "1/2")),
        {"queue.path_inner": f'metadata.annotations["{PATH}"]'},
        (queue("b", annotations=path("root/sci/dev", "1/2/3")),),
    ),
    "hierarchy path that is a prefix of another once root is prepended": Case(
        queue("a", annotations=path("sci", "2")),
        {"queue.path_inner": f'metadata.annotations["{PATH}"]'},
        (queue("b", annotations=path("root/sci/dev", "1/2/3")),),
    ),
    "hierarchy path starting with the letters of root gets no root": Case(
        queue("a", annotations=path("rootish", "2")),
        {},
        (queue("b", annotations=path("root/rootish/dev", "1/2/3")),),
    ),
    "hierarchy path equal to another queue's passes": Case(
        queue("a", annotations=path("root/sci", "1/2")),
        {},
        (queue("b", annotations=path("root/sci", "1/2")),),
    ),
    "hierarchy path sharing a name prefix with another": Case(
        queue("a", annotations=path("root/sci", "1/2")),
        {},
        (queue("b", annotations=path("root/science", "1/2")),),
    ),
    "hierarchy path below another queue's leaf passes": Case(
        queue("a", annotations=path("root/sci/dev", "1/2/3")),
        {},
        (queue("b", annotations=path("root/sci", "1/2")),),
    ),
    "queue is its own parent": Case(queue("a", parent="a"), {"queue.own_parent": "spec.parent"}),
    "missing parent": Case(queue("a", parent="gone"), {"queue.parent_missing": "spec.parent"}),
    "missing ancestor": Case(
        queue("a", parent="p"), {"queue.parent_missing": "spec.parent"}, (queue("p", parent="gone"),)
    ),
    "parent root": Case(queue("a", parent="root")),
    "parent with pods and without children": Case(
        queue("a", parent="p"), {"queue.parent_has_pods": "spec.parent"}, (holding(queue("p"), 3),)
    ),
    "parent with pods and a child": Case(
        queue("a", parent="p"), {}, (holding(queue("p"), 3), queue("b", parent="p"))
    ),
    "capability above the parent's": Case(
        queue("a", parent="p", capability={"cpu": 11}),
        {"queue.capability_above_ancestor": "spec.capability.cpu"},
        (PARENT,),
    ),
    "capability above the nearest ancestor with a capability": Case(
        queue("a", parent="m", capability={"cpu": 11}),
        {"queue.capability_above_ancestor": "spec.capability.cpu"},
        (PARENT, queue("m", parent="p")),
    ),
    "capability of a resource that no ancestor limits": Case(
        queue("a", parent="p", capability={"memory": "1Ti"}), {}, (PARENT,)
    ),
    "capability above root's": Case(
        queue("a", capability={"cpu": 11}), {}, (queue("root", capability={"cpu": 1}),)
    ),
    "capability above a parent's capability of zero, which is no limit": Case(
        queue("a", parent="p", capability={"cpu": 3}), {}, (queue("p", capability={"cpu": 0}),)
    ),
    "sum of capabilities above the parent's": Case(
        queue("a", parent="p", capability={"cpu": 6}),
        {},
        (PARENT, queue("b", parent="p", capability={"cpu": 6})),
    ),
    "guarantee and deserved above root's": Case(
        queue("a", parent="root", guarantee={"cpu": 2}, deserved={"cpu": 2}),
        {},
        (queue("root", guarantee={"cpu": 1}, deserved={"cpu": 1}),),
    ),
    "guarantees within the parent's": Case(
        queue("a", parent="p", guarantee={"cpu": 2}, deserved={"cpu": 2}),
        {},
        (PARENT, queue("b", parent="p", guarantee={"cpu": 2}, deserved={"cpu": 2})),
    ),
    "sum of guarantees above the parent's": Case(
        queue("a", parent="p", guarantee={"cpu": 3}, deserved={"cpu": 3}),
        {"queue.children_guarantee": "spec.guarantee.resource.cpu"},
        (PARENT, queue("b", parent="p", guarantee={"cpu": 2}, deserved={"cpu": 2})),
    ),
    "sum of deserved above the parent's": Case(
        queue("a", parent="p", deserved={"cpu": 7}),
        {"queue.children_deserved": "spec.deserved.cpu"},
        (PARENT, queue("b", parent="p", deserved={"cpu": 2})),
    ),
    "deserved under a parent without deserved": Case(
        queue("a", parent="p", deserved={"cpu": 1}),
        {"queue.children_deserved": "spec.deserved.cpu"},
        (queue("p"),),
    ),
    "guarantee under a parent without guarantee": Case(
        queue("a", parent="p", guarantee={"cpu": 1}, deserved={"cpu": 1}),
        {"queue.children_guarantee": "spec.guarantee.resource.cpu"},
        (queue("p", deserved={"cpu": 1}),),
    ),
    "zero of a resource of which the parent has zero": Case(
        queue("a", parent="p", deserved={"gpu": 0}), {}, (queue("p", deserved={"gpu": 0}),)
    ),
    "zero of a resource that the parent does not list": Case(
        queue("a", parent="p", deserved={"gpu": 0}),
        {"queue.children_deserved": f'spec.deserved["{GPU}"]'},
        (queue("p"),),
    ),
    "existing child with a larger capability": Case(
        queue("a", capability={"cpu": 1}),
        {"queue.capability_below_descendant": "spec.capability.cpu"},
        (queue("b", parent="a", capability={"cpu": 2}),),
    ),
    "grandchild with a larger capability below an unlimited child": Case(
        queue("a", capability={"cpu": 1}),
        {"queue.capability_below_descendant": "spec.capability.cpu"},
        (queue("b", parent="a"), queue("c", parent="b", capability={"cpu": 2})),
    ),
    "only the nearest descendant with a capability is compared": Case(
        queue("a", capability={"cpu": 1}),
        {},
        (queue("b", parent="a", capability={"cpu": 1}), queue("c", parent="b", capability={"cpu": 2})),
    ),
    "capability of zero is not compared with the children's": Case(
        queue("a", capability={"cpu": 0}), {}, (queue("b", parent="a", capability={"cpu": 2}),)
    ),
    "children with a larger guarantee": Case(
        queue("a", guarantee={"cpu": 1}, deserved={"cpu": 5}),
        {"queue.children_guarantee": "spec.guarantee.resource.cpu"},
        (queue("b", parent="a", guarantee={"cpu": 2}, deserved={"cpu": 2}),),
    ),
    "children with a larger deserved": Case(
        queue("a", deserved={"cpu": 1}),
        {"queue.children_deserved": "spec.deserved.cpu"},
        (queue("b", parent="a", deserved={"cpu": 2}),),
    ),
    "several rules at once": Case(
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
    "fifth level": (4, 5, True),
    "sixth level": (5, 5, False),
    "custom depth limit": (1, 1, False),
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
    "closing queue": Change(
        queue("a", state="Closing"), queue("a", state="Closing", weight=2), ["queue.state"]
    ),
    "move to a parent with pods": Change(
        queue("a"), queue("a", parent="p"), ["queue.parent_has_pods"], LOADED
    ),
    "weight below a parent with pods": Change(
        queue("a", parent="p"), queue("a", parent="p", weight=2), [], LOADED
    ),
    "weight below a missing parent": Change(
        BELOW_NOTHING, {**BELOW_NOTHING, "spec": {"weight": 2, "parent": "gone"}}
    ),
    "capability below a missing parent": Change(
        BELOW_NOTHING, queue("a", parent="gone", capability={"cpu": 1}), ["queue.parent_missing"]
    ),
    "capability below the child's": Change(
        queue("a", capability={"cpu": 3}),
        queue("a", capability={"cpu": 1}),
        ["queue.capability_below_descendant"],
        (queue("b", parent="a", capability={"cpu": 2}),),
    ),
    "weight of a queue whose child already exceeds it": Change(
        queue("a", capability={"cpu": 1}),
        queue("a", capability={"cpu": 1}, weight=2),
        [],
        (queue("b", parent="a", capability={"cpu": 2}),),
    ),
    "same amount in another notation": Change(
        queue("a", capability={"cpu": 1}),
        queue("a", capability={"cpu": "1000m"}),
        [],
        (queue("b", parent="a", capability={"cpu": 2}),),
    ),
    "capability of root": Change(
        queue("root"), queue("root", capability={"cpu": 1}), ["queue.root_protected"]
    ),
    "deserved of root": Change(queue("root"), queue("root", deserved={"cpu": 1}), ["queue.root_protected"]),
    "guarantee of root": Change(
        queue("root", deserved={"cpu": 1}),
        queue("root", deserved={"cpu": 1}, guarantee={"cpu": 1}),
        ["queue.root_protected"],
    ),
    "hierarchy path is not changed on update": Change(
        queue("a"),
        queue("a", annotations=path("sci", "2")),
        [],
        (queue("b", annotations=path("root/sci/dev", "1/2/3")),),
    ),
    "queue in an unknown state": Change(
        queue("a", state="Unknown"), queue("a", state="Unknown", weight=2), ["queue.state"]
    ),
    "state removed": Change(queue("a", state="Closed"), queue("a")),
    "weight of root": Change(queue("root"), queue("root", weight=2)),
    "move below its own child": Change(
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
    "queue with pods": ("p", WebhookOptions(), []),
    "queue with pods if pods are checked": (
        "p",
        WebhookOptions(checks_pods_on_delete=True),
        ["queue.delete_has_pods"],
    ),
    "queue with children": ("q1", WebhookOptions(), ["queue.delete_has_children"]),
    "leaf queue": ("q2", WebhookOptions(), []),
    "root": ("root", WebhookOptions(), ["queue.delete_protected"]),
    "default": ("default", WebhookOptions(), ["queue.delete_protected"]),
    "missing queue": ("gone", WebhookOptions(), ["queue.unknown"]),
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
