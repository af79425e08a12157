"""A statement's operations take effect immediately; discard restores every amount exactly."""

from __future__ import annotations

import numpy as np
import pytest

from scheduler_core.errors import EventError
from scheduler_core.framework.session import Session
from scheduler_core.framework.statement import Statement
from scheduler_core.model.job import TaskInfo
from scheduler_core.model.status import TaskStatus
from scheduler_core.model.task import NO_NODE
from tests.builders import conf, node, pod, podgroup, pods, queue, scenario, session_of
from tests.scheduler_core.states import state_of, task_of

TWO_NODES = [node("n0", cpu=4, memory="8Gi", gpu=2), node("n1", cpu=4, memory="8Gi")]
QUEUES = [queue("a"), queue("b")]
PODGROUPS = [podgroup("run", queue="a"), podgroup("wait", queue="b", min_member=2)]
PODS = [
    *pods("run", 2, node="n0", cpu=1, memory="1Gi", gpu=1),
    *pods("wait", 3, cpu="1500m", memory="1Gi"),
]


def opened() -> Session:
    return session_of(
        scenario(
            nodes=TWO_NODES,
            queues=QUEUES,
            podgroups=PODGROUPS,
            pods=PODS,
            conf=conf("allocate", ["priority", "gang"], ["proportion"]),
        )
    )


def test_allocate_moves_resources_from_idle_to_used() -> None:
    session = opened()
    statement = Statement(session)
    assert statement.allocate(task_of(session, "default-wait-0"), 1)
    assert session.nodes.idle[1, 0] == 2500
    assert session.nodes.used[1, 0] == 1500
    assert task_of(session, "default-wait-0").status is TaskStatus.ALLOCATED


def test_pipeline_reduces_only_future_idle() -> None:
    session = opened()
    Statement(session).pipeline(task_of(session, "default-wait-0"), 1, eviction_occurred=False)
    assert session.nodes.idle[1, 0] == 4000
    assert session.nodes.pipelined[1, 0] == 1500
    assert session.nodes.future_of[1][0] == 2500


def test_evict_adds_releasing_and_keeps_used() -> None:
    session = opened()
    Statement(session).evict(task_of(session, "default-run-0"), "test", task_of(session, "default-wait-0"))
    assert session.nodes.used[0, 0] == 2000
    assert session.nodes.idle[0, 0] == 2000
    assert session.nodes.releasing[0, 0] == 1000


def test_discard_restores_every_amount() -> None:
    session = opened()
    before = state_of(session)
    statement = Statement(session)
    first, second, third = (task_of(session, f"default-wait-{number}") for number in range(3))
    statement.evict(task_of(session, "default-run-1"), "test", first)
    statement.pipeline(first, 0, eviction_occurred=True)
    statement.allocate(second, 1)
    statement.allocate(third, 1)
    statement.evict(task_of(session, "default-run-0"), "test", second)
    assert state_of(session) != before
    statement.discard()
    assert state_of(session) == before
    assert statement.operations == []


def test_discarded_task_keeps_its_last_transaction() -> None:
    session = opened()
    statement = Statement(session)
    task = task_of(session, "default-wait-0")
    statement.pipeline(task, 1, eviction_occurred=True)
    statement.discard()
    assert task.last_transaction == ("n1", TaskStatus.PIPELINED, True)
    assert (task.node, task.node_name) == (NO_NODE, "")


def test_commit_binds_allocations_and_clears_transactions() -> None:
    session = opened()
    task = task_of(session, "default-wait-0")
    first = Statement(session)
    first.allocate(task, 1)
    first.discard()
    second = Statement(session)
    second.allocate(task, 0)
    second.commit()
    assert task.status is TaskStatus.BINDING
    assert task.last_transaction is None
    assert [(d.op, d.state) for d in session.decisions] == [("bind", "committed")]


def test_pipelined_task_stays_pipelined_after_a_commit() -> None:
    session = opened()
    task = task_of(session, "default-wait-0")
    statement = Statement(session)
    statement.pipeline(task, 1, eviction_occurred=False)
    statement.commit()
    assert task.status is TaskStatus.PIPELINED
    assert session.nodes.pipelined[1, 0] == 1500


def test_discarding_an_eviction_makes_a_bound_pod_running() -> None:
    session = session_of(
        scenario(
            nodes=TWO_NODES,
            queues=QUEUES,
            podgroups=PODGROUPS,
            pods=[*PODS, pod("run-9", group="run", node="n1", phase="Pending", cpu=1)],
            conf=conf("preempt", ["gang"]),
        )
    )
    bound = task_of(session, "default-run-9")
    assert bound.status is TaskStatus.BOUND
    statement = Statement(session)
    statement.evict(bound, "test", task_of(session, "default-wait-0"))
    statement.discard()
    assert bound.status is TaskStatus.RUNNING


@pytest.mark.parametrize("operation", ["allocate", "pipeline"])
def test_failing_event_handler_rolls_the_operation_back(operation: str) -> None:
    session = opened()
    before = state_of(session)

    def refuse(task: TaskInfo) -> None:
        raise EventError(f"{task.key} is refused")

    actual: list[str] = []
    session.events.add_handler(allocate=refuse, deallocate=lambda task: actual.append(f"back {task.name}"))
    session.events.add_handler(
        allocate=lambda task: actual.append(f"take {task.name}"), deallocate=lambda _task: None
    )
    statement = Statement(session)
    task = task_of(session, "default-wait-0")
    done = (
        statement.allocate(task, 1)
        if operation == "allocate"
        else statement.pipeline(task, 1, eviction_occurred=False)
    )
    assert not done
    assert actual == ["take wait-0", "back wait-0"], (
        "later handlers are still called, then all of them roll back"
    )
    assert state_of(session) == before
    assert statement.operations == []


def test_merge_appends_the_operations() -> None:
    session = opened()
    first, second = Statement(session), Statement(session)
    first.allocate(task_of(session, "default-wait-0"), 1)
    second.allocate(task_of(session, "default-wait-1"), 1)
    first.merge(second)
    assert [operation.task.name for operation in first.operations] == ["wait-0", "wait-1"]
    assert second.operations == []


def test_node_without_scalars_gains_them_from_released_resources() -> None:
    bare = node("n0", cpu=4, memory="8Gi")
    del bare["status"]["allocatable"]["pods"]
    session = session_of(
        scenario(
            nodes=[bare],
            queues=QUEUES,
            podgroups=PODGROUPS,
            pods=[pod("run-0", group="run", node="n0", cpu=1), *pods("wait", 2, cpu=1)],
            conf=conf("allocate", ["gang"]),
        )
    )
    column = session.nodes.axis.index["pods"]
    assert session.nodes.idle[0, column] == 0, "subtracted scalars are ignored while the node has none"
    statement = Statement(session)
    statement.evict(task_of(session, "default-run-0"), "test", task_of(session, "default-wait-0"))
    assert np.isclose(session.nodes.idle[0, column], 0)
