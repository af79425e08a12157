"""Why reclaim or preempt did nothing: one situation for every check that can fail."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from scheduler_core import explain, simulate_document
from tests.builders import Object, conf, node, podgroup, pods, priority_class, queue, scenario
from tests.scheduler_core.clusters import SEARCH, clusters, configurations
from tests.scheduler_core.recheck import case_of, recheck_checklists

RECLAIM = conf("allocate, reclaim", ["gang", "conformance"], ["predicates", "capacity"])


def borrowed(**changes: Any) -> Object:
    """Return a scenario where queue `b` holds what queue `a` deserves; `changes` replace parts of it."""
    parts: Object = {
        "nodes": [node("n1", cpu=4, memory="16Gi")],
        "queues": [queue("a", deserved={"cpu": 2}), queue("b", deserved={"cpu": 2})],
        "podgroups": [podgroup("old", queue="b", phase="Running"), podgroup("new", queue="a", min_member=2)],
        "pods": [*pods("old", 4, node="n1", cpu=1), *pods("new", 2, cpu=1)],
        "conf": RECLAIM,
        **changes,
    }
    return scenario(**parts)


def checklist_of(document: Object, action: str = "reclaim") -> Object:
    result = simulate_document(document)
    (entry,) = explain.reclaim_checklist(document, result, "new")
    return next(listed for listed in entry["actions"] if listed["action"] == action)


def sentence(listed: Object, name: str) -> str:
    return next(str(check["reason"]["sentence"]) for check in listed["checks"] if check["id"] == name)


def test_unobstructed_reclaim_evicts_and_passes_every_check() -> None:
    listed = checklist_of(borrowed())
    assert (listed["evicted"], listed["stopped_at"]) == (2, "")
    assert sentence(listed, "check.fit") == "Evicting 2 pods makes room for 2 pods of the job."


def test_unconfigured_action_stops_at_check_action() -> None:
    assert checklist_of(borrowed(), "preempt")["stopped_at"] == "check.action"


def test_job_that_was_not_enqueued_stops_at_check_enqueued() -> None:
    document = borrowed(
        queues=[queue("a", state="Closed"), queue("b")],
        podgroups=[
            podgroup("old", queue="b", phase="Running"),
            podgroup("new", queue="a", phase="Pending", min_resources={"cpu": 1}),
        ],
        conf=conf("enqueue, reclaim", ["gang"], ["predicates", "capacity"]),
    )
    assert checklist_of(document)["stopped_at"] == "check.enqueued"


def test_job_with_min_member_placed_stops_at_check_starving() -> None:
    document = borrowed(
        podgroups=[podgroup("old", queue="b", phase="Running"), podgroup("new", queue="a", phase="Running")],
        pods=[
            *pods("old", 3, node="n1", cpu=1),
            *pods("new", 1, node="n1", cpu=1),
            *pods("new", 1, first=1, cpu=1),
        ],
    )
    assert checklist_of(document)["stopped_at"] == "check.starving"


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        (
            {"queues": [queue("a"), queue("b", deserved={"cpu": 4})]},
            "Queue a may not reclaim: queue a has all that it deserves of everything requested.",
        ),
        (
            {
                "pods": [
                    *pods("old", 4, node="n1", cpu=1),
                    *pods("new", 2, cpu=1, spec={"preemptionPolicy": "Never"}),
                ]
            },
            "Pod default/new-0 has preemptionPolicy Never.",
        ),
    ],
)
def test_queue_or_pod_that_may_not_evict_stops_at_check_may_evict(changes: Object, text: str) -> None:
    listed = checklist_of(borrowed(**changes))
    assert listed["stopped_at"] == "check.may-evict"
    assert sentence(listed, "check.may-evict") == text


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        (
            {"queues": [queue("a", deserved={"cpu": 2}), queue("b", reclaimable=False)]},
            "4 of queues that are not reclaimable",
        ),
        (
            {"pods": [*pods("old", 4, node="n1", cpu=1, preemptable=False), *pods("new", 2, cpu=1)]},
            "4 not preemptable",
        ),
        (
            {
                "pods": [
                    *pods("old", 4, node="n1", cpu=1),
                    *pods("new", 2, cpu=1, spec={"nodeSelector": {"zone": "none"}}),
                ]
            },
            "No node would accept pod default/new-0, whatever is evicted.",
        ),
    ],
)
def test_missing_candidates_stop_at_check_candidates(changes: Object, text: str) -> None:
    listed = checklist_of(borrowed(**changes))
    assert listed["stopped_at"] == "check.candidates"
    assert text in sentence(listed, "check.candidates")


def test_votes_that_refuse_every_candidate_stop_at_check_votes() -> None:
    document = borrowed(
        podgroups=[
            podgroup("old", queue="b", phase="Running", min_member=4),
            podgroup("new", queue="a", min_member=2),
        ],
        conf=conf("allocate, reclaim", ["gang", "capacity"], ["predicates"]),
    )
    listed = checklist_of(document)
    assert listed["stopped_at"] == "check.votes"
    assert sentence(listed, "check.votes") == (
        "None of the 4 candidates may be evicted: gang refuses 4 (minMember would no longer be met)."
    )
    assert sentence(listed, "check.gang") == "4 pods must stay, or default/old would fall below minMember."


def test_room_for_only_part_of_the_gang_stops_at_check_gang() -> None:
    document = borrowed(
        podgroups=[podgroup("old", queue="b", phase="Running"), podgroup("new", queue="a", min_member=4)],
        pods=[*pods("old", 4, node="n1", cpu=1), *pods("new", 4, cpu=1)],
        queues=[queue("a", deserved={"cpu": 4}), queue("b")],
        conf=conf("allocate, reclaim", ["gang", "capacity"], ["predicates"]),
    )
    listed = checklist_of(document)
    assert listed["stopped_at"] == "check.gang"
    assert "Evictions make room for 3 of the 4 pods that the job still needs to run together" in sentence(
        listed, "check.fit"
    )


def test_node_that_evictions_cannot_free_enough_stops_at_check_fit() -> None:
    document = borrowed(
        nodes=[node("n1", cpu=4, memory="16Gi"), node("n2", cpu=4, memory="8Gi")],
        podgroups=[podgroup("old", queue="b", phase="Running"), podgroup("new", queue="a")],
        pods=[*pods("old", 4, node="n1", cpu=1), *pods("new", 1, cpu=1, memory="20Gi")],
    )
    listed = checklist_of(document)
    assert listed["stopped_at"] == "check.fit"
    assert "n1 comes closest and lacks 4 GiB" in sentence(listed, "check.fit")


def test_full_queue_is_named_as_the_obstacle_to_preemption() -> None:
    document = scenario(
        nodes=[node("n1", cpu=8, memory="16Gi")],
        queues=[queue("q", capability={"cpu": 2})],
        podgroups=[
            podgroup("old", queue="q", phase="Running"),
            podgroup("new", queue="q", priority_class="high"),
        ],
        pods=[
            *pods("old", 1, node="n1", cpu=1),
            *pods("new", 1, cpu=3, spec={"priorityClassName": "high"}),
        ],
        priorityclasses=[priority_class("high", 1000)],
        conf=conf("allocate, preempt", ["priority"], ["predicates", "capacity"]),
    )
    listed = checklist_of(document, "preempt")
    assert "but queue q may hold no more cpu" in sentence(listed, "check.fit")


def test_checklist_without_a_job_lists_every_starving_job() -> None:
    document = borrowed(conf=conf("allocate", ["gang"], ["predicates", "capacity"]))
    result = simulate_document(document)
    assert [entry["job"] for entry in explain.reclaim_checklist(document, result)] == ["default/new"]


@SEARCH
@given(document=clusters(configurations(actions=("enqueue", "allocate", "backfill", "preempt", "reclaim"))))
def test_job_that_evicted_pods_passes_every_check(document: Object) -> None:
    """The checklist sees the cluster at the job's turn, after all earlier jobs."""
    result = simulate_document(document)
    if "error" in result:
        return
    for action in ("reclaim", "preempt"):
        steps = [step for step in result["cycles"][0]["decisions"] if step["action"] == action]
        for pod in sorted({step["for"] for step in steps if step.get("for")}):
            job = explain.pod_story(document, result, pod)["job"]
            (entry,) = explain.reclaim_checklist(document, result, job)
            listed = next(listed for listed in entry["actions"] if listed["action"] == action)
            assert listed["evicted"] > 0
            if action == "reclaim":
                assert listed["stopped_at"] == "", listed


