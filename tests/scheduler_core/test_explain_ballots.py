"""Explanations name the plugin that decided on a candidate, and the plugins that were skipped."""

from __future__ import annotations

from typing import Any

from scheduler_core import explain, simulate_document
from tests.builders import Object, conf, node, pod, podgroup, pods, priority_class, queue, scenario

CLASSES = [priority_class("low", 10), priority_class("high", 100)]
CRITICAL = {"priorityClassName": "system-node-critical"}


def checked(document: Object, action: str, job: str) -> dict[str, str]:
    """Return the sentence of each check of an action for a job."""
    (result,) = explain.reclaim_checklist(document, simulate_document(document), job)
    (entry,) = [entry for entry in result["actions"] if entry["action"] == action]
    return {check["id"]: check["reason"]["sentence"] for check in entry["checks"]}


def spared(document: Object) -> dict[str, Object]:
    """Return the spared candidates of the only cycle, by name."""
    result = simulate_document(document)
    return {entry["pod"].split("/")[1]: entry for entry in result["cycles"][0]["explain"]["spared"]}


def single_pod_gangs(*tiers: Any) -> Object:
    """Return a scenario where every running pod is its own gang, and `rich` deserves 4 of its 6 pods."""
    return scenario(
        nodes=[node("n1", cpu=8, memory="32Gi")],
        queues=[queue("poor", weight=1), queue("rich", weight=1), queue("even", weight=1)],
        podgroups=[
            *(podgroup(f"r{number}", queue="rich", phase="Running") for number in range(6)),
            *(podgroup(f"e{number}", queue="even", phase="Running") for number in range(2)),
            podgroup("new", queue="poor", min_member=3),
        ],
        pods=[
            *(pod(f"r{number}-0", group=f"r{number}", node="n1", cpu=1) for number in range(6)),
            *(pod(f"e{number}-0", group=f"e{number}", node="n1", cpu=1) for number in range(2)),
            *pods("new", 3, cpu=1),
        ],
        conf=conf("allocate, reclaim", *tiers),
    )


def test_refusing_plugin_of_the_next_tier_is_named_if_gang_refuses_all() -> None:
    document = single_pod_gangs(["priority", "gang"], ["proportion", "predicates"])
    kept = spared(document)
    assert kept
    for entry in kept.values():
        assert (entry["tier"], entry["plugin"]) == (2, "proportion")
        assert [ballot["outcome"] for ballot in entry["ballots"]] == ["refused", "decided"]
    victim = next(
        step["pod"] for step in simulate_document(document)["cycles"][0]["decisions"] if step["op"] == "evict"
    )
    story = explain.victim_story(document, simulate_document(document), victim)
    assert story["passed_over"]["sentence"] == "Tier 1 (gang) refused every pod, so tier 2 decided."
    assert [(vote["plugin"], vote["verdict"], vote["counts"]) for vote in story["votes"]] == [
        ("gang", "refuse", False),
        ("proportion", "permit", True),
    ]
    assert {entry["plugin"] for entry in story["spared"]} == {"proportion"}
    (even,) = [entry for entry in story["spared"] if entry["pod"] == "default/e0-0"]
    assert even["reason"]["sentence"] == (
        "proportion: queue even holds no more than it deserves "
        "(tier 1 (gang) refused every pod, so tier 2 decided)"
    )


def test_checklist_names_the_deciding_tier_not_an_overridden_gang_plugin() -> None:
    actual = checked(single_pod_gangs(["priority", "gang"], ["proportion", "predicates"]), "reclaim", "new")
    assert actual["check.votes"] == (
        "3 of 8 candidates may be evicted: tier 1 (gang) refused every pod, so tier 2 decided; "
        "proportion refuses 5 (queue rich would then hold no more than it deserves; "
        "queue even holds no more than it deserves)."
    )
    assert actual["check.gang"] == (
        "No candidate is kept by its gang: tier 1 (gang) refused every pod, so tier 2 decided."
    )


def disjoint(*rest: str) -> Object:
    """Return a scenario where priority accepts only `low` and gang only `wide`; then come plugins `rest`."""
    return scenario(
        nodes=[node("n1", cpu=3, memory="16Gi")],
        queues=[queue("q")],
        podgroups=[
            podgroup("low", queue="q", phase="Running", priority_class="low"),
            podgroup("wide", queue="q", phase="Running", priority_class="high"),
            podgroup("new", queue="q", priority_class="high"),
        ],
        pods=[
            pod("low-0", group="low", node="n1", cpu=1),
            *pods("wide", 2, node="n1", cpu=1),
            *pods("new", 1, cpu=1),
        ],
        priorityclasses=CLASSES,
        conf=conf("preempt", ["priority", "gang", *rest], ["predicates"]),
    )


