"""preempt and reclaim decide the same when they skip nodes that cannot free enough."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from random import Random

import numpy as np
import pytest

from scheduler_core import simulate_document
from scheduler_core.actions.preempt import Preempt
from scheduler_core.actions.preempt_candidates import of_other_jobs as other_jobs_filter
from scheduler_core.actions.reclaim import Reclaim, of_other_queues
from scheduler_core.actions.registry import ACTIONS
from scheduler_core.explain import victim_story
from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.numbering import distinct
from scheduler_core.framework.session import Session
from scheduler_core.framework.statement import Statement
from scheduler_core.model.job import TaskInfo
from scheduler_core.model.status import TaskStatus
from scheduler_core.replay import Replay
from scheduler_core.validate import Inspection
from scheduler_core.victims.bound import bounds_of
from scheduler_core.victims.index import Mask, TaskIndex
from scheduler_core.victims.preempt_bound import QueueTasks, preempt_bound, victims_among
from scheduler_core.victims.reclaim_bound import reclaim_bound
from scheduler_core.victims.selection import select_victims, victims_suffice
from tests.builders import Object, conf, node, pod, podgroup, priority_class, register, scenario, session_of
from tests.scheduler_core.replays import CONFS, crowded_replay
from tests.trials import trials

CASES = Path(__file__).parent.parent / "fidelity" / "cases"
Answer = Callable[..., list[TaskInfo]]
BYSTANDER = "bystander"
FAMILIES = ("proportion_reclaim", "preempt", "capacity", "capacity_hierarchy", "protect", "targeted")


def scenarios() -> list[Object]:
    """Return some recorded scenarios of each family."""
    found = []
    for family in FAMILIES:
        with gzip.open(CASES / f"{family}.jsonl.gz", "rt") as lines:
            found += [json.loads(line)["scenario"] for line in islice(lines, 0, None, 6)]
    return found


SCENARIOS = scenarios()


@pytest.mark.parametrize("document", SCENARIOS, ids=lambda document: document["name"])
def test_bounds_do_not_change_decisions(document: Object) -> None:
    assert decisions(document, everywhere=False) == decisions(document, everywhere=True)


def decisions(document: Object, *, everywhere: bool) -> list[Object]:
    """Return the decisions of the first session; `everywhere` adds a plugin that disables the bounds."""
    document = {**document, "scheduler_conf": with_tier(document["scheduler_conf"], BYSTANDER)}
    session = session_of(document)
    if everywhere:
        for point in (Point.PREEMPTABLE, Point.RECLAIMABLE):
            register(session, point, BYSTANDER, lambda *_: None)
            assert bounds_of(session, point) is None
    for action in session.conf.actions:
        session.action = action
        ACTIONS[action](session)
    return [decision.as_dict() for decision in session.decisions]


def with_tier(conf: Object, plugin: str) -> Object:
    """Return a configuration with one more tier of one plugin."""
    return {**conf, "tiers": [*conf["tiers"], {"plugins": [{"name": plugin}]}]}


def test_explained_run_considers_the_same_nodes() -> None:
    """Two of three nodes cannot help, because too few of their resources may be evicted."""
    document = scenario(
        nodes=[node(f"n{number}", cpu=2) for number in range(3)],
        podgroups=[podgroup("low", min_member=0), podgroup("high", priority_class="high")],
        pods=[
            *(pod(f"low-{number}", group="low", node=f"n{number}", cpu=1) for number in range(2)),
            pod("low-2", group="low", node="n2", cpu=2),
            pod("other-0", group="", node="n0", cpu=1),
            pod("other-1", group="", node="n1", cpu=1),
            pod("high-0", group="high", cpu=2),
        ],
        priorityclasses=[priority_class("high", 10)],
        conf=conf("preempt", ["priority"], ["predicates"]),
    )
    result = simulate_document(document)
    assert result["cycles"][0]["explain"]["left_out"] == {"default/high-0": 2}
    explanation = victim_story(document, result, "low-2")["left_out"]
    assert explanation["numbers"] == {"nodes": 2}
    assert explanation["sentence"].startswith(
        "2 more nodes would accept pod default/high-0 but were not considered"
    )


def answer(uids: set[str]) -> Answer:
    """Return a plugin function that accepts the given tasks, one at a time."""
    return lambda _initiator, candidates, _why: [task for task in candidates if task.uid in uids]


@pytest.mark.parametrize("seed", range(100))
def test_batch_victims_equal_victims_found_node_by_node(seed: int) -> None:
    dice = Random(seed)
    tiers = [[f"p{tier}{number}" for number in range(dice.randint(1, 4))] for tier in range(3)]
    running = [
        pod(f"g-{number}", group="g", node=f"n{dice.randrange(4)}", cpu=f"{number + 1}m")
        for number in range(12)
    ]
    session = session_of(
        scenario(
            nodes=[node(f"n{number}", cpu=8) for number in range(4)],
            podgroups=[podgroup("g")],
            pods=running,
            conf=conf("preempt", *tiers),
        )
    )
    tasks = [*session.jobs["default/g"].tasks.values()]
    index = session.view(TaskIndex)
    queue = QueueTasks(index, index.queues["default"])
    accepted: list[list[Mask]] = []
    for tier in tiers:
        accepted.append([])
        for name in tier:
            uids = {task.uid for task in tasks if dice.random() < 0.5}
            session.registry.add_evictable(Point.PREEMPTABLE, name, answer(uids))
            rows = [index.row_of(task) for task in tasks if task.uid in uids]
            accepted[-1].append(np.isin(np.arange(len(index)), rows))
    at_once = victims_among(queue, index.evictable, accepted)
    one_by_one = [
        victim.uid
        for number in range(4)
        for victim in select_victims(
            session, Point.PREEMPTABLE, tasks[0], session.nodes.tasks.in_order(number)
        ).victims
    ]
    assert {task.uid for task in tasks if at_once[index.row_of(task)]} == set(one_by_one)


@pytest.mark.parametrize("document", SCENARIOS[::3], ids=lambda document: document["name"])
def test_reused_bounds_select_the_same_nodes_as_new_bounds(document: Object) -> None:
    dice = Random(document["name"])
    session = session_of(document)
    waiting = [task for job in session.jobs.values() for task in job.by_status[TaskStatus.PENDING].values()]
    kept = Preempt(session).bound, Reclaim(session).bound
    for task in dice.choices(waiting, k=8) if waiting else ():
        for _ in range(4):
            new = preempt_bound(session), reclaim_bound(session)
            for bound, expected in zip(kept, new, strict=True):
                assert bound.nodes_for(task).tolist() == expected.nodes_for(task).tolist()
            evict_some(session, dice)


@pytest.mark.parametrize("seed", trials(range(6), always=3))
def test_bounds_kept_across_sessions_equal_new_bounds(seed: int) -> None:
    document = {**crowded_replay(seed), "scheduler_conf": CONFS[1]}
    replay, compared = Replay(document, Inspection(document)), 0
    for _ in replay.steps():
        replay.moment()
        session = replay.simulation.open_session()
        if TaskIndex not in session._views:
            continue
        living, session._views = session._views, {}
        kinds = [kind for kind in (preempt_bound, reclaim_bound) if kind in living]
        pairs = [(living[kind], session.view(kind)) for kind in kinds]
        session._views = living
        for job in session.jobs.values():
            for task in job.by_status[TaskStatus.PENDING].values():
                for bound, expected in pairs:
                    compared += 1
                    assert bound.nodes_for(task).tolist() == expected.nodes_for(task).tolist()
    assert compared > 10


def evict_some(session: Session, dice: Random) -> None:
    """Evict a few running tasks, permanently or only temporarily."""
    running = [task for job in session.jobs.values() for task in job.by_status[TaskStatus.RUNNING].values()]
    statement = Statement(session)
    for task in dice.sample(running, k=min(len(running), dice.randrange(4))):
        statement.evict(task, "for a test", None)
    if dice.random() < 0.7:
        statement.commit()
    else:
        statement.discard()


@pytest.mark.parametrize("document", SCENARIOS[::5], ids=lambda document: document["name"])
def test_task_index_updated_after_evictions_equals_a_new_index(document: Object) -> None:
    dice = Random(document["name"])
    session = session_of(document)
    followed = session.view(TaskIndex)
    for _ in range(4):
        evict_some(session, dice)
        new = TaskIndex(session)
        assert followed.running.tolist() == new.running.tolist()
        assert followed.evictable.tolist() == new.evictable.tolist()


@pytest.mark.parametrize("document", SCENARIOS[::3], ids=lambda document: document["name"])
def test_excluded_nodes_have_too_few_victims(document: Object) -> None:
    """A bound is sound: no excluded node has room, whichever pods are evicted there."""
    dice = Random(document["name"])
    session = session_of(document)
    actions = Preempt(session), Reclaim(session)
    waiting = [task for job in session.jobs.values() for task in job.by_status[TaskStatus.PENDING].values()]
    for task in dice.choices(waiting, k=8) if waiting else ():
        assert task.job is not None
        searches = (
            (Point.PREEMPTABLE, actions[0].bound, other_jobs_filter(task, task.job)),
            (Point.RECLAIMABLE, actions[1].bound, of_other_queues(session, task)),
        )
        for point, bound, is_candidate in searches:
            for number in np.flatnonzero(~bound.nodes_for(task)).tolist():
                candidates = [*filter(is_candidate, session.nodes.tasks.in_order(number))]
                victims = select_victims(session, point, task, candidates).victims
                assert not victims or not victims_suffice(session, task, number, victims)
        evict_some(session, dice)


def test_task_index_is_ordered_by_job_node_and_name_not_uid() -> None:
    running = [("b", "n0"), ("a", "n1"), ("c", "n0"), ("a2", "n0")]
    pods = [pod(name, group="g", node=place, cpu=1) for name, place in running]
    for entry, uid in zip(pods, ["3", "1", "2", "4"], strict=True):
        entry["metadata"]["uid"] = uid
    session = session_of(
        scenario(
            nodes=[node("n0", cpu=8), node("n1", cpu=8)],
            podgroups=[podgroup("g")],
            pods=pods,
            conf=conf("preempt", ["gang"]),
        )
    )
    index = session.view(TaskIndex)
    tasks = session.jobs["default/g"].tasks.values()
    assert {task.name: index.row_of(task) for task in tasks} == {"a2": 0, "b": 1, "c": 2, "a": 3}
    assert [task.name for task in index.tasks_on(0, "default")] == ["a2", "b", "c"]
    assert index.tasks_on(0, "root") == []
    assert index.queues == {"default": slice(0, 4)}


def test_distinct_returns_ascending_values_and_positions() -> None:
    occurring, positions = distinct(np.array([7, 3, 7, 5], dtype=np.intp))
    assert (occurring.tolist(), positions.tolist()) == ([3, 5, 7], [2, 0, 2, 1])
