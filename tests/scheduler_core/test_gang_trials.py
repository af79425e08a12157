"""Incremental trials of a gang action leave the same state as independent ones."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest

from scheduler_core.actions.registry import ACTIONS
from scheduler_core.framework.session import Session
from scheduler_core.framework.statement import leave_nothing
from scheduler_core.model.job import TaskInfo
from scheduler_core.victims.index import TaskIndex
from tests.builders import Object, conf, node, pod, podgroup, priority_class, queue, scenario, session_of
from tests.scheduler_core.states import state_of
from tests.trials import trials

TIERS = (
    (["priority", "gang", "conformance"],),
    (["priority", "gang"], ["drf", "predicates", "proportion", "nodeorder"]),
    (["gang"], ["predicates", "capacity", "binpack"]),
    (["gang"], ["predicates", ("capacity", {"enableHierarchy": True})]),
    (["priority", "drf"], ["nodegroup", "predicates"]),
)


def crowded(seed: int) -> Object:
    """Return full nodes, some without extended resources, and gangs that need several nodes at once."""
    dice = Random(seed)
    nodes = [
        node(f"n{number}", cpu=4, memory="8Gi", gpu=dice.choice([0, 4]), labels={"zone": dice.choice("ab")})
        for number in range(dice.randint(2, 6))
    ]
    if dice.random() < 0.3:
        del nodes[0]["status"]["allocatable"]["pods"]
    old = [(f"old-{number}", dice.randint(1, 4)) for number in range(dice.randint(4, 10))]
    groups = [
        podgroup(name, queue=dice.choice("ab"), min_member=dice.randint(0, size), priority_class="low")
        for name, size in old
    ]
    pods = [
        pod(
            f"{name}-{number}",
            group=name,
            node=dice.choice(nodes)["metadata"]["name"],
            phase=dice.choice(["Running", "Running", "Pending"]),
            cpu=dice.choice(["500m", 1]),
            memory="1Gi",
            gpu=dice.choice([0, 1]),
            spec=used_port(dice),
        )
        for name, size in old
        for number in range(size)
    ]
    for gang in range(dice.randint(1, 4)):
        size = dice.randint(1, 4)
        groups.append(
            podgroup(f"gang-{gang}", queue=dice.choice("ac"), min_member=size, priority_class="high")
        )
        request: Object = {"cpu": dice.choice([1, 2, 4]), "gpu": dice.choice([0, 0, 2, 9])}
        for number in range(size):
            spec = {**used_port(dice), **selected_zone(dice)}
            role = dice.choice([None, "worker"])
            pods.append(pod(f"gang-{gang}-{number}", group=f"gang-{gang}", role=role, spec=spec, **request))
    return scenario(
        nodes=nodes,
        queues=[queue("a", weight=2, parent="top"), queue("b"), queue("c"), queue("top")],
        podgroups=groups,
        pods=pods,
        priorityclasses=[priority_class("low", 1), priority_class("high", 10)],
        conf=conf(dice.choice(["gangpreempt, gangreclaim", "gangreclaim, gangpreempt"]), *dice.choice(TIERS)),
    )


def used_port(dice: Random) -> Object:
    """Return the port part of a pod's spec, mostly empty."""
    if dice.random() < 0.8:
        return {}
    ports = [{"containerPort": 80, "hostPort": 80}]
    return {"containers": [{"name": "main", "ports": ports, "resources": {"requests": {"cpu": "1"}}}]}


def selected_zone(dice: Random) -> Object:
    return {"nodeSelector": {"zone": dice.choice("abc")}} if dice.random() < 0.3 else {}


def session_after_actions(document: Object, *, afresh: bool) -> Session:
    """Return a session after its actions; `afresh` adds a plugin that must handle each eviction."""
    session = session_of(document)
    if afresh:
        session.events.add_handler(allocate=lambda task: None, deallocate=lambda task: None)
    for action in session.conf.actions:
        session.action = action
        ACTIONS[action](session)
    return session


def everything(session: Session) -> Any:
    """Return everything that trials change, committed or discarded."""
    tasks = [task for job in session.jobs.values() for task in job.tasks.values()]
    k8s_nodes = session.k8s_nodes
    return (
        [decision.as_dict() for decision in session.decisions],
        state_of(session),
        [(task.key, task.status, task.node_status, task.last_transaction) for task in tasks],
        [list(session.nodes.names_scalars), session.nodes.future.tolist()],
        [k8s_nodes.room.tolist(), k8s_nodes.sums.tolist(), k8s_nodes.used_ports.tolist()],
        {plugin: sorted(states) for plugin, states in session.cycle_states.items()},
    )


@pytest.mark.parametrize("seed", trials(range(150), always=50))
def test_incremental_trials_leave_the_same_state_as_independent_ones(seed: int) -> None:
    document = crowded(seed)
    assert everything(session_after_actions(document, afresh=False)) == everything(
        session_after_actions(document, afresh=True)
    )


def too_large(count: int) -> Object:
    """Return full nodes, and gangs whose pods fit no node."""
    return scenario(
        nodes=[node(f"n{number}", cpu=4) for number in range(count)],
        queues=[queue("a"), queue("b")],
        podgroups=[
            *(podgroup(f"old-{number}", queue="b", min_member=1) for number in range(count)),
            *(podgroup(f"gang-{number}", queue="a", min_member=2) for number in range(2)),
        ],
        pods=[
            *(
                pod(f"old-{number}-{rank}", group=f"old-{number}", node=f"n{(number + rank) % count}", cpu=1)
                for number in range(count)
                for rank in range(4)
            ),
            *(
                pod(f"gang-{number}-{rank}", group=f"gang-{number}", cpu=5)
                for number in range(2)
                for rank in (0, 1)
            ),
        ],
        conf=conf("gangreclaim", ["gang"], ["predicates"]),
    )


@pytest.mark.parametrize("afresh", [False, True])
def test_failed_trials_leave_no_decisions_and_do_not_grow_the_logs(afresh: bool) -> None:
    session = session_of(too_large(10))
    index = session.view(TaskIndex)
    if afresh:
        session.events.add_handler(allocate=lambda task: None, deallocate=lambda task: None)
    kept = []
    for _ in range(12):
        ACTIONS["gangreclaim"](session)
        kept.append((len(session.decisions), len(index.moves_since(0)), len(session.nodes.changes.entries)))
    assert index.count >= 12 * 2 * 2 * 40, "every pod is evicted and restored for each of two gangs"
    assert {decisions for decisions, *_ in kept} == {0}
    assert {moves for _, moves, _ in kept} == {40}
    assert max(entries for *_, entries in kept) < 4_500


def eviction_counts(document: Object, **forms: Any) -> Counter[str]:
    """Return how often each pod was evicted, counted by a plugin's event handler."""
    session, counts = session_of(document), Counter[str]()

    def deallocate(task: TaskInfo) -> None:
        counts[task.key] += 1

    session.events.add_handler(allocate=lambda task: None, deallocate=deallocate, **forms)
    ACTIONS["gangreclaim"](session)
    return counts


def test_eviction_events_fire_once_per_gang_or_per_trial_as_plugins_require() -> None:
    document = too_large(10)
    assert set(eviction_counts(document, on_discard=leave_nothing).values()) == {2}, (
        "two gangs cannot be placed"
    )
    assert max(eviction_counts(document).values()) == 2 * 17, "17 of 20 trials evict enough to be run"