def test_overruled_refusal_is_explained() -> None:
    """Priority accepts the victim, gang refuses it, conformance accepts it: it is evicted."""
    document = disjoint("conformance")
    result = simulate_document(document)
    (victim,) = [step["pod"] for step in result["cycles"][0]["decisions"] if step["op"] == "evict"]
    story = explain.victim_story(document, result, victim)
    assert {(vote["plugin"], vote["counts"]) for vote in story["votes"]} == {
        ("priority", False),
        ("gang", False),
        ("conformance", True),
    }
    assert "refuse" in {vote["verdict"] for vote in story["votes"]}
    assert story["passed_over"]["sentence"] == (
        "In tier 1 priority and gang agreed on no pod, so Volcano started afresh with conformance."
    )
    assert "tier 1 (conformance) accepted it" in story["reason"]["sentence"]


def test_after_an_empty_intersection_only_later_plugins_spare_a_pod() -> None:
    document = disjoint("conformance")
    document["pods"][1]["spec"].update(CRITICAL)
    kept = spared(document)
    assert {pod: entry["plugin"] for pod, entry in kept.items()} == {"wide-0": "conformance"}


def test_last_voting_tier_is_named_if_no_tier_decides() -> None:
    document = disjoint()
    document["podgroups"][1]["spec"]["minMember"] = 2
    document["scheduler_conf"] = conf("preempt", ["gang"], ["priority", "pdb", "predicates"])
    for entry in spared(document).values():
        assert (entry["tier"], entry["plugin"]) == (2, "pdb")
        assert [ballot["outcome"] for ballot in entry["ballots"]] == ["refused", "refused"]
    actual = checked(document, "preempt", "new")
    assert actual["check.votes"] == (
        "None of the 3 candidates may be evicted: tier 1 (gang) refused every pod, so tier 2 voted; "
        "pdb refuses 3 (pods without labels are never evicted)."
    )


def test_no_pod_may_be_evicted_without_a_plugin_that_votes_on_victims() -> None:
    actual = checked(disjoint_without_votes(), "preempt", "new")
    assert actual["check.votes"] == "The only candidate may not be evicted: no plugin votes on victims."


def disjoint_without_votes() -> Object:
    return scenario(
        nodes=[node("n1", cpu=1)],
        podgroups=[podgroup("old", phase="Running"), podgroup("new", priority_class="high")],
        pods=[*pods("old", 1, node="n1", cpu=1), *pods("new", 1, cpu=1)],
        priorityclasses=CLASSES,
        conf=conf("preempt", [("priority", {"enablePreemptable": False}), "predicates"]),
    )


def one_to_spare() -> Object:
    """Return a scenario where a gang of four has a fifth pod; once that is evicted, tier 2 decides."""
    return scenario(
        nodes=[node("n1", cpu=5, memory="16Gi")],
        queues=[queue("q")],
        podgroups=[
            podgroup("old", queue="q", phase="Running", min_member=4),
            podgroup("new", queue="q", min_member=2),
        ],
        pods=[*pods("old", 5, node="n1", cpu=1), *pods("new", 2, cpu=1)],
        conf=conf("preempt", ["gang"], ["drf", "predicates"]),
    )


def test_checklist_does_not_call_a_pod_safe_that_is_evicted_for_the_same_job() -> None:
    """Gang permits the one spare pod; once that is evicted, tier 1 refuses all, and drf decides."""
    document = one_to_spare()
    result = simulate_document(document)
    assert sum(step["op"] == "evict" for step in result["cycles"][0]["decisions"]) == 2
    actual = checked(document, "preempt", "new")
    assert actual["check.fit"] == "Evicting 2 pods makes room for 2 pods of the job."
    assert actual["check.gang"] == (
        "Gang refuses 4 pods to default/new-0 only: once others are evicted, another tier decides, and 1 of "
        "them is evicted for the job's other pods."
    )


def test_spared_candidate_evicted_for_a_later_pod_is_reported() -> None:
    document = one_to_spare()
    result = simulate_document(document)
    first, second = (step["pod"] for step in result["cycles"][0]["decisions"] if step["op"] == "evict")
    explanation = explain.victim_story(document, result, first)
    actual = {entry["pod"]: entry["reason"]["sentence"] for entry in explanation["spared"]}
    assert actual.pop(second) == "gang: minMember would no longer be met; evicted later for default/new-1"
    assert set(actual.values()) == {"gang: minMember would no longer be met"}


