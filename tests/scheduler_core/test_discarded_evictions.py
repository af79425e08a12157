"""Evictions that cannot help are not retried, and leave the same state as if they were."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from scheduler_core.framework.session import Session
from scheduler_core.framework.statement import Statement, evict_and_discard
from scheduler_core.model.job import TaskInfo
from tests.builders import (
    Object,
    Plugin,
    conf,
    last_cycle,
    node,
    podgroup,
    pods,
    priority_class,
    queue,
    scenario,
    session_of,
)
from tests.scheduler_core.states import state_of

FLAT: Sequence[Sequence[Plugin]] = (["priority", "gang"], ["drf", "predicates", "proportion", "nodeorder"])
QUOTAS: Sequence[Sequence[Plugin]] = (["priority", "gang"], ["drf", "predicates", "capacity", "nodeorder"])
REFUSED_TREE: Sequence[Sequence[Plugin]] = (
    ["gang"],
    ["predicates", ("capacity", {"enableHierarchy": True})],
)
"""With jobs in a queue that has children, shares stay unset until something changes."""
IN_A_TREE: Sequence[Sequence[Plugin]] = (["gang"], [("drf", {"enableHierarchy": True}), "predicates"])


def cluster(tiers: Sequence[Sequence[Plugin]]) -> Object:
    """Return two nodes full of one queue's pods, one of them without scalar resources."""
    bare = node("n1", cpu=4, memory="8Gi")
    del bare["status"]["allocatable"]["pods"]
    running = [
        *pods("run", 3, node="n0", cpu=1, memory="1Gi", gpu=1),
        *pods("run", 2, first=3, node="n1", cpu=2, memory="1Gi"),
    ]
    running[1]["status"] = {"phase": "Pending"}
    return scenario(
        nodes=[node("n0", cpu=4, memory="8Gi", gpu=4), bare],
        queues=[queue("a", parent="top"), queue("top")],
        podgroups=[podgroup("run", queue="a"), podgroup("under", queue="top")],
        pods=running,
        conf=conf("allocate, preempt", *tiers),
    )


def everything(session: Session) -> Any:
    """Return everything that evictions change, committed or discarded."""
    k8s_nodes = session.k8s_nodes
    tasks = [task for job in session.jobs.values() for task in job.tasks.values()]
    return (
        state_of(session),
        [(task.status, task.node_status, task.last_transaction) for task in tasks],
        [list(session.nodes.names_scalars), session.nodes.future.tolist()],
        [k8s_nodes.room.tolist(), k8s_nodes.sums.tolist()],
    )


def on_node(session: Session, number: int) -> list[TaskInfo]:
    return session.nodes.tasks.in_order(number)


@pytest.mark.parametrize("tiers", [FLAT, QUOTAS, REFUSED_TREE])
@pytest.mark.parametrize("number", [0, 1])
def test_evict_and_discard_leaves_the_same_state_as_a_discarded_statement(
    tiers: Sequence[Sequence[Plugin]], number: int
) -> None:
    tried, actual = session_of(cluster(tiers)), session_of(cluster(tiers))
    statement = Statement(tried)
    for task in on_node(tried, number):
        statement.evict(task, "preempt", None)
    statement.discard()
    assert everything(tried) != everything(actual)
    assert evict_and_discard(actual, on_node(actual, number))
    assert everything(actual) == everything(tried)


def test_evict_and_discard_is_unavailable_if_a_plugin_handles_each_eviction() -> None:
    session = session_of(cluster(IN_A_TREE))
    before = everything(session)
    assert not evict_and_discard(session, on_node(session, 0))
    assert everything(session) == before


def test_failed_search_is_not_repeated_for_other_pods_of_a_gang() -> None:
    document = scenario(
        nodes=[node("n0", cpu=4, memory="8Gi")],
        queues=[queue("a")],
        podgroups=[
            podgroup("run", queue="a", min_member=4, priority_class="low"),
            podgroup("gang", queue="a", min_member=2, priority_class="high"),
        ],
        pods=[*pods("run", 4, node="n0", cpu=1, memory="1Gi"), *pods("gang", 3, cpu=4, memory="1Gi")],
        priorityclasses=[priority_class("low", 1), priority_class("high", 10)],
        conf=conf("allocate, preempt", ["priority", "gang"], ["drf", "proportion"]),
    )
    spared = last_cycle(document)["explain"]["spared"]
    received = {
        asking: [(entry["pod"], entry["plugin"], entry["why"]) for entry in spared if entry["for"] == asking]
        for asking in ("default/gang-0", "default/gang-1", "default/gang-2")
    }
    first, second, third = received.values()
    assert len(first) == 4
    assert first == second == third
