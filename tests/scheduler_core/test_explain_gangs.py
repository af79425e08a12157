"""Why a gang action evicted nothing, or chose its victims: one situation for every check that can fail."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given

from scheduler_core import explain, simulate_document
from tests.builders import Object, conf, node, podgroup, pods, priority_class, queue, scenario
from tests.scheduler_core.clusters import SEARCH, clusters, configurations

ACTIONS = ("gangpreempt", "gangreclaim")
TIER = ["priority", "gang", "conformance"]


def full(
    action: str, *, waiting: int = 2, tiers: Any = (TIER,), arguments: Any = None, **changes: Any
) -> Object:
    """Return two full nodes: job `spare` on n1 may lose one pod, job `tight` on n2 only all of its pods."""
    holders = "a" if action == "gangpreempt" else "b"
    parts: Object = {
        "nodes": [node("n1", cpu=2, memory="8Gi"), node("n2", cpu=2, memory="8Gi")],
        "queues": [queue("a"), queue("b")],
        "podgroups": [
            podgroup("spare", queue=holders, phase="Running", priority_class="low"),
            podgroup("tight", queue=holders, phase="Running", min_member=2, priority_class="low"),
            podgroup("new", queue="a", min_member=waiting, priority_class="high"),
        ],
        "pods": [
            *pods("spare", 2, node="n1", cpu=1, memory="1Gi"),
            *pods("tight", 2, node="n2", cpu=1, memory="1Gi"),
            *pods("new", waiting, cpu=1, memory="1Gi"),
        ],
        "priorityclasses": [priority_class("low", 10), priority_class("high", 100)],
        "conf": conf(action, *tiers, **{action: arguments or {}}),
        **changes,
    }
    return scenario(**parts)


def checklist_of(document: Object, action: str) -> Object:
    result = simulate_document(document)
    (entry,) = explain.reclaim_checklist(document, result, "new")
    listed: Object = next(listed for listed in entry["actions"] if listed["action"] == action)
    return listed


def sentence(listed: Object, name: str) -> str:
    return next(str(check["reason"]["sentence"]) for check in listed["checks"] if check["id"] == name)


@pytest.mark.parametrize("action", ACTIONS)
def test_unobstructed_gang_action_evicts_and_passes_every_check(action: str) -> None:
    listed = checklist_of(full(action), action)
    assert (listed["evicted"], listed["stopped_at"]) == (3, "")
    assert sentence(listed, "check.fit") == "Evicting 3 pods makes room for 2 pods of the job."


def test_gang_action_is_listed_only_if_configured() -> None:
    document = full("gangpreempt")
    (entry,) = explain.reclaim_checklist(document, simulate_document(document), "new")
    assert [listed["action"] for listed in entry["actions"]] == ["reclaim", "preempt", "gangpreempt"]


@pytest.mark.parametrize("action", ACTIONS)
def test_job_that_was_not_enqueued_stops_at_check_enqueued(action: str) -> None:
    document = full(action)
    document["podgroups"][2]["status"]["phase"] = "Pending"
    document["podgroups"][2]["spec"]["minResources"] = {"cpu": "9"}
    document["scheduler_conf"] = conf(f"enqueue, {action}", [*TIER, "capacity"])
    document["queues"][-2]["spec"]["capability"] = {"cpu": "1"}
    assert checklist_of(document, action)["stopped_at"] == "check.enqueued"


@pytest.mark.parametrize("action", ACTIONS)
def test_job_with_min_member_zero_stops_at_check_starving(action: str) -> None:
    document = full(action)
    document["podgroups"][2]["spec"]["minMember"] = 0
    assert checklist_of(document, action)["stopped_at"] == "check.starving"


@pytest.mark.parametrize("action", ACTIONS)
def test_job_with_only_best_effort_pods_stops_at_check_may_evict(action: str) -> None:
    document = full(action)
    for entry in document["pods"][4:]:
        entry["spec"]["containers"][0]["resources"] = {}
    listed = checklist_of(document, action)
    assert listed["stopped_at"] == "check.may-evict"
    assert "none that requests anything is pending without a scheduling gate" in sentence(
        listed, "check.may-evict"
    )


def test_queue_that_may_not_reclaim_stops_at_check_may_evict() -> None:
    queues = [queue("a", deserved={"cpu": 1}), queue("b")]
    listed = checklist_of(
        full("gangreclaim", tiers=(TIER, ["proportion"]), queues=queues, waiting=4), "gangreclaim"
    )
    assert listed["stopped_at"] == "check.may-evict"
    assert sentence(listed, "check.may-evict").startswith("Queue a may not reclaim: ")


NOBODY = {
    "of other queues": ("gangpreempt", lambda document: owners(document, queue="b")),
    "of jobs without a lower priority": (
        "gangpreempt",
        lambda document: owners(document, priorityClassName="high"),
    ),
    "of the same queue": ("gangreclaim", lambda document: owners(document, queue="a")),
    "of queues that are not reclaimable": (
        "gangreclaim",
        lambda document: document["queues"][-1]["spec"].update(reclaimable=False),
    ),
    "not preemptable": ("gangpreempt", lambda document: stay(document)),
}


def owners(document: Object, **spec: str) -> None:
    for group in document["podgroups"][:2]:
        group["spec"].update(spec)


def stay(document: Object) -> None:
    for group in document["podgroups"][:2]:
        group["metadata"]["annotations"] = {"volcano.sh/preemptable": "false"}


@pytest.mark.parametrize(("why", "case"), NOBODY.items(), ids=NOBODY.keys())
def test_missing_candidates_stop_at_check_candidates(why: str, case: Any) -> None:
    action, change = case
    document = full(action)
    change(document)
    listed = checklist_of(document, action)
    assert listed["stopped_at"] == "check.candidates"
    assert sentence(listed, "check.candidates") == f"No candidates on any node: 4 {why}."


@pytest.mark.parametrize("action", ACTIONS)
def test_votes_that_refuse_every_candidate_stop_at_check_votes(action: str) -> None:
    document = full(action, tiers=(["gang", "conformance"],))
    for entry in document["pods"][:4]:
        entry["spec"]["priorityClassName"] = "system-node-critical"
    listed = checklist_of(document, action)
    assert listed["stopped_at"] == "check.votes"
    assert sentence(listed, "check.votes") == (
        "None of the 4 candidates may be evicted: conformance refuses 4 "
        "(critical for the cluster: priority class system-node-critical)."
    )


@pytest.mark.parametrize("action", ACTIONS)
def test_allow_whole_bundle_off_stops_at_check_gang(action: str) -> None:
    listed = checklist_of(full(action, arguments={"allowWholeBundle": False}), action)
    assert listed["stopped_at"] == "check.gang"
    assert sentence(listed, "check.gang") == (
        "3 pods of 2 jobs stay, or the gang would fall below minMember, and allowWholeBundle is off, so that "
        "no gang may be broken."
    )
    assert sentence(listed, "check.fit") == "Even then all nodes together lack 1 core."


@pytest.mark.parametrize("action", ACTIONS)
def test_gang_with_one_protected_pod_is_not_broken(action: str) -> None:
    document = full(action, waiting=3)
    document["pods"][3]["spec"]["priorityClassName"] = "system-node-critical"
    listed = checklist_of(document, action)
    assert listed["stopped_at"] == "check.gang"
    assert sentence(listed, "check.gang") == (
        "1 pod of 1 job stays, or the gang would fall below minMember, and not all of its pods may be "
        "evicted."
    )


@pytest.mark.parametrize("action", ACTIONS)
def test_insufficient_total_resources_stop_at_check_fit(action: str) -> None:
    listed = checklist_of(full(action, waiting=5), action)
    assert listed["stopped_at"] == "check.fit"
    assert sentence(listed, "check.fit") == "Even then all nodes together lack 1 core."
    check = next(check for check in listed["checks"] if check["id"] == "check.fit")
    assert check["reason"]["numbers"] == {"lacks": {"cpu": 1000}}


@pytest.mark.parametrize("action", ACTIONS)
def test_fragmented_resources_stop_at_check_fit(action: str) -> None:
    document = full(action, waiting=1)
    document["pods"][4] = pods("new", 1, cpu=3, memory="1Gi")[0]
    listed = checklist_of(document, action)
    assert listed["stopped_at"] == "check.fit"
    assert sentence(listed, "check.fit").endswith("not each of them finds a node with room for it.")


def test_full_queue_is_named_as_the_obstacle_to_gangpreempt() -> None:
    document = full("gangpreempt", waiting=1, tiers=(TIER, ["capacity", "predicates"]))
    document["podgroups"][1]["spec"]["queue"] = "b"
    document["queues"][-2]["spec"]["capability"] = {"cpu": "1"}
    document["pods"][4] = pods("new", 1, cpu=2, memory="1Gi")[0]
    listed = checklist_of(document, "gangpreempt")
    assert listed["stopped_at"] == "check.fit"
    assert "but queue a may hold no more cpu" in sentence(listed, "check.fit")


# spared pods


def test_victim_story_lists_spared_pods_on_the_gangs_nodes() -> None:
    document = full("gangreclaim", waiting=1)
    document["pods"][0]["spec"]["priorityClassName"] = "system-node-critical"
    result = simulate_document(document)
    (victim,) = (step["pod"] for step in result["cycles"][0]["decisions"] if step["op"] == "evict")
    explanation = explain.victim_story(document, result, victim)
    assert (victim, explanation["node"], explanation["for"]["pod"]) == ("default/spare-1", "n1", "")
    assert [(entry["pod"], entry["plugin"]) for entry in explanation["spared"]] == [
        ("default/spare-0", "conformance")
    ]
    assert explanation["spared"][0]["reason"]["id"] == "vote.conformance.refuse"


# smallest victim sets


@pytest.mark.parametrize("action", ACTIONS)
def test_victim_story_counts_the_smallest_set_on_the_chosen_nodes(action: str) -> None:
    document = full(action)
    result = simulate_document(document)
    for victim in ("spare-0", "tight-0", "tight-1"):
        smallest = explain.victim_story(document, result, victim)["smallest"]
        assert (smallest["count"], smallest["exact"], smallest["evicted"]) == (2, True, 3)
        assert len(smallest["pods"]) == 2
    assert smallest["reason"]["sentence"] == ("3 pods evicted; 2 would have been enough.")


def test_smallest_set_is_a_lower_bound_above_twenty_distinct_candidates_on_a_node() -> None:
    sizes = [1000 + number for number in range(30)]
    document = full(
        "gangpreempt",
        waiting=1,
        nodes=[node("n1", cpu=sum(sizes) / 1000)],
        podgroups=[
            podgroup("spare", queue="a", min_member=30, phase="Running", priority_class="low"),
            podgroup("new", queue="a", priority_class="high"),
        ],
        pods=[
            *(
                pods("spare", 1, first=number, node="n1", cpu=f"{size}m")[0]
                for number, size in enumerate(sizes)
            ),
            *pods("new", 1, cpu=5),
        ],
    )
    smallest = explain.victim_story(document, simulate_document(document), "spare-0")["smallest"]
    assert (smallest["count"], smallest["exact"], smallest["evicted"]) == (5, False, 30)
    assert smallest["reason"]["sentence"] == "30 pods evicted; at least 5 were needed."


def test_smallest_set_is_a_lower_bound_in_a_full_queue() -> None:
    document = full("gangpreempt", tiers=(TIER, ["capacity", "predicates"]))
    document["queues"][-2]["spec"]["capability"] = {"cpu": "4"}
    document["nodes"].append(node("n3", cpu=2, memory="8Gi"))
    smallest = explain.victim_story(document, simulate_document(document), "tight-0")["smallest"]
    assert smallest["exact"] is False
    assert 1 <= smallest["count"] <= smallest["evicted"]


GANGS = configurations(actions=("allocate", *ACTIONS))


@SEARCH
@given(document=clusters(GANGS))
def test_smallest_victim_set_is_not_larger_than_the_gangs_evicted_set(document: Object) -> None:
    result = simulate_document(document)
    assume("error" not in result)
    for step in result["cycles"][0]["decisions"]:
        if step["op"] == "evict":
            smallest = explain.victim_story(document, result, step["pod"])["smallest"]
            assert 0 <= smallest["count"] <= smallest["evicted"]
            assert len(smallest["pods"]) in (0, smallest["count"])


@SEARCH
@given(document=clusters(GANGS))
def test_first_job_that_evicted_pods_passes_every_check(document: Object) -> None:
    result = simulate_document(document)
    assume("error" not in result)
    for action in ACTIONS:
        first = next((s for s in result["cycles"][0]["explain"]["victims"] if s["action"] == action), None)
        if first is not None and is_first_step(result, action):
            (entry,) = explain.reclaim_checklist(document, result, first["for_job"])
            listed = next(listed for listed in entry["actions"] if listed["action"] == action)
            assert listed["evicted"] > 0
            assert listed["stopped_at"] == "", listed


def is_first_step(result: Object, action: str) -> bool:
    """Return whether the action's first decision is a committed eviction."""
    first = next(step for step in result["cycles"][0]["decisions"] if step["action"] == action)
    return bool(first["op"] == "evict")