def test_checklist_explains_reclaim_and_preempt_separately() -> None:
    """Queue a has its deserved amount, so reclaim may not evict for its job, but preempt may."""
    document = scenario(
        nodes=[node("n1", cpu=2, memory="8Gi")],
        queues=[queue("a", deserved={"cpu": 1}), queue("b", deserved={"cpu": 1})],
        podgroups=[
            podgroup("low", queue="a", phase="Running", priority_class="low"),
            podgroup("other", queue="b", phase="Running"),
            podgroup("new", queue="a", min_member=2, priority_class="high"),
        ],
        pods=[
            *pods("low", 1, node="n1", cpu=1),
            *pods("other", 1, node="n1", cpu=1),
            *pods("new", 2, cpu=1),
        ],
        priorityclasses=CLASSES,
        conf=conf("reclaim, preempt", ["priority"], ["capacity", "predicates"]),
    )
    sentence = explain.job_story(document, simulate_document(document), "new")["reason"]["sentence"]
    assert "reclaim may not evict for job default/new: " in sentence


# numbers and amounts


def looping() -> Object:
    """Return the loop of issue 4947: an evicted pod immediately borrows again."""
    return scenario(
        nodes=[node("n1", cpu=5, memory="16Gi")],
        queues=[queue("q1", deserved={"cpu": 3}), queue("q2", deserved={"cpu": 5})],
        podgroups=[
            podgroup("one", queue="q1", phase="Running"),
            podgroup("two", queue="q2", phase="Running"),
            podgroup("three", queue="q2", created=1),
        ],
        pods=[
            *pods("one", 1, node="n1", cpu=4),
            *pods("two", 1, node="n1", cpu=1),
            *pods("three", 1, cpu=4),
        ],
        conf=conf("allocate, reclaim", [("gang", {"enableReclaimable": False}), "capacity"], ["predicates"]),
        cycles=8,
    )


def test_pod_evicted_repeatedly_counts_once_in_the_flow() -> None:
    document = looping()
    result = simulate_document(document)
    evicted = [
        step["pod"] for cycle in result["cycles"] for step in cycle["decisions"] if step["op"] == "evict"
    ]
    assert len(evicted) > len(set(evicted)) == 1
    (link,) = explain.flow(document, result)
    assert (link["pods"], link["evictions"], link["amounts"]["cpu"]) == (1, len(evicted), 4000)
    assert link["reason"]["sentence"] == (
        f"Action reclaim evicted 1 pod of queue q1 for queue q2 {len(evicted)} times in all: 4 cores."
    )
    node_reason = explain.node_story(document, result, "n1")["reason"]["sentence"]
    assert node_reason.endswith("1 evicted.")


def test_single_necessary_victim_is_reported_as_minimal() -> None:
    document = looping()
    story = explain.victim_story(document, simulate_document(document), "one-0")
    assert story["smallest"]["reason"]["sentence"] == "1 pod evicted; fewer was impossible on node n1."
    assert story["smallest"]["exact"]
    assert story["surplus_reason"]["sentence"] == "It frees 4 cores, none of it beyond what was needed."


def test_eviction_needed_by_a_full_queue_is_not_reported_as_surplus() -> None:
    """The node has room, but the queue is full, so the eviction in the same queue is needed."""
    document = scenario(
        nodes=[node("n1", cpu=8, memory="16Gi")],
        queues=[queue("q", capability={"cpu": 2})],
        podgroups=[
            podgroup("low", queue="q", phase="Running", priority_class="low"),
            podgroup("new", queue="q", priority_class="high"),
        ],
        pods=[*pods("low", 1, node="n1", cpu=2), *pods("new", 1, cpu=2)],
        priorityclasses=CLASSES,
        conf=conf("preempt", ["priority"], ["capacity", "predicates"]),
    )
    story = explain.victim_story(document, simulate_document(document), "low-0")
    assert story["surplus"]["cpu"] == 0
    assert story["surplus_reason"]["sentence"] == "It frees 2 cores, none of it beyond what was needed."
    assert story["smallest"]["reason"]["sentence"] == "1 pod evicted; fewer was impossible on node n1."


