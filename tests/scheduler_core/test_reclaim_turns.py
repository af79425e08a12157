"""Reclaim skips turns that would do nothing, if no explanation reports them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest

from scheduler_core.actions.reclaim import Reclaim
from scheduler_core.actions.registry import ACTIONS
from scheduler_core.conf import Arguments
from scheduler_core.framework.lines import InLine
from scheduler_core.framework.session import Session
from scheduler_core.model.job import TaskInfo
from scheduler_core.model.queue import QueueInfo
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
from tests.trials import trials

CONFS = (
    conf("allocate, reclaim", ["priority", "gang", "conformance"], ["predicates", "capacity", "nodeorder"]),
    conf("allocate, reclaim", ["priority", "gang"], ["drf", "predicates", "proportion"]),
    conf("reclaim, allocate", ["gang"], ["predicates", ("capacity", {"enableHierarchy": True})]),
    conf("reclaim, preempt", ["priority", "gang"], ["predicates", "capacity"]),
)
NODES = 6
SEEDS = range(120)


def full_cluster(seed: int) -> Object:
    """Return a scenario where two queues fill all nodes and other queues have waiting jobs of a few kinds."""
    dice = Dice(f"turns {seed}")
    names = [f"q{number}" for number in range(3 + dice.below(4))]
    groups, all_pods = [], []
    for number in range(NODES * 4):
        name = f"runs-{number:02d}"
        groups.append(podgroup(name, queue=names[number % 2], phase="Running", min_member=dice.below(2)))
        all_pods += pods(name, 1, cpu=2, node=f"n{number % NODES}")
    kinds = [(1 + dice.below(3), 1 + dice.below(3), dice.below(2)) for _ in range(1 + dice.below(3))]
    for number in range(10 + dice.below(30)):
        name, (size, cpu, high) = f"waits-{dice.below(90):02d}-{number}", dice.one_of(kinds)
        priority = "high" if high else ""
        groups.append(
            podgroup(
                name, queue=dice.one_of(names[1:]), min_member=size, phase="Inqueue", priority_class=priority
            )
        )
        all_pods += pods(name, size, cpu=cpu, priority=10 * high)
    if dice.below(3) == 0:
        groups.append(podgroup("half", queue=names[-1], min_member=2, phase="Running"))
        all_pods += [*pods("half", 1, cpu=1, node="n0"), pod("half-1", group="half", cpu=1)]
    return scenario(
        conf=CONFS[seed % len(CONFS)],
        nodes=[node(f"n{number}", cpu=8, memory="64Gi") for number in range(NODES)],
        queues=[queue(name, deserved={"cpu": 4 + 4 * dice.below(4)}) for name in names],
        priorityclasses=[priority_class("high", 10)],
        podgroups=groups,
        pods=all_pods,
    )


def decided(document: Object, *, reasons: bool) -> list[Object]:
    session = session_of(document)
    session.reasons = reasons
    act(session)
    return [decision.as_dict() for decision in session.decisions]


def act(session: Session) -> None:
    for action in session.conf.actions:
        session.action = action
        ACTIONS[action](session)


@pytest.mark.parametrize("seed", trials(SEEDS, always=24))
def test_skipped_reclaim_turns_do_not_change_decisions(seed: int) -> None:
    document = full_cluster(seed)
    assert decided(document, reasons=False) == decided(document, reasons=True)


def test_generated_clusters_cover_every_reason_to_skip_a_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    seen, turns = Counter[str](), Reclaim.take_turn

    def take_turn(self: Reclaim, *arguments: object) -> None:
        seen["turns"] += 1
        turns(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Reclaim, "take_turn", take_turn)
    for seed in range(24):
        session = session_of(full_cluster(seed))
        session.reasons = False
        for action in session.conf.actions:
            session.action = action
            if action != "reclaim":
                ACTIONS[action](session)
                continue
            reclaim = Reclaim(session)
            if not reclaim.evicts:
                continue
            queues = reclaim.work.jobs
            seen["jobs"] += sum(len([*jobs.items]) for jobs in queues.values())
            seen["in lines"] += all(isinstance(jobs, InLine) for jobs in queues.values())
            seen["one by one"] += not all(isinstance(jobs, InLine) for jobs in queues.values())
            seen["few queues"] += len(queues) < 3
            seen["many queues"] += len(queues) > 2
            reclaim.run()
            seen["evicting"] += any(decision.op == "evict" for decision in session.decisions)
    assert min(seen.values()) > 1, seen
    assert seen["turns"] < 0.8 * seen["jobs"], seen


def test_skipped_equal_jobs_get_a_turn_after_any_change() -> None:
    """Large pods may evict only after a small pod has."""

    def open_plugin(session: Session, _arguments: Arguments) -> None:
        def preemptive(_queue: QueueInfo, tasks: Sequence[TaskInfo], _why: object) -> bool:
            evicted = any(decision.op == "evict" for decision in session.decisions)
            return evicted or all(task.request.cpu < 2000 for task in tasks)

        session.registry.add_preemptive("late", preemptive, same_for_equal_jobs=True)

    sizes = {"w1": 2, "w2": 2, "w3": 1, "w4": 2}
    document = scenario(
        conf=conf("reclaim", ["gang", "late"], ["predicates", "capacity"]),
        nodes=[node(f"n{number}", cpu=4, memory="64Gi") for number in range(2)],
        queues=[queue("rich", deserved={"cpu": 1}), queue("poor", deserved={"cpu": 4})],
        podgroups=[podgroup("runs", queue="rich", phase="Running", min_member=0)]
        + [podgroup(name, queue="poor", phase="Inqueue", min_member=1) for name in sizes],
        pods=[pod(f"r{number}", group="runs", cpu=2, node=f"n{number % 2}") for number in range(4)]
        + [pod(name, group=name, cpu=cpu) for name, cpu in sizes.items()],
    )
    session = session_of(document, further={"late": open_plugin})
    session.reasons = False
    act(session)
    assert [decision.pod for decision in session.decisions if decision.op == "pipeline"] == [
        "default/w3",
        "default/w4",
    ]
