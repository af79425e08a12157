"""Dry runs of preemption on copies of queues, invisible to the session."""

from __future__ import annotations

import pytest

from scheduler_core.framework.dry_run import DryRun
from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.session import Session
from tests.builders import Plugin, conf, node, podgroup, pods, queue, scenario, session_of
from tests.scheduler_core.queues import reported
from tests.scheduler_core.states import task_of

FLAT: Plugin = "capacity"
TREE: Plugin = ("capacity", {"enableHierarchy": True})
PLUGINS = {"proportion": "proportion", "capacity": FLAT, "capacity in a tree": TREE}


def full(plugin: Plugin, *, dry_runs: bool = True) -> Session:
    """Return a session whose queue is full at two cores while another one-core pod waits."""
    return session_of(
        scenario(
            nodes=[node("n0", cpu=4)],
            queues=[queue("a", capability={"cpu": 2})],
            podgroups=[podgroup("low", queue="a"), podgroup("high", queue="a")],
            pods=[*pods("low", 2, node="n0", cpu=1), *pods("high", 1, cpu=1)],
            conf=conf("preempt", [plugin], preempt={"enableTopologyAwarePreemption": dry_runs}),
        )
    )


def dry_run_of(session: Session) -> DryRun:
    task = task_of(session, "default-high-0")
    session.plugins.pre_predicate(task)
    return DryRun(session, session.queues["a"], task, 0)


@pytest.mark.parametrize("plugin", PLUGINS.values(), ids=PLUGINS.keys())
def test_queue_accepts_the_preemptor_once_a_victim_is_removed(plugin: Plugin) -> None:
    session = full(plugin)
    dry_run = dry_run_of(session)
    victim = task_of(session, "default-low-0")
    taken = [dry_run.takes_preemptor()]
    for step in (dry_run.remove, dry_run.add, dry_run.remove):
        assert step(victim)
        taken.append(dry_run.takes_preemptor())
    assert taken == [False, True, False, True]
    assert reported(session)["a"]["allocated"]["cpu"] == 2000


@pytest.mark.parametrize("plugin", PLUGINS.values(), ids=PLUGINS.keys())
def test_each_node_has_its_own_copy_of_the_pre_predicate_state(plugin: Plugin) -> None:
    session = full(plugin)
    first = dry_run_of(session)
    first.remove(task_of(session, "default-low-0"))
    session.events.fire_deallocate(task_of(session, "default-low-1"))
    second = DryRun(session, first.queue, first.preemptor, 0)
    assert first.takes_preemptor()
    assert not second.takes_preemptor()


@pytest.mark.parametrize("plugin", PLUGINS.values(), ids=PLUGINS.keys())
def test_dry_run_requires_a_pre_predicate(plugin: Plugin) -> None:
    session = full(plugin)
    dry_run = DryRun(session, session.queues["a"], task_of(session, "default-high-0"), 0)
    assert not dry_run.takes_preemptor()
    assert not dry_run.remove(task_of(session, "default-low-0"))


@pytest.mark.parametrize("plugin", PLUGINS.values(), ids=PLUGINS.keys())
def test_dry_run_ignores_whether_the_queue_is_open(plugin: Plugin) -> None:
    session = full(plugin)
    session.queues["a"].state = "Closed"
    dry_run = dry_run_of(session)
    dry_run.remove(task_of(session, "default-low-0"))
    assert dry_run.takes_preemptor()


@pytest.mark.parametrize("plugin", PLUGINS.values(), ids=PLUGINS.keys())
def test_no_copies_are_made_without_dry_runs(plugin: Plugin) -> None:
    session = full(plugin, dry_runs=False)
    session.plugins.pre_predicate(task_of(session, "default-high-0"))
    assert session.functions[Point.PRE_PREDICATE] == []
    assert session.cycle_state(task_of(session, "default-high-0")) == {}
