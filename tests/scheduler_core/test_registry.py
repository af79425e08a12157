"""Plugins that declare no caching are called every time, and invalid registrations are refused."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from scheduler_core.actions import allocate, preempt
from scheduler_core.errors import RegistrationError
from scheduler_core.framework.class_scores import ClassAnswers
from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.plugin_fn import shape_only
from scheduler_core.framework.registry import Registry
from scheduler_core.framework.session import Session
from scheduler_core.model.fit import Code, Status
from scheduler_core.model.job import TaskInfo
from tests.builders import conf, node, podgroup, pods, scenario, session_of

WANTED = "example.com/wanted-node"


def teams(count: int, *, actions: str = "allocate") -> Session:
    """Return a session where each of several equal pods wants its own node, the last one n0."""
    return session_of(
        scenario(
            nodes=[node(f"n{number}", cpu=8) for number in range(count)],
            podgroups=[
                podgroup(f"g{number}", annotations={WANTED: f"n{count - 1 - number}"})
                for number in range(count)
            ],
            pods=[entry for number in range(count) for entry in pods(f"g{number}", 1, cpu=1)],
            conf=conf(actions, ["gang", "wish"]),
        )
    )


def wish_of(session: Session, task: TaskInfo) -> int:
    assert task.job is not None
    return session.nodes.index[task.job.annotations()[WANTED]]


def placed(session: Session) -> dict[str, str]:
    session.action = "allocate"
    allocate.execute(session)
    return {decision.job: decision.node for decision in session.decisions}


@pytest.mark.parametrize("count", [4, 50], ids=["few nodes", "many nodes"])
@pytest.mark.parametrize("point", [Point.NODE_ORDER, Point.BATCH_NODE_ORDER])
def test_uncached_score_is_called_for_every_task(point: Point, count: int) -> None:
    session = teams(count)

    def score(task: TaskInfo, nodes: NDArray[np.intp]) -> NDArray[np.float64]:
        return np.where(nodes == wish_of(session, task), 100.0, 0.0)

    add = {
        Point.NODE_ORDER: session.registry.add_node_order,
        Point.BATCH_NODE_ORDER: session.registry.add_batch_node_order,
    }[point]
    add("wish", score)
    assert placed(session) == {f"default/g{number}": f"n{count - 1 - number}" for number in range(count)}


@pytest.mark.parametrize("count", [4, 50], ids=["few nodes", "many nodes"])
def test_uncached_predicate_is_called_for_every_task(count: int) -> None:
    session = teams(count)
    refused = session.statuses.number(Status(Code.UNSCHEDULABLE, "not the node that was wanted"))
    session.registry.add_predicate(
        "wish", lambda task, nodes: np.where(nodes == wish_of(session, task), 0, refused).astype(np.int32)
    )
    assert placed(session) == {f"default/g{number}": f"n{count - 1 - number}" for number in range(count)}


def test_uncached_predicate_is_called_again_for_equal_tasks() -> None:
    session = session_of(
        scenario(
            nodes=[node(f"n{number}", cpu=8) for number in range(3)],
            podgroups=[podgroup("g")],
            pods=pods("g", 3, cpu=1),
            conf=conf("allocate", ["gang", "one-a-day"]),
        )
    )
    full = session.statuses.number(Status(Code.UNSCHEDULABLE, "two nodes are in use"))

    def predicate(_task: TaskInfo, nodes: NDArray[np.intp]) -> NDArray[np.int32]:
        in_use = session.nodes.used[:, 0] > 0
        return np.where((in_use.sum() >= 2) | in_use[nodes], full, 0).astype(np.int32)

    session.registry.add_predicate("one-a-day", predicate)
    session.action = "allocate"
    allocate.execute(session)
    assert [decision.node for decision in session.decisions] == ["n0", "n1"]


def test_class_scores_are_cached_until_the_node_changes() -> None:
    session = teams(4)
    arguments: list[int] = []

    def score(task: TaskInfo, nodes: NDArray[np.intp]) -> NDArray[np.float64]:
        arguments.extend(nodes.tolist())
        return np.where(nodes == wish_of(session, task), 100.0, 0.0)

    session.registry.add_node_order(
        "wish", score, class_key=lambda task: task.job.annotations()[WANTED] if task.job else None
    )
    assert placed(session) == {f"default/g{number}": f"n{3 - number}" for number in range(4)}
    assert len(arguments) == 16, "each class is scored once per node"


def test_preempt_tries_equal_pods_again_if_a_predicate_is_uncached() -> None:
    urgent = {"priorityClassName": "c"}
    session = session_of(
        scenario(
            nodes=[node("n0", cpu=2)],
            podgroups=[podgroup("low", phase="Running"), podgroup("high", priority_class="c")],
            pods=[
                *pods("low", 2, node="n0", cpu=1),
                *pods("high", 2, cpu=1, spec=urgent),
            ],
            priorityclasses=[{"metadata": {"name": "c"}, "value": 5}],
            conf=conf("preempt", ["priority", "gang", "second-thought"]),
        )
    )
    refused = session.statuses.number(Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, "think again"))
    seen: list[str] = []

    def predicate(task: TaskInfo, nodes: NDArray[np.intp]) -> NDArray[np.int32]:
        seen.append(task.name)
        return np.full(len(nodes), 0 if task.name == "high-1" else refused, dtype=np.int32)

    session.registry.add_predicate("second-thought", predicate)
    session.action = "preempt"
    preempt.execute(session)
    assert [decision.for_pod for decision in session.decisions if decision.op == "evict"] == [
        "default/high-1"
    ]


# invalid registrations


def no_score(_task: TaskInfo, nodes: NDArray[np.intp]) -> NDArray[np.float64]:
    return np.zeros(len(nodes))


def for_node(_task: TaskInfo) -> Callable[[int], float]:
    return lambda _node: 0.0


def for_classes(_tasks: object) -> ClassAnswers:
    return ClassAnswers(lambda nodes: np.zeros((len(nodes), 1)))


REFUSED: dict[str, tuple[Callable[[Registry], Any], str]] = {
    "predicate with only a task parameter": (
        lambda registry: registry.add_predicate("wish", lambda task: task),
        "plugin 'wish' at predicate: the function is called with (task, nodes), but takes other arguments",
    ),
    "partial function with one parameter left": (
        lambda registry: registry.add_node_order("wish", partial(no_score, None)),
        "plugin 'wish' at node_order: the function is called with (task, nodes), but takes other arguments",
    ),
    "vote without a parameter for reasons": (
        lambda registry: registry.add_job_enqueueable("wish", lambda _job: None),
        "called with (job, why), but takes other arguments",
    ),
    "function with a required keyword parameter": (
        lambda registry: registry.add_job_ready("wish", lambda _job, *, strict: strict),
        "called with (job), but takes other arguments",
    ),
    "not a function": (
        lambda registry: registry.add_overused("wish", True),
        "plugin 'wish' at overused: True is not a function that can be called with (queue)",
    ),
    "single-node form without caching": (
        lambda registry: registry.add_node_order("wish", no_score, score_node=for_node),
        "plugin 'wish' at node_order: answers can only be kept per class of tasks; add class_key=...",
    ),
    "batch form without a single-node form": (
        lambda registry: registry.add_node_order(
            "wish", no_score, class_key=shape_only, score_classes=for_classes
        ),
        "needs the form for one node, too",
    ),
    "batch form with partial caching": (
        lambda registry: registry.add_node_order(
            "wish",
            no_score,
            class_key=shape_only,
            cacheable_per_node=lambda _task: True,
            score_node=for_node,
            score_classes=for_classes,
        ),
        "needs static_for_class=...",
    ),
    "class key without parameters": (
        lambda registry: registry.add_node_order("wish", no_score, class_key=lambda: 1),
        "plugin 'wish' at node_order, class_key: the function is called with (task), but takes other",
    ),
    "evictable function at another point": (
        lambda registry: registry.add_evictable(Point.OVERUSED, "wish", lambda *_question: None),
        "add_evictable is for Point.PREEMPTABLE and Point.RECLAIMABLE",
    ),
}


@pytest.mark.parametrize(("register", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_invalid_registration_is_refused(register: Callable[[Registry], Any], message: str) -> None:
    session = teams(1)
    before = session.functions.registered_by("wish")
    with pytest.raises(RegistrationError) as caught:
        register(session.registry)
    assert message in str(caught.value)
    assert session.functions.registered_by("wish") == before, "nothing is registered"


def test_an_event_handler_without_arguments_is_rejected() -> None:
    message = r"add_handler: deallocate: the function is called with \(task\), but takes other arguments"
    with pytest.raises(RegistrationError, match=message):
        teams(1).events.add_handler(allocate=print, deallocate=lambda: None)


def test_no_function_can_be_added_to_a_point_after_its_first_call() -> None:
    session = teams(1)
    assert not session.plugins.overused(session.queues["default"])
    with pytest.raises(RegistrationError, match="register while the session opens"):
        session.registry.add_overused("wish", lambda _queue: True)


@pytest.mark.parametrize("point", Point, ids=lambda point: point.label)
def test_every_point_has_one_registration_method(point: Point) -> None:
    session = teams(1)
    evictable = point in (Point.PREEMPTABLE, Point.RECLAIMABLE)
    add = session.registry.add_evictable if evictable else getattr(session.registry, f"add_{point.label}")
    add(*[point] * evictable, "wish", lambda *_question: None)
    assert session.functions.registered_by("wish") == {point}