# turns and whole gangs


def late() -> Object:
    """Return a scenario where another job of `a` reclaims all that `b` can lose before the turn of `new`."""
    return borrowed(
        podgroups=[
            podgroup("old", queue="b", phase="Running"),
            podgroup("first", queue="a"),
            podgroup("new", queue="a", min_member=1, created=1),
        ],
        pods=[*pods("old", 4, node="n1", cpu=1), *pods("first", 1, cpu=1), *pods("new", 1, cpu=1)],
        queues=[queue("a", deserved={"cpu": 2}), queue("b", deserved={"cpu": 3})],
        conf=conf("allocate, reclaim", ["capacity"], [("gang", {"enableReclaimable": False}), "predicates"]),
    )


def test_job_served_too_late_stops_at_check_turn() -> None:
    listed = checklist_of(late())
    assert (listed["evicted"], listed["stopped_at"]) == (0, "check.turn")
    assert listed["conclusion"]["sentence"] == (
        "1 other job had its turn before, and reclaim evicted 1 pod for it; in the first turn reclaim would "
        "have evicted 1 pod for this job and made room for 1 pod."
    )


def test_job_that_is_not_enqueued_is_checked_with_its_whole_gang() -> None:
    """Room for one pod does not help a gang of eight."""
    document = borrowed(
        nodes=[node("n1", cpu=8, memory="16Gi")],
        queues=[queue("a", deserved={"cpu": 8}, capability={"cpu": 4}), queue("b", deserved={"cpu": 4})],
        podgroups=[
            podgroup("old", queue="b", phase="Running"),
            podgroup("new", queue="a", min_member=8, min_resources={"cpu": 8}, phase="Pending"),
        ],
        pods=[*pods("old", 8, node="n1", cpu=1), *pods("new", 8, cpu=1)],
        conf=conf("enqueue, allocate, reclaim", ["gang", "conformance"], ["predicates", "capacity"]),
    )
    listed = checklist_of(document)
    assert listed["stopped_at"] == "check.enqueued"
    assert sentence(listed, "check.fit") == (
        "Evictions make room for 4 of the 8 pods that the job still needs to run together; pod default/new-4 "
        "finds none: queue a may hold no more cpu."
    )
    assert not listed["checks"][-1]["passed"]


def test_checklist_says_if_evictions_would_help_a_job_that_is_not_enqueued() -> None:
    document = borrowed(
        podgroups=[
            podgroup("old", queue="b", phase="Running"),
            podgroup("new", queue="a", min_member=2, min_resources={"cpu": 2}, phase="Pending"),
        ],
        conf=conf("enqueue, reclaim", ["gang", "conformance"], ["predicates", "capacity", "overcommit"]),
        nodes=[node("n1", cpu=4, memory="16Gi")],
    )
    listed = checklist_of(document)
    assert listed["stopped_at"] == "check.enqueued"
    assert sentence(listed, "check.fit") == "Evicting 2 pods makes room for 2 pods of the job."


@SEARCH
@given(document=clusters(configurations(actions=("allocate", "reclaim", "preempt", "gangreclaim"))))
def test_checklist_without_evictions_always_names_a_cause(document: Object) -> None:
    case = case_of(document)
    if case is not None:
        list(recheck_checklists(case))
