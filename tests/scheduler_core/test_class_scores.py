"""Scores and reasons of task classes equal those of each single task, while nodes change."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_core.framework import class_scores
from scheduler_core.framework.error_cache import ErrorCache
from scheduler_core.framework.node_columns import FEW
from scheduler_core.framework.session import Session
from scheduler_core.framework.statement import Statement, displace
from scheduler_core.model.job import TaskInfo
from scheduler_core.model.status import TaskStatus
from tests.builders import Object, node, pod
from tests.scheduler_core.placing import opened
from tests.scheduler_core.states import task_of

COUNT = 8


def sizes(number: int) -> Object:
    return {
        "cpu": 1 + number % 3,
        "memory": f"{1 + number % 2}Gi",
        "gpu": int(number % 4 == 3),
        "labels": {"app": "a"},
        "spec": {"nodeSelector": {"disk": "ssd"}} if number % 5 == 4 else {},
    }


def crowd(count: int) -> Session:
    nodes = [
        node(f"n{number}", cpu=4, memory="8Gi", gpu=2 * (number % 2), pods=3, labels={"disk": disk})
        for number, disk in enumerate(("ssd", "hdd", "ssd"))
    ]
    nodes += [node(f"small{number:02}", cpu=1, memory="1Gi", pods=1) for number in range(FEW)]
    waiting = [pod(f"new-{number}", group="group", **sizes(number)) for number in range(count)]
    there = [pod("there", group="group", node="n0", cpu=2, memory="1Gi")]
    return opened(nodes, waiting, "predicates", "nodeorder", "binpack", there=there)


STEPS = st.lists(
    st.tuples(st.sampled_from(["place", "pipeline", "leave", "evict", "ask"]), st.integers(0, COUNT - 1)),
    max_size=40,
)


@settings(max_examples=60)
@given(steps=STEPS, few=st.booleans())
def test_class_scores_match_scoring_each_task_separately(steps: list[tuple[str, int]], few: bool) -> None:
    assert_class_scores_match(steps, 2 if few else COUNT)


@pytest.mark.parametrize(("waiting", "states", "answers"), [(0, 4096, 16), (2, 0, 65536)])
def test_class_scores_do_not_depend_on_cache_limits(
    monkeypatch: pytest.MonkeyPatch, waiting: int, states: int, answers: int
) -> None:
    monkeypatch.setattr(class_scores, "MOST_ANSWERS", answers)
    monkeypatch.setattr(class_scores, "MOST_WAITING", waiting)
    monkeypatch.setattr(class_scores, "MOST_STATES", states)
    chance = random.Random(7)
    steps = [(chance.choice(["place", "pipeline", "leave"]), chance.randrange(COUNT)) for _ in range(800)]
    assert_class_scores_match(steps, COUNT)


def assert_class_scores_match(steps: list[tuple[str, int]], count: int) -> None:
    together, alone = crowd(count), crowd(count)
    together.placement.prefetch([task_of(together, f"default-new-{number}") for number in range(count)])
    for step, number in steps:
        actual = [take(session, step, number % count) for session in (together, alone)]
        assert actual[0] == actual[1]


def take(session: Session, step: str, number: int) -> object:
    task = task_of(session, f"default-new-{number}")
    if step == "evict":
        there = task_of(session, "default-there")
        if there.status is TaskStatus.RUNNING:
            Statement(session).evict(there, "test", None)
    elif step == "leave" and task.status is not TaskStatus.PENDING:
        displace(session, task)
    elif task.status is TaskStatus.PENDING:
        session.plugins.pre_predicate(task)
        node_number, errors = session.placement.find(task, ErrorCache(enabled=True))
        assert node_number == best_node_without_cache(session, task)
        if node_number is not None and step == "place" and session.nodes.fits_idle(task, node_number):
            Statement(session).allocate(task, node_number)
        elif node_number is not None and step in ("place", "pipeline"):
            Statement(session).pipeline(task, node_number, eviction_occurred=False)
        return node_number, None if errors is None else errors.text()
    return None


def best_node_without_cache(session: Session, task: TaskInfo) -> int | None:
    """Return the best node for a task, computed without the cache of its class."""
    nothing = ErrorCache(enabled=False)
    candidates, _ = session.placement.predicates.examine(task, resources=True, lenient=False, cache=nothing)
    return session.placement.choose(task, candidates) if len(candidates) else None
