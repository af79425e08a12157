"""The Kubernetes view of the nodes equals a recount of its pods."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_core.framework.session import Session
from scheduler_core.framework.statement import Statement
from scheduler_core.model.job import TaskInfo
from scheduler_core.model.selector_classes import SelectorClass
from tests.builders import node, pod
from tests.scheduler_core.placing import coming, opened
from tests.scheduler_core.test_predicates import HOSTNAME, anti_affinity, near, on_port, spread

NAMES = ("new0", "new1", "new2", "new3")


def busy() -> Session:
    """Return a session with pods that every part of the view has to count."""
    there = [
        pod("old0", group="group", node="n0", cpu=1, labels={"app": "w"}),
        pod("old1", group="group", node="n0", memory="1Gi", spec={"containers": on_port(80)}),
        pod(
            "old2", group="group", node="n1", labels={"app": "x"}, spec={"affinity": anti_affinity(near("y"))}
        ),
    ]
    incoming = [
        coming("new0", cpu=1, labels={"app": "w"}),
        coming("new1", labels={"app": "y"}, containers=on_port(81)),
        coming("new2", gpu=1, labels={"app": "x"}, affinity=anti_affinity(near("w", HOSTNAME))),
        coming("new3", topologySpreadConstraints=[spread("zone", 5)]),
    ]
    nodes = [node(name, cpu=8, memory="8Gi", gpu=2, pods=9, labels={"zone": name}) for name in ("n0", "n1")]
    return opened(nodes, incoming, "predicates", "nodeorder", there=there)


def is_web(kind: SelectorClass) -> int:
    return int(kind.labels.get("app") == "w")


def recount(
    session: Session, pods: list[tuple[TaskInfo, int]]
) -> tuple[list[int], list[list[int]], list[int]]:
    """Return a new count of each node's free pod slots, sums and pods labelled app=w."""
    k8s_nodes = session.k8s_nodes
    room = [9, 9]
    sums = [[0] * len(session.nodes) for _ in k8s_nodes.sums]
    webs = [0, 0]
    for task, number in pods:
        room[number] -= 1
        for row, amount in enumerate(k8s_nodes.amounts_of(task.shape)):
            sums[row][number] += amount
        webs[number] += task.labels().get("app") == "w"
    return room, sums, webs


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["allocate", "evict", "discard"]), st.integers(0, 3), st.integers(0, 1))
    )
)
def test_k8s_node_view_follows_placements_and_evictions(steps: list[tuple[str, int, int]]) -> None:
    session = busy()
    live = session.k8s_nodes.pods.live_counts("webs", is_web)
    tasks = {task.name: task for task in session.jobs["default/group"].tasks.values()}
    there = {name: tasks[name].node for name in ("old0", "old1", "old2")}
    statement = Statement(session)
    for step, position, number in steps:
        if step == "discard":
            statement.discard()
            statement = Statement(session)
            there = {name: place for name, place in there.items() if name.startswith("old")}
        elif step == "evict" and position < 3 and f"old{position}" in there:
            statement.evict(tasks[f"old{position}"], "test", tasks["new0"])
            del there[f"old{position}"]
        elif step == "allocate" and NAMES[position] not in there:
            session.plugins.pre_predicate(tasks[NAMES[position]])
            statement.allocate(tasks[NAMES[position]], number)
            there[NAMES[position]] = number
    room, sums, webs = recount(session, [(tasks[name], place) for name, place in there.items()])
    assert session.k8s_nodes.room.tolist() == room
    assert session.k8s_nodes.sums.tolist() == sums
    assert live.tolist() == webs
    assert used_ports(session) == {
        (port, place) for name, port in (("old1", 80), ("new1", 81)) if (place := there.get(name)) is not None
    }


def used_ports(session: Session) -> set[tuple[int, int]]:
    """Return the (port, node) pairs in use."""
    k8s_nodes = session.k8s_nodes
    return {(k8s_nodes.ports[row].port, number) for row, number in np.argwhere(k8s_nodes.used_ports).tolist()}