def test_dry_run_eviction_reports_no_smaller_set_and_no_order() -> None:
    """Anti-affinity requires evicting the small pod as well, which resource amounts do not show."""
    repels = {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"labelSelector": {"matchLabels": {"app": "a"}}, "topologyKey": "kubernetes.io/hostname"}
            ]
        }
    }
    document = scenario(
        nodes=[node("n1", cpu=2, memory="16Gi", labels={"kubernetes.io/hostname": "n1"})],
        queues=[queue("q")],
        podgroups=[
            podgroup("low", queue="q", phase="Running", min_member=0, priority_class="low"),
            podgroup("new", queue="q", priority_class="high"),
        ],
        pods=[
            pod("low-0", group="low", node="n1", cpu="500m", labels={"app": "a"}),
            pod("low-1", group="low", node="n1", cpu="1500m"),
            pod("new-0", group="new", cpu="1500m", spec={"affinity": repels}),
        ],
        priorityclasses=CLASSES,
        conf=conf(
            "preempt",
            ["priority"],
            ["predicates"],
            preempt={"enableTopologyAwarePreemption": "true"},
        ),
    )
    story = explain.victim_story(document, simulate_document(document), "low-0")
    assert story["together"] == ["default/low-0", "default/low-1"]
    assert story["smallest"]["reason"]["sentence"] == "2 pods evicted; at least 1 was needed."
    assert story["order"]["reason"]["sentence"] == (
        "In a dry run pod default/new-0 no longer fitted when this pod was restored."
    )


def test_pods_evicted_by_shuffle_have_no_preemptor() -> None:
    document = scenario(
        nodes=[node("n1", cpu=2)],
        podgroups=[podgroup("old", phase="Running")],
        pods=pods("old", 1, node="n1", cpu=1, labels={"app": "a"}),
        poddisruptionbudgets=[
            {
                "metadata": {"name": "b", "namespace": "default"},
                "spec": {"selector": {"matchLabels": {"app": "a"}}},
                "status": {"disruptionsAllowed": 1},
            }
        ],
        conf=conf("shuffle", ["pdb"]),
    )
    story = explain.victim_story(document, simulate_document(document), "old-0")
    assert story["smallest"]["reason"]["sentence"] == (
        "1 pod evicted to be placed elsewhere; no pod waits for the room."
    )


# releases without rollback of evictions


def on_two_nodes(release: str) -> Object:
    """Return a scenario where the node has enough room and also runs a pod of another queue."""
    return scenario(
        nodes=[node("n1", cpu=4, memory="16Gi")],
        queues=[queue("a", deserved={"cpu": 4}), queue("b")],
        podgroups=[
            podgroup("old", queue="b", phase="Running"),
            podgroup("new", queue="a", min_member=2),
        ],
        pods=[*pods("old", 2, node="n1", cpu=1), *pods("new", 2, cpu=1)],
        conf=conf("reclaim", [("gang", {"enableReclaimable": False}), "capacity"], ["predicates"]),
        release=release,
    )


def test_unnecessary_eviction_is_reported() -> None:
    document = on_two_nodes("v1.14.4")
    result = simulate_document(document)
    victims = [step["pod"] for step in result["cycles"][0]["decisions"] if step["op"] == "evict"]
    assert len(victims) == 2
    for victim in victims:
        story = explain.victim_story(document, result, victim)
        assert (story["order"]["place"], story["room"]["cpu"] > 0) == (1, True)
        assert story["smallest"]["reason"]["sentence"] == (
            "1 pod evicted; none was needed, but reclaim of release v1.14.4 evicts at least one."
        )
    newer = simulate_document(on_two_nodes("v1.15.1"))
    assert "evict" not in {step["op"] for step in newer["cycles"][0]["decisions"]}


def test_younger_of_two_tied_jobs_loses_first() -> None:
    document = scenario(
        nodes=[node("n1", cpu=2, memory="16Gi")],
        queues=[queue("q")],
        podgroups=[
            podgroup("older", queue="q", phase="Running", priority_class="low", created=1),
            podgroup("younger", queue="q", phase="Running", priority_class="low", created=2),
            podgroup("new", queue="q", priority_class="high"),
        ],
        pods=[
            *pods("older", 1, node="n1", cpu=1),
            *pods("younger", 1, node="n1", cpu=1),
            *pods("new", 1, cpu=1),
        ],
        priorityclasses=CLASSES,
        conf=conf("preempt", ["priority"], ["predicates"]),
        release="v1.14.4",
    )
    story = explain.victim_story(document, simulate_document(document), "younger-0")
    assert story["order"]["reason"]["sentence"] == (
        "Its job loses pods before the job of default/older-0: all else being equal, the younger one is "
        "evicted first."
    )
