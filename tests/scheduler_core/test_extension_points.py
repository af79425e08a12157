"""How plugin answers combine over the tiers: votes, victims, orders, and the switches that disable them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from scheduler_core.conf import parse_conf
from scheduler_core.framework.error_cache import ErrorCache
from scheduler_core.framework.extension_points import Point, Vote
from scheduler_core.framework.session import Session
from scheduler_core.model.fit import Code, Status
from scheduler_core.victims.selection import select_victims
from tests.builders import Plugin, conf, node, podgroup, pods, queue, register, scenario, session_of
from tests.scheduler_core.states import task_of

PERMIT, ABSTAIN, REJECT = Vote.PERMIT, Vote.ABSTAIN, Vote.REJECT


def opened(*tiers: Sequence[Plugin]) -> Session:
    """Return a session with configured plugins that have no functions registered yet."""
    return session_of(
        scenario(
            nodes=[node("n0", cpu=4), node("n1", cpu=4), node("n2", cpu=4)],
            queues=[queue("a", created=2), queue("b", created=1)],
            podgroups=[podgroup("old", queue="a", created=1), podgroup("new", queue="b", created=2)],
            pods=[*pods("old", 3, node="n0", cpu=1), *pods("new", 2, cpu=1)],
            conf=conf("allocate", *tiers),
        )
    )


def answering(point: Point, tiers: Sequence[Mapping[str, Any]], **switches: bool) -> Session:
    """Return a session where each plugin gives one fixed answer; with None it registers no function."""
    session = opened(*[[(plugin, switches) for plugin in tier] for tier in tiers])
    for tier in tiers:
        for plugin, answer in tier.items():
            if answer is not None:
                register(session, point, plugin, lambda *_question, answer=answer: answer)
    return session


# votes


@dataclass
class Ballot:
    tiers: list[dict[str, Vote | None]]
    want: bool


BALLOTS = {
    "no plugin registered: passed": Ballot([{"x": None}], want=True),
    "all abstain: passed": Ballot([{"x": ABSTAIN}, {"y": ABSTAIN}], want=True),
    "one rejection in a tier decides": Ballot([{"x": PERMIT, "y": REJECT}], want=False),
    "a rejection of the first tier decides": Ballot([{"x": REJECT}, {"y": PERMIT}], want=False),
    "permit overrides rejections of lower tiers": Ballot([{"x": PERMIT}, {"y": REJECT}], want=True),
    "abstention moves to the next tier": Ballot([{"x": ABSTAIN}, {"y": REJECT}], want=False),
    "abstentions beside a permit are ignored": Ballot(
        [{"x": ABSTAIN, "y": PERMIT}, {"z": REJECT}], want=True
    ),
}


@pytest.mark.parametrize("ballot", BALLOTS.values(), ids=BALLOTS.keys())
def test_job_pipelined_combines_votes_over_tiers(ballot: Ballot) -> None:
    session = answering(Point.JOB_PIPELINED, ballot.tiers)
    assert session.plugins.job_pipelined(session.jobs["default/new"]) is ballot.want


@pytest.mark.parametrize("ballot", BALLOTS.values(), ids=BALLOTS.keys())
def test_job_enqueueable_combines_votes_over_tiers(ballot: Ballot) -> None:
    session = answering(Point.JOB_ENQUEUEABLE, ballot.tiers)
    assert (session.plugins.job_enqueueable(session.jobs["default/new"]) is None) is ballot.want


def test_rejection_ends_the_vote_and_names_its_plugin() -> None:
    session = opened(["x", "y", "z"])
    arguments = []

    def answer(plugin: str, vote: Vote) -> None:
        session.registry.add_job_enqueueable(plugin, lambda _job, _why: arguments.append(plugin) or vote)

    answer("x", PERMIT)
    answer("y", REJECT)
    answer("z", PERMIT)
    refusal = session.plugins.job_enqueueable(session.jobs["default/new"])
    assert refusal is not None
    assert refusal["plugin"] == "y"
    assert arguments == ["x", "y"]


# boolean answers


@dataclass
class YesNo:
    tiers: list[dict[str, bool | None]]
    want: bool


STARVING = {
    "no plugin registered: not starving": YesNo([{"x": None}, {"y": None}], want=False),
    "all plugins of the first answering tier must agree": YesNo([{"x": True, "y": False}], want=False),
    "lower tiers are not called": YesNo([{"x": True}, {"y": False}], want=True),
    "tier without answers is skipped": YesNo([{"x": None}, {"y": True}], want=True),
}


@pytest.mark.parametrize("case", STARVING.values(), ids=STARVING.keys())
def test_job_starving_combines_answers_over_tiers(case: YesNo) -> None:
    session = answering(Point.JOB_STARVING, case.tiers)
    assert session.plugins.job_starving(session.jobs["default/new"]) is case.want


READY = {
    "no plugin registered: ready": YesNo([{"x": None}], want=True),
    "one refusal in any tier decides": YesNo([{"x": True}, {"y": False}], want=False),
    "all agree": YesNo([{"x": True}, {"y": True}], want=True),
}


@pytest.mark.parametrize("case", READY.values(), ids=READY.keys())
def test_job_ready_combines_answers_over_tiers(case: YesNo) -> None:
    session = answering(Point.JOB_READY, case.tiers)
    assert session.plugins.job_ready(session.jobs["default/new"]) is case.want


@pytest.mark.parametrize("case", READY.values(), ids=READY.keys())
@pytest.mark.parametrize("point", [Point.ALLOCATABLE, Point.PREEMPTIVE], ids=lambda point: point.label)
def test_allocatable_and_preemptive_require_every_plugin(point: Point, case: YesNo) -> None:
    session = answering(point, case.tiers)
    task = task_of(session, "default-new-0")
    ask = session.plugins.allocatable if point is Point.ALLOCATABLE else session.plugins.preemptive
    refusal = ask(session.queues["a"], task if point is Point.ALLOCATABLE else [task])
    assert (refusal is None) is case.want


OVERUSED = {
    "no plugin registered: not overused": YesNo([{"x": None}], want=False),
    "one plugin of any tier decides": YesNo([{"x": False}, {"y": True}], want=True),
}


@pytest.mark.parametrize("case", OVERUSED.values(), ids=OVERUSED.keys())
def test_overused_combines_answers_over_tiers(case: YesNo) -> None:
    session = answering(Point.OVERUSED, case.tiers)
    assert session.plugins.overused(session.queues["a"]) is case.want


def test_job_valid_returns_the_first_failure() -> None:
    session = answering(Point.JOB_VALID, [{"x": None}, {"y": ("First", "one")}, {"z": ("Second", "two")}])
    assert session.plugins.job_valid(session.jobs["default/new"]) == ("First", "one")


# orders


def test_first_plugin_with_a_preference_orders_jobs() -> None:
    session = opened(["x", "y"], ["z"])
    old, new = session.jobs["default/old"], session.jobs["default/new"]
    session.registry.add_job_order("x", lambda _job: 0)
    session.registry.add_job_order("y", lambda job: job is old)
    session.registry.add_job_order("z", lambda job: job is new)
    assert not session.orders.job_before(old, new)
    assert session.orders.compare_jobs(old, new) > 0


def test_jobs_and_queues_are_ordered_by_age_then_name_by_default() -> None:
    session = opened(["x"])
    assert session.orders.job_before(session.jobs["default/old"], session.jobs["default/new"])
    assert session.orders.queue_before(session.queues["b"], session.queues["a"])
    assert session.orders.queue_before(session.queues["default"], session.queues["root"])


def test_victim_queues_use_the_reverse_queue_order_by_default() -> None:
    session = opened(["x"])
    a, b = session.queues["a"], session.queues["b"]
    assert session.orders.victim_queue_before(a, b, session.queues["root"])
    assert not session.orders.victim_queue_before(b, a, session.queues["root"])


# victims


@dataclass
class Hunt:
    tiers: list[dict[str, list[int] | None]]
    want: list[int]
    tier: int = field(default=1)


HUNTS = {
    "no plugin registered: no victims": Hunt([{"x": None}], want=[], tier=0),
    "plugins of a tier must agree": Hunt([{"x": [0, 1], "y": [1, 2]}], want=[1]),
    "victims keep the order of the first plugin": Hunt([{"x": [2, 0], "y": [0, 2]}], want=[2, 0]),
    "tiers below one with victims are not called": Hunt([{"x": [0, 1]}, {"y": []}], want=[0, 1]),
    "plugin without victims ends the tier": Hunt(
        [{"x": [0, 1], "y": [], "z": [2]}, {"w": [1]}], want=[1], tier=2
    ),
    "empty intersection starts over with the next plugin": Hunt([{"x": [0], "y": [1], "z": [2]}], want=[2]),
    "empty intersection at the end of a tier moves to the next": Hunt(
        [{"x": [0], "y": [1]}, {"z": [2]}], want=[2], tier=2
    ),
    "no victims if every tier refuses": Hunt([{"x": []}, {"y": []}], want=[], tier=0),
}


@pytest.mark.parametrize("hunt", HUNTS.values(), ids=HUNTS.keys())
@pytest.mark.parametrize("point", [Point.PREEMPTABLE, Point.RECLAIMABLE], ids=lambda point: point.label)
def test_victims_are_intersected_within_a_tier(point: Point, hunt: Hunt) -> None:
    session = opened(*[list(tier) for tier in hunt.tiers])
    candidates = [task_of(session, f"default-old-{number}") for number in range(3)]
    for tier in hunt.tiers:
        for plugin, named in tier.items():
            if named is not None:
                accepted = [candidates[number] for number in named]
                register(session, point, plugin, lambda *_question, accepted=accepted: accepted)
    verdict = select_victims(session, point, task_of(session, "default-new-0"), candidates)
    assert verdict.victims == [candidates[number] for number in hunt.want]
    assert verdict.tier == hunt.tier


def test_abstaining_plugin_is_skipped() -> None:
    session = opened(["x", "y"])
    candidates = [task_of(session, "default-old-0")]
    session.registry.add_evictable(Point.PREEMPTABLE, "x", lambda *_question: None)
    session.registry.add_evictable(Point.PREEMPTABLE, "y", lambda *_question: candidates)
    verdict = select_victims(session, Point.PREEMPTABLE, task_of(session, "default-new-0"), candidates)
    assert verdict.victims == candidates


# switches and registration


@pytest.mark.parametrize(
    ("point", "switch"),
    [(point, switch) for point in Point for switch in point.switches],
    ids=lambda value: value.label if isinstance(value, Point) else value,
)
def test_disabled_switch_removes_the_plugins_function(point: Point, switch: str) -> None:
    off = dict.fromkeys(point.switches, False)
    assert answering(point, [{"x": "yes"}]).functions[point] != []
    assert answering(point, [{"x": "yes"}], **off).functions[point] == []
    if len(point.switches) > 1:
        assert answering(point, [{"x": "yes"}], **{switch: False}).functions[point] != []


@pytest.mark.parametrize("point", [p for p in Point if not p.switches], ids=lambda point: point.label)
def test_points_without_a_switch_cannot_be_disabled(point: Point) -> None:
    every_switch = {name: False for other in Point for name in other.switches}
    assert answering(point, [{"x": "yes"}], **every_switch).functions[point] != []


def test_misspelled_switch_is_ignored() -> None:
    session = answering(Point.OVERUSED, [{"x": True}], enableOverused=False)
    assert session.plugins.overused(session.queues["a"])


def test_plugin_listed_twice_is_called_twice_with_its_last_function() -> None:
    session = opened(["x", "x"])
    session.registry.add_overused("x", lambda _queue: True)
    session.registry.add_overused("x", lambda _queue: False)
    assert [answer(None) for answer in session.functions[Point.OVERUSED]] == [False, False]


def test_plugin_in_no_tier_is_not_called() -> None:
    session = opened(["x"])
    session.registry.add_overused("y", lambda _queue: True)
    assert not session.plugins.overused(session.queues["a"])


def test_enable_hierarchy_is_read_from_the_plugins_first_entry() -> None:
    configuration = parse_conf(conf("allocate", [("drf", {"enableHierarchy": True})], ["drf"]))
    assert configuration.hierarchy_enabled("drf")
    assert not configuration.hierarchy_enabled("capacity")


# nodes


def test_first_plugin_that_rejects_a_node_gives_the_status() -> None:
    session = opened(["x"], ["y"])
    table = session.statuses
    first = table.number(Status(Code.UNSCHEDULABLE, "first"))
    second = table.number(Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, "second"))

    def answer(on_nodes: list[int]) -> Any:
        return lambda _task, nodes: np.array(on_nodes, dtype=np.int32)[nodes]

    session.registry.add_predicate("x", answer([first, 0, 0]))
    session.registry.add_predicate("y", answer([second, second, 0]))
    task = task_of(session, "default-new-0")
    nodes, errors = session.placement.predicates.examine(
        task, resources=True, lenient=False, cache=ErrorCache(enabled=True)
    )
    assert nodes.tolist() == [2]
    assert errors.reasons() == {"first": 1, "second": 1}
    nodes, _ = session.placement.predicates.examine(
        task, resources=True, lenient=True, cache=ErrorCache(enabled=True)
    )
    assert nodes.tolist() == [0, 2], "evictions may resolve the first rejection, but not the second"


def test_scores_are_summed_and_ties_go_to_the_first_node_by_name() -> None:
    session = opened(["x"], ["y"])
    everywhere = session.placement.all
    session.registry.add_node_order("x", lambda _task, nodes: np.array([1.0, 3.0, 2.0])[nodes])
    session.registry.add_batch_node_order("y", lambda _task, nodes: np.array([2.0, 0.0, 1.0])[nodes])
    task = task_of(session, "default-new-0")
    assert session.placement.scores(task, everywhere).tolist() == [3.0, 3.0, 3.0]
    assert session.placement.best(task, everywhere) == 0


def test_node_that_one_plugin_cannot_score_gets_no_per_node_scores() -> None:
    session = opened(["x", "y"])
    session.registry.add_node_order("x", lambda _task, nodes: np.array([5.0, np.nan, 5.0])[nodes])
    session.registry.add_node_order("y", lambda _task, nodes: np.array([1.0, 9.0, 1.0])[nodes])
    session.registry.add_batch_node_order("y", lambda _task, nodes: np.array([0.0, 4.0, 0.0])[nodes])
    task = task_of(session, "default-new-0")
    assert session.placement.scores(task, session.placement.all).tolist() == [6.0, 4.0, 6.0]
