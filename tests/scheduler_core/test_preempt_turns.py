"""Preempt tries a kind of task for which no node has room or victims once, if no explanation reports it."""

from __future__ import annotations

from collections import Counter

import pytest

from scheduler_core.actions.preempt import Preempt
from scheduler_core.model.job import TaskInfo
from tests.builders import (
    Object,
    conf,
    node,
    pod,
    podgroup,
    pods,
    priority_class,
    queue,
    scenario,
    session_of,
)
from tests.scheduler_core.replays import Dice
from tests.scheduler_core.test_reclaim_turns import act, decided
from tests.trials import trials

CONFS = (
    conf("preempt", ["priority", "gang", "conformance"], ["predicates", "capacity", "nodeorder"]),
    conf("allocate, preempt", ["priority", "gang"], ["drf", "predicates", "proportion"]),
    conf("allocate, preempt, reclaim", ["gang"], ["priority", "predicates", "capacity", "binpack"]),
    conf("preempt, allocate", ["priority"], ["predicates", ("capacity", {"enableHierarchy": True})]),
)
NODES = 6
SEEDS = range(120)


def crowded_queues(seed: int) -> Object:
    """Return a scenario whose queues have running jobs of two priorities, and waiting ones of a few kinds."""
    dice = Dice(f"preempt {seed}")
    names = [f"q{number}" for number in range(2 + dice.below(3))]
    groups, all_pods = [], []
    for number in range(NODES * 3 + dice.below(NODES)):
        name, high = f"runs-{number:02d}", dice.below(3) == 0
        groups.append(
            podgroup(
                name,
                queue=dice.one_of(names),
                phase="Running",
                min_member=dice.below(2),
                priority_class="mid" if high else "",
            )
        )
        all_pods += pods(name, 1, cpu=2, priority=5 * high, node=f"n{number % NODES}")
    kinds = [(1 + dice.below(3), 1 + dice.below(5), dice.below(3)) for _ in range(1 + dice.below(4))]
    for number in range(8 + dice.below(20)):
        name, (size, cpu, rank) = f"waits-{dice.below(90):02d}-{number}", dice.one_of(kinds)
        groups.append(
            podgroup(
                name,
                queue=dice.one_of(names),
                min_member=size,
                phase="Inqueue",
                priority_class=("", "mid", "high")[rank],
            )
        )
        all_pods += pods(name, size + dice.below(2), cpu=cpu, priority=5 * rank)
    for number in range(dice.below(3)):
        name = f"half-{number}"
        groups.append(podgroup(name, queue=dice.one_of(names), min_member=2, phase="Running"))
        all_pods += [
            *pods(name, 1, cpu=1, node=f"n{number}"),
            pod(f"{name}-1", group=name, cpu=1, priority=9),
        ]
    return scenario(
        conf=CONFS[seed % len(CONFS)],
        nodes=[node(f"n{number}", cpu=8, memory="64Gi") for number in range(NODES)],
        queues=[queue(name, deserved={"cpu": 8 + 8 * dice.below(3)}) for name in names],
        priorityclasses=[priority_class("mid", 5), priority_class("high", 10)],
        podgroups=groups,
        pods=all_pods,
    )


@pytest.mark.parametrize("seed", trials(SEEDS, always=24))
def test_kinds_that_are_tried_once_do_not_change_decisions(seed: int) -> None:
    document = crowded_queues(seed)
    assert decided(document, reasons=False) == decided(document, reasons=True)


def test_generated_clusters_skip_attempts_next_to_evictions(monkeypatch: pytest.MonkeyPatch) -> None:
    seen, is_hopeless = Counter[str](), Preempt._is_hopeless

    def counted(self: Preempt, task: TaskInfo) -> bool:
        answer = is_hopeless(self, task)
        seen["skipped" if answer else "tried"] += 1
        return answer

    monkeypatch.setattr(Preempt, "_is_hopeless", counted)
    for seed in range(24):
        session = session_of(crowded_queues(seed))
        session.reasons = False
        before = seen["skipped"]
        act(session)
        evicts = any(decision.reason == "preempt" for decision in session.decisions)
        seen["evicting"] += evicts
        seen["both"] += evicts and seen["skipped"] > before
    assert min(seen.values()) > 4, seen
