"""Every proposed change for a waiting job is minimal, is sufficient, and lists its side effects."""

from __future__ import annotations

import gzip
import json
import re
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from scheduler_core import explain, prepare, simulate_document
from scheduler_core.explain import Limits
from scheduler_core.explain.cycle_view import CycleView
from scheduler_core.explain.effects import effect_text
from scheduler_core.explain.extent import extent
from scheduler_core.explain.pending import diagnosis
from scheduler_core.explain.remedies import remedies
from scheduler_core.explain.remedies.configuration import tier_remedies
from scheduler_core.explain.remedies.waiting import Waiting
from scheduler_core.model.pod import pod_request
from tests.builders import Object, conf, job, node, pod, podgroup, pods, priority_class, queue, scenario
from tests.needs import unavailable
from tests.scheduler_core.answers import gang_in_the_first_tier
from tests.scheduler_core.clusters import SEARCH, clusters, configurations
from tests.scheduler_core.unblocking_trial import Figures, edited, entries, examine, is_served
from tests.shared import SHARED

FEW = settings(parent=SEARCH, max_examples=max(2, SEARCH.max_examples // 5))
EVICTING = configurations(actions=("enqueue", "allocate", "backfill", "preempt", "reclaim"))
GATED = {"schedulingGates": [{"name": "wait"}]}
SIMPLE = conf("allocate", ["gang"], ["predicates", "proportion"])
PER_FILE = 40
"""Scenarios of each golden file in the long trial."""


def offers(document: Object, job: str = "j", **limits: Any) -> dict[str, list[Object]]:
    """Return the proposals for a job, by kind of change."""
    result = explain.unblocking(document, job, prepare(document).simulate, Limits(**limits))
    found: dict[str, list[Object]] = {}
    for offer in result["changes"]:
        found.setdefault(offer["id"], []).append(offer)
    return found


def sentence(offer: Object) -> str:
    text: str = offer["reason"]["sentence"]
    return text


# properties of generated and golden clusters


@FEW
@given(document=clusters(EVICTING))
def test_every_proposal_is_sufficient_minimal_and_lists_its_side_effects(document: Object) -> None:
    figures = Figures()
    examine(document, figures, jobs=2, brute=False)
    assert not figures.false, str(figures)


def golden(per_file: int, step: int) -> Iterator[Object]:
    """Yield scenarios of each `step`-th golden file, evenly spread."""
    paths = sorted((SHARED / "golden").glob("*.jsonl.gz"))
    if not paths:
        unavailable(f"{SHARED / 'golden'} has no recorded scenarios")
    for path in paths[::step]:
        yield from spread(path, per_file)


def spread(path: Path, count: int) -> Iterator[Object]:
    lines = gzip.open(path, "rt", encoding="utf-8").readlines()  # noqa: SIM115 - read at once
    for line in lines[:: max(1, len(lines) // count)][:count]:
        yield json.loads(line)["scenario"]


def trial(per_file: int, jobs: int, step: int = 1) -> Figures:
    figures = Figures()
    for document in golden(per_file, step):
        examine(document, figures, jobs=jobs)
    sys.stdout.write(f"{figures}\n")
    return figures


def test_proposals_for_golden_scenarios_are_true_and_cover_simple_edits() -> None:
    figures = trial(per_file=1, jobs=1, step=4)
    assert not figures.false, str(figures)
    assert figures.coverage >= 0.97, str(figures)


@pytest.mark.long
def test_proposals_for_many_golden_scenarios_are_true_and_cover_simple_edits() -> None:
    figures = trial(per_file=PER_FILE, jobs=2)
    assert not figures.false, str(figures)
    assert figures.coverage >= 0.97, str(figures)


@pytest.mark.long
def test_search_in_a_cluster_of_a_hundred_nodes_takes_seconds() -> None:
    """A gang of twelve large pods is added to each recorded cluster; processor time is measured."""
    table = []
    for document in spread(SHARED / "golden" / "scale.jsonl.gz", 10):
        name = next(
            one["metadata"]["name"] for one in document["queues"] if one["metadata"]["name"] != "root"
        )
        document["podgroups"].append(podgroup("j", queue=name, min_member=12))
        document["pods"] += pods("j", 12, cpu=30, memory="64Gi")
        prepared = prepare(document)
        times: list[float] = []
        limits = Limits(milliseconds=5000, timer=lambda: time.process_time() * 1000)
        began = time.process_time()
        for answer in explain.answers(document, "j", prepared.simulate, limits):
            actual = answer
            times.append(time.process_time() - began)
        assert actual["changes"], document["name"]
        table.append(
            (len(document["nodes"]), times[0], times[-1], actual["simulations"], len(actual["changes"]))
        )
    head = "nodes  first answer  all answers  simulations  offers\n"
    lines = (
        f"{n:5} {first:11.2f} s {last:10.2f} s {count:12} {found:7}" for n, first, last, count, found in table
    )
    sys.stdout.write(head + "\n".join(lines) + "\n")
    assert statistics.median(row[1] for row in table) <= 1
    assert max(row[2] for row in table) <= 6


# side effects


def test_side_effects_name_a_job_that_loses_elastic_pods() -> None:
    """Job j2 keeps its minMember of one, but loses three of its seven pods."""
    document = scenario(
        nodes=[node("n1", cpu=8)],
        podgroups=[podgroup("j2", min_member=1), podgroup("j", min_member=4, created=10)],
        pods=[*pods("j2", 7, cpu=1), *pods("j", 4, cpu=1)],
        priorityclasses=[priority_class("high", 10)],
        conf=conf(
            "allocate", ["priority", ("gang", {"enableJobOrder": False})], ["predicates", "proportion"]
        ),
    )
    (offer,) = offers(document)["unblock.priority"]
    assert sentence(offer).endswith("job default/j then runs at once; default/j2 gets 4 pods instead of 7.")
    assert (offer["stopped"], offer["cost"]) == ([], 3)


def test_side_effects_name_a_job_that_moves_to_another_node() -> None:
    document = scenario(
        nodes=[node("n1", cpu=4), node("n2", cpu=2)],
        podgroups=[podgroup("j2", created=10), podgroup("j", min_member=2)],
        pods=[
            *pods("j2", 1, cpu=2),
            *pods(
                "j",
                2,
                cpu=2,
                spec={"nodeSelector": {"kubernetes.io/hostname": "n1"}, "schedulingGates": [{"name": "w"}]},
            ),
        ],
        conf=SIMPLE,
    )
    (offer,) = offers(document)["unblock.gates"]
    assert "1 pod of default/j2 runs on another node" in sentence(offer)
    assert "nothing else changes" not in sentence(offer)


def test_proposal_with_the_least_cost_for_others_comes_first() -> None:
    document = scenario(
        nodes=[node("n1", cpu=4)],
        queues=[queue("a", weight=1), queue("b", weight=1)],
        podgroups=[podgroup("old", queue="b", phase="Running"), podgroup("j", queue="a", min_member=3)],
        pods=[*pods("old", 4, node="n1", cpu=1), *pods("j", 3, cpu=1)],
        conf=conf("allocate, reclaim", ["gang", "conformance"], ["predicates", "proportion"]),
    )
    result = explain.unblocking(document, "j", prepare(document).simulate)
    costs = [offer["cost"] for offer in result["changes"]]
    assert costs == sorted(costs)
    assert costs[0] == 0 < costs[-1]


def test_smaller_of_two_equally_costly_proposals_comes_first() -> None:
    """The queue would need twelve times its deserved amount; one more node is also enough."""
    document = scenario(
        nodes=[node("n1", cpu=12), node("n2", cpu=12)],
        queues=[queue("a", deserved={"cpu": "1"}), queue("b", deserved={"cpu": "24"})],
        podgroups=[podgroup("old", queue="b", phase="Running"), podgroup("j", queue="a", min_member=1)],
        pods=[*pods("old", 2, node="n1", cpu=12), *pods("j", 1, cpu=12)],
        conf=conf("allocate, reclaim", ["gang", "conformance"], ["predicates", "capacity"]),
    )
    document["pods"][1]["spec"]["nodeName"] = "n2"
    result = explain.unblocking(document, "j", prepare(document).simulate)
    ranked = [(offer["cost"], extent(offer["changes"])) for offer in result["changes"]]
    assert ranked == sorted(ranked)
    assert len({rank[1] for rank in ranked}) > 1


def test_proposal_says_after_evictions_only_if_pods_are_evicted() -> None:
    """The only room is that of pods that are already terminating."""
    document = scenario(
        nodes=[node("n1", cpu=4)],
        podgroups=[podgroup("old", phase="Running"), podgroup("j", min_member=4)],
        pods=[
            *pods("old", 4, node="n1", cpu=1, deleting=True),
            *pods("j", 4, cpu=1, spec={"schedulingGates": [{"name": "w"}]}),
        ],
        conf=SIMPLE,
    )
    (offer,) = offers(document)["unblock.gates"]
    assert offer["runs"] == "after terminations"
    assert "then runs after terminations; nothing else changes." in sentence(offer)


def test_evictions_of_another_job_on_another_node_are_not_what_the_job_waits_for() -> None:
    def on(name: str, **more: Any) -> Object:
        return {"nodeSelector": {"kubernetes.io/hostname": name}, **more}

    document = scenario(
        nodes=[node("n0", cpu=2), node("n1", cpu=2)],
        queues=[queue("a")],
        priorityclasses=[priority_class("high", 1000)],
        podgroups=[
            podgroup("old", queue="a", phase="Running"),
            podgroup("low", queue="a", phase="Running"),
            podgroup("preempts", queue="a", priority_class="high"),
            podgroup("j", queue="a"),
        ],
        pods=[
            pod("old-0", group="old", node="n0", deleting=True, cpu=2),
            pod("low-0", group="low", node="n1", cpu=2),
            pod("preempts-0", group="preempts", priority=1000, spec=on("n1"), cpu=2),
            pod("j-0", group="j", spec=on("n0", **GATED), cpu=2),
        ],
        conf=conf("allocate, preempt", ["priority", "conformance"], ["predicates", "proportion"]),
    )
    assert "evict" in [entry["op"] for entry in simulate_document(document)["cycles"][0]["decisions"]]
    [offer] = offers(document, "default/j")["unblock.gates"]
    assert offer["runs"] == "after terminations"


def test_proposal_says_that_a_pipelined_job_is_never_bound() -> None:
    """Action preempt pipelines to idle room as well, but without action allocate nothing binds there."""
    document = scenario(
        nodes=[node("n1", cpu=4)],
        podgroups=[podgroup("j")],
        pods=pods("j", 1, cpu=1),
        conf=conf("reclaim", ["gang"], ["predicates", "proportion"]),
    )
    found = offers(document)["unblock.actions"]
    assert [(offer["runs"], sentence(offer)) for offer in found] == [
        ("at once", "Action allocate added: job default/j then runs at once; nothing else changes."),
        (
            "pipelined",
            "Action preempt added: job default/j is then pipelined, but it does not run within 2 more "
            "sessions; nothing else changes.",
        ),
    ]


def test_proposal_does_not_run_the_rest_of_a_job_at_the_cost_of_its_own_pods() -> None:
    """Action preempt would evict a pod of the job for another of its pods."""
    document = scenario(
        nodes=[node("n1", cpu=2)],
        podgroups=[podgroup("j", phase="Running")],
        pods=[
            *pods("j", 2, node="n1", priority=1, cpu=1),
            *pods("j", 1, first=2, priority=9, cpu=1),
        ],
        conf=conf("allocate", ["priority"], ["predicates", "proportion"]),
    )
    made = {**document, "scheduler_conf": {**document["scheduler_conf"], "actions": "allocate, preempt"}}
    assert evictions(simulate_document(made)), "the job loses a pod"
    assert "Action preempt added" not in str(offers(document))


@pytest.mark.parametrize(
    ("placed", "pipelined", "kept", "text"),
    [
        ((3, 2), (0, 0), 2, "ns/a keeps 2 of its 3 pods"),
        ((3, 2), (0, 0), 1, "ns/a gets 2 pods instead of 3"),
        ((0, 4), (0, 1), 0, "ns/a has 4 placed and 1 pipelined pod instead of 0 and 0"),
        ((1, 1), (2, 2), 1, "other pods or nodes are chosen for ns/a"),
    ],
)
def test_side_effects_name_all_pods_of_a_job(
    placed: tuple[int, int], pipelined: tuple[int, int], kept: int, text: str
) -> None:
    change = {
        "job": "ns/a",
        "placed": dict(zip(("before", "after"), placed, strict=True)),
        "pipelined": dict(zip(("before", "after"), pipelined, strict=True)),
        "kept": kept,
        "elsewhere": 0,
        "phase": {"before": "Running", "after": "Running"},
    }
    effect = {"evicted": [{"job": "ns/a", "queue": "q"}], "spared": [], "repeated": [], "changed": [change]}
    assert effect_text(effect) == f"1 more pod would be evicted (queue q), {text}"


# kinds of change


def test_scheduling_gates_are_removed_from_as_few_pods_as_possible() -> None:
    document = scenario(
        nodes=[node("n1", cpu=8)],
        podgroups=[podgroup("j", min_member=3)],
        pods=[*pods("j", 1, cpu=1), *pods("j", 3, first=1, cpu=1, spec=GATED)],
        conf=SIMPLE,
    )
    (offer,) = offers(document)["unblock.gates"]
    assert sentence(offer) == (
        "Scheduling gate wait removed from 2 pods of job default/j (default/j-1 and default/j-2): "
        "job default/j then runs with 3 of its 4 pods at once; nothing else changes."
    )


def test_proposal_opens_a_closed_queue() -> None:
    document = scenario(
        nodes=[node("n1", cpu=8)],
        queues=[queue("q", state="Closed")],
        podgroups=[podgroup("j", queue="q", phase="Pending")],
        pods=pods("j", 1, cpu=1),
        conf=conf("enqueue, allocate", ["gang"], ["predicates", "proportion"]),
    )
    (offer,) = offers(document)["unblock.state"]
    assert sentence(offer).startswith("Queue q (Closed) opened: job default/j then runs")


def test_proposal_for_a_job_without_pods_gets_it_enqueued() -> None:
    """Its controller creates its pods afterwards, so a proposal is sufficient if the job is enqueued."""
    document = scenario(
        nodes=[node("n1", cpu=8)],
        queues=[queue("q", capability={"cpu": 2})],
        podgroups=[
            podgroup("j", queue="q", phase="Pending", min_member=3, min_resources={"cpu": 3}),
            podgroup("in", queue="q", phase="Pending", min_member=1, min_resources={"cpu": 1}),
        ],
        conf=conf("enqueue, allocate", ["gang"], ["predicates", "capacity"]),
    )
    (offer,) = offers(document)["unblock.capability"]
    assert sentence(offer) == (
        "Capability of queue q: 4 cores instead of 2 cores: job default/j is then enqueued, and its "
        "controller creates its pods; nothing else changes."
    )
    assert offers(document, "in") == {}, "the job is already enqueued"


def test_proposal_makes_another_queue_reclaimable() -> None:
    document = scenario(
        nodes=[node("n1", cpu=4)],
        queues=[queue("a"), queue("b", reclaimable=False), queue("c", reclaimable=False)],
        podgroups=[podgroup("old", queue="b", phase="Running"), podgroup("j", queue="a")],
        pods=[*pods("old", 4, node="n1", cpu=1), *pods("j", 1, cpu=1)],
        conf=conf("allocate, reclaim", ["gang", "conformance"], ["predicates", "proportion"]),
    )
    (offer,) = offers(document)["unblock.reclaimable"]
    assert sentence(offer).startswith("Queue b is reclaimable: job default/j then runs after evictions;")
    assert len(offer["evicted"]) == 1


def test_proposal_lowers_the_minimum_of_a_role() -> None:
    document = scenario(
        nodes=[node("n1", cpu=8)],
        podgroups=[podgroup("j", min_member=3, min_task_member={"a": 1, "b": 2})],
        pods=[pod("j-0", group="j", role="a", cpu=1), *pods("j", 2, first=1, role="a", cpu=1)],
        conf=SIMPLE,
    )
    (offer,) = offers(document)["unblock.roles"]
    assert sentence(offer).startswith(
        "Minimum of role b: 0 instead of 2 (job default/j): job default/j then runs"
    )


def test_requests_are_reduced_minimally_and_devices_stay_whole() -> None:
    document = scenario(
        nodes=[node("n1", cpu=4, gpu=4)],
        podgroups=[podgroup("j", min_member=3)],
        pods=pods("j", 3, cpu=2, gpu=2),
        conf=SIMPLE,
    )
    (offer,) = offers(document)["unblock.request"]
    assert sentence(offer).startswith(
        "Each waiting pod of job default/j requests 1.333 cores instead of 2 cores, "
        "1 GPU instead of 2 GPUs: job default/j then runs at once;"
    )


def test_requests_are_reduced_as_stated_with_sidecars_and_overhead() -> None:
    extra = {
        "initContainers": [
            {"name": "side", "restartPolicy": "Always", "resources": {"requests": {"cpu": "500m"}}},
            {"name": "init", "resources": {"requests": {"cpu": "3"}}},
        ],
        "overhead": {"cpu": "250m"},
    }
    document = scenario(
        nodes=[node("n1", cpu=2)],
        podgroups=[podgroup("j")],
        pods=pods("j", 1, cpu=3, spec=extra),
        conf=SIMPLE,
    )
    (offer,) = offers(document)["unblock.request"]
    assert "requests 2 cores instead of 3.75 cores: job default/j then runs at once;" in sentence(offer)
    (changed,) = edited(document, offer["changes"])["pods"]
    assert pod_request(changed["spec"], default_requests=True).get("cpu") == 2000


def test_proposed_larger_node_has_exactly_the_required_size() -> None:
    document = scenario(
        nodes=[node("n1", cpu=50), node("n2", cpu=50)],
        podgroups=[podgroup("j")],
        pods=pods("j", 1, cpu=70),
        conf=SIMPLE,
    )
    found = offers(document)
    assert sentence(found["unblock.nodes"][0]).startswith(
        "1 more node like n1, but with 70 cores (2 nodes have its labels, taints and size): "
        "job default/j then runs at once;"
    )
    assert "with 70 cores" in sentence(found["unblock.nodes"][0])
    assert sentence(found["unblock.larger-node"][0]).startswith(
        "A larger node n1: 70 cores instead of 50 cores: job default/j then runs at once;"
    )


def test_equal_nodes_are_proposed_as_one_pool() -> None:
    document = scenario(
        nodes=[node(f"n{number}", cpu=2) for number in range(6)],
        podgroups=[podgroup("j", min_member=8)],
        pods=pods("j", 8, cpu=2),
        conf=SIMPLE,
    )
    (offer,) = offers(document)["unblock.nodes"]
    wanted = (
        "2 more nodes like n0 (6 nodes have its labels, taints and size): job default/j then runs at once"
    )
    assert sentence(offer).startswith(wanted)


def test_pools_that_differ_only_in_labels_are_tried_last_and_are_one_proposal() -> None:
    document = scenario(
        nodes=[node(f"n{number}", cpu=2, labels={"zone": "ab"[number % 2]}) for number in range(6)],
        podgroups=[podgroup("j", min_member=8)],
        pods=pods("j", 8, cpu=2),
        conf=SIMPLE,
    )
    (offer,) = offers(document)["unblock.nodes"]
    assert sentence(offer).startswith("2 more nodes like n0 (3 nodes have its labels, taints and size): ")
    assert sentence(offer).endswith(" 2 more nodes like n1 would have the same effect.")
    view = CycleView(document, simulate_document(document))
    *_, last = remedies(view, "default/j", diagnosis(view, "default/j") or {})
    assert last.what == "more nodes like n1"


def test_capability_of_a_queue_and_its_ancestors_is_raised_together() -> None:
    document = scenario(
        nodes=[node("n1", cpu=16)],
        queues=[
            queue("root"),
            queue("org", parent="root", capability={"cpu": 4}),
            queue("team", parent="org", capability={"cpu": 3}),
        ],
        podgroups=[podgroup("j", queue="team", min_member=5)],
        pods=pods("j", 5, cpu=1),
        conf=conf("allocate", ["gang"], ["predicates", ("capacity", {"enableHierarchy": True})]),
    )
    (offer,) = offers(document)["unblock.capability"]
    assert sentence(offer).startswith(
        "Capability of queue team: 5 cores instead of 3 cores, of queue org: 5 cores instead of 4 cores: "
    )


def test_proposal_removes_a_node_selector_that_no_node_matches() -> None:
    document = scenario(
        nodes=[node("n1", cpu=8, taints=[{"key": "pool", "value": "batch", "effect": "NoSchedule"}])],
        podgroups=[podgroup("j")],
        pods=pods("j", 1, cpu=1, spec={"nodeSelector": {"zone": "a"}}),
        conf=SIMPLE,
    )
    (offer,) = offers(document)["unblock.placement"]
    assert sentence(offer).startswith(
        "Node selector zone=a removed and taint pool=batch:NoSchedule tolerated (job default/j): "
        "job default/j then runs at once"
    )


def test_proposal_lowers_an_unused_guarantee_of_another_queue() -> None:
    document = scenario(
        nodes=[node("n1", cpu=8)],
        queues=[queue("a"), queue("b", guarantee={"cpu": 6})],
        podgroups=[podgroup("j", queue="a", min_member=4)],
        pods=pods("j", 4, cpu=1),
        conf=conf("allocate", ["gang"], ["predicates", "capacity"]),
    )
    found = [sentence(offer) for offer in offers(document)["unblock.guarantee"]]
    assert any(text.startswith("Guarantee of queue b: 4 cores instead of 6 cores: ") for text in found)


def test_proposal_disables_a_switch_of_plugin_gang() -> None:
    """Every running pod is a gang of one, which plugin gang protects in the only tier."""
    document = scenario(
        nodes=[node("n1", cpu=4)],
        queues=[queue("a"), queue("b")],
        podgroups=[
            *(podgroup(f"o{n}", queue="b", phase="Running") for n in range(4)),
            podgroup("j", queue="a"),
        ],
        pods=[*(pod(f"o{n}-0", group=f"o{n}", node="n1", cpu=1) for n in range(4)), *pods("j", 1, cpu=1)],
        conf=conf("allocate, reclaim", ["gang", "proportion", "predicates"]),
    )
    wanted = "Switch gang.enableReclaimable off: job default/j then runs after evictions"
    texts = [sentence(offer) for offer in offers(document)["unblock.switches"]]
    assert any(text.startswith(wanted) for text in texts)


def test_pair_of_changes_is_proposed_if_no_single_change_is_enough() -> None:
    """The queue is too small, and so is the cluster."""
    document = scenario(
        nodes=[node("n1", cpu=2)],
        queues=[queue("q", capability={"cpu": 2})],
        podgroups=[podgroup("j", queue="q", min_member=4)],
        pods=pods("j", 4, cpu=1, spec=GATED),
        conf=SIMPLE,
    )
    found = offers(document)
    assert found.keys() == {"unblock.pair"}
    for offer in found["unblock.pair"]:
        assert len(offer["one_step_smaller"]) >= 2


# amounts


def test_several_resources_of_a_queue_are_raised_together_and_minimally() -> None:
    document = scenario(
        nodes=[node("n1", cpu=64, memory="64Gi")],
        queues=[queue("q", capability={"cpu": 4, "memory": "4Gi"})],
        podgroups=[podgroup("j", queue="q", min_member=3)],
        pods=pods("j", 3, cpu=3, memory="2Gi"),
        conf=SIMPLE,
    )
    (offer,) = offers(document)["unblock.capability"]
    (change,) = offer["changes"]
    assert change["after"] == {"cpu": "9", "memory": "6Gi"}
    smaller = [changes[0]["after"] for changes in offer["one_step_smaller"]]
    assert smaller == [{"cpu": "8999m", "memory": "6Gi"}, {"cpu": "9", "memory": "6442450943"}]


def test_smallest_amount_is_found_even_if_larger_amounts_do_not_help() -> None:
    """Below 16 amounts each one is tried; larger amounts that do not help are reported."""
    result = explain.unblocking(heavier := weighed(), "j", prepare(heavier).simulate)
    base = entries(simulate_document(heavier))["default/j"]
    for offer in result["changes"]:
        if offer["id"] != "unblock.weight":
            continue
        weight = offer["reason"]["numbers"]["after"]
        for less in range(2, weight):
            change = {**offer["changes"][0], "after": less}
            assert not is_served(simulate_document(edited(heavier, [change])), "default/j", base)


def weighed() -> Object:
    return scenario(
        nodes=[node("n1", cpu=8)],
        queues=[queue("a"), queue("b", weight=2)],
        podgroups=[podgroup("old", queue="b", phase="Running"), podgroup("j", queue="a", min_member=5)],
        pods=[*pods("old", 8, node="n1", cpu=1), *pods("j", 5, cpu=1)],
        conf=conf("allocate, reclaim", ["conformance"], ["predicates", "proportion"]),
    )


def test_kinds_of_changes_that_do_not_help_say_how_far_they_were_tried() -> None:
    document = scenario(
        nodes=[node("n1", cpu=2, memory="64Gi")],
        queues=[queue("q")],
        podgroups=[podgroup("j", queue="q", min_member=4)],
        pods=pods("j", 4, cpu=8, memory="30Gi", spec=GATED),
        conf=SIMPLE,
    )
    result = explain.unblocking(document, "j", prepare(document).simulate)
    assert [entry["sentence"] for entry in result["not_enough"]][:5] == [
        "No removal of scheduling gates was found to help (tried up to 4 gated pods).",
        "No weight was found to help (tried up to 1,025).",
        "No guarantee was found to help (tried up to 32 cores and 120 GiB for queue q).",
        "No smaller request was found to help (tried down to 0.8 cores and 3 GiB a pod).",
        "No smaller minMember was found to help (tried down to minMember 1).",
    ]


def test_kind_of_change_that_never_helps_is_reported_in_one_line() -> None:
    document = scenario(
        nodes=[node("n1", cpu=2)],
        queues=[queue("q")],
        podgroups=[podgroup("j", queue="q")],
        pods=pods("j", 1, cpu=8, spec=GATED),
        conf=SIMPLE,
    )
    result = explain.unblocking(document, "j", prepare(document).simulate)
    lines = [entry["sentence"] for entry in result["not_enough"]]
    assert "No weight was found to help (tried up to 1,025)." in lines
    assert "No removal of scheduling gates helps (tried 1 gated pod)." in lines
    assert len(lines) == len({entry["id"] for entry in result["not_enough"]})


# bounds


def test_search_stops_at_its_simulation_limit_and_reports_it() -> None:
    document = weighed()
    prepared = prepare(document)
    whole = explain.unblocking(document, "j", prepared.simulate)
    assert whole == explain.unblocking(document, "j", prepared.simulate)
    assert (whole["complete"], whole["stopped"]) == (True, None)
    cut = explain.unblocking(document, "j", prepared.simulate, Limits(simulations=4))
    assert (cut["simulations"], cut["complete"]) == (4, False)
    numbers = cut["stopped"]["numbers"]
    left = numbers["changes"] - numbers["tried"]
    assert (
        cut["stopped"]["sentence"]
        == f"Stopped after 4 simulations: {left} of {numbers['changes']} changes not tried."
    )


def test_search_stops_at_its_time_limit_after_a_minimum_of_simulations() -> None:
    document = weighed()
    ticks = iter(range(0, 10_000_000, 1000))
    limits = Limits(milliseconds=5000, least=8, timer=lambda: float(next(ticks)))
    result = explain.unblocking(document, "j", prepare(document).simulate, limits)
    assert result["simulations"] == 8
    assert result["stopped"]["sentence"].startswith("Stopped after ")
    assert " s: " in result["stopped"]["sentence"]


def test_answers_are_cumulative_and_the_last_one_is_complete() -> None:
    document = weighed()
    result = list(explain.answers(document, "j", prepare(document).simulate))
    counts = [len(one["changes"]) for one in result]
    assert counts[:2] == [1, 2]
    assert counts == sorted(counts)
    assert result[-1] == explain.unblocking(document, "j", prepare(document).simulate)
    assert result[0]["simulations"] < result[-1]["simulations"]


# trees


@pytest.mark.parametrize(("rival", "wanted"), [(1, 2), (4, 8)])
def test_hdrf_weight_is_raised_in_every_queue_below_the_tree_node(rival: int, wanted: int) -> None:
    """Queues a and b are below dev, which holds twice as much as c; b and c both request the rest."""
    document = scenario(
        nodes=[node("n1", cpu=6, memory="12Gi")],
        queues=[
            in_tree("qa", "root/dev/a", "1/1/1"),
            in_tree("qb", "root/dev/b", "1/1/1"),
            in_tree("qc", "root/c", f"1/{rival}"),
        ],
        podgroups=[
            podgroup("a", queue="qa", phase="Running"),
            podgroup("c", queue="qc", phase="Running"),
            podgroup("b", queue="qb", min_member=3),
            podgroup("more", queue="qc", min_member=3),
        ],
        pods=[
            *pods("a", 2, node="n1", cpu=1, memory="1Gi"),
            *pods("c", 1, node="n1", cpu=1, memory="1Gi"),
            *pods("b", 3, cpu=1, memory="1Gi"),
            *pods("more", 3, cpu=1, memory="1Gi"),
        ],
        conf=conf("allocate", ["gang", ("drf", {"enableHierarchy": True})], ["predicates"]),
    )
    (offer,) = offers(document, "b")["unblock.weight"]
    assert sentence(offer) == (
        f"Weight of root/dev in the tree of queues: {wanted} instead of 1: job default/b then runs at once; "
        "default/more gets no pod instead of 3."
    )
    weights = "volcano.sh/hierarchy-weights"
    assert {change["key"]: change["after"][weights] for change in offer["changes"]} == {
        "qa": f"1/{wanted}/1",
        "qb": f"1/{wanted}/1",
    }


def in_tree(name: str, path: str, weights: str) -> Object:
    notes = {"volcano.sh/hierarchy": path, "volcano.sh/hierarchy-weights": weights}
    return queue(name, annotations=notes)


# the webhook


def test_change_refused_by_the_webhook_is_not_proposed_but_explained() -> None:
    """More deserved for its queue would run the job, but the webhook requires more for the parent, too."""
    document = scenario(
        nodes=[node("n1", cpu=8)],
        queues=[
            queue("root"),
            queue("org", parent="root", deserved={"cpu": 4}, capability={"cpu": 8}),
            queue("a", parent="org", deserved={"cpu": 2}),
            queue("b", parent="org", deserved={"cpu": 2}),
        ],
        podgroups=[podgroup("old", queue="b", phase="Running"), podgroup("j", queue="a", min_member=3)],
        pods=[*pods("old", 8, node="n1", cpu=1), *pods("j", 3, cpu=1)],
        conf=conf("allocate, reclaim", ["gang"], ["predicates", ("capacity", {"enableHierarchy": True})]),
    )
    result = explain.unblocking(document, "j", prepare(document).simulate)
    assert "unblock.deserved" not in {offer["id"] for offer in result["changes"]}
    assert result["changes"]
    [actual] = [one["sentence"] for one in result["not_enough"] if one["id"] == "unblock.deserved"]
    assert "would let the job run, but Volcano's webhook refuses it: " in actual


def test_plugin_moves_with_the_same_effect_are_one_proposal() -> None:
    """As long as the first tier refuses every pod, any other set of plugins there has the same effect."""
    document = gang_in_the_first_tier()
    (offer,) = offers(document, "default/high")["unblock.tiers"]
    assert sentence(offer).startswith("Plugin conformance in tier 2 instead of 1: ")
    [named] = re.findall(r"(Plugin conformance in tier 3 .*) would have the same effect\.", sentence(offer))
    assert len(re.findall(r"lugin \w+ in tier", named)) == 5
    effects = set()
    for what in re.findall(r"lugin (\w+) in tier (\d) instead of (\d)", named):
        moved = {**document, "scheduler_conf": moved_plugin(document["scheduler_conf"], *what)}
        effects.add(repr(evictions(simulate_document(moved))))
    assert effects == {repr(sorted(one["pod"] for one in offer["evicted"]))}


def test_move_that_leaves_a_tier_empty_is_reported_as_such() -> None:
    document = scenario(
        nodes=[node("n1", cpu=1)],
        podgroups=[podgroup("j")],
        pods=pods("j", 1, cpu=2),
        conf=conf("allocate, preempt", ["gang"], ["conformance", "predicates"]),
    )
    waiting = Waiting(CycleView(document, simulate_document(document)), "j", {})
    assert [remedy.what for remedy in tier_remedies(waiting)] == [
        "plugin gang in tier 2 instead of 1, which is then empty and left out",
        "plugin conformance in tier 1 instead of 2",
        "plugin conformance in tier 3 instead of 2",
    ]


def moved_plugin(conf: Object, name: str, to: str, of: str) -> Object:
    tiers = [[plugin for plugin in tier["plugins"] if plugin["name"] != name] for tier in conf["tiers"]]
    tiers += [[]] * (int(to) - len(tiers))
    moved = next(plugin for plugin in conf["tiers"][int(of) - 1]["plugins"] if plugin["name"] == name)
    tiers[int(to) - 1] = [*tiers[int(to) - 1], moved]
    return {**conf, "tiers": [{"plugins": plugins} for plugins in tiers]}


def evictions(result: Object) -> list[str]:
    [cycle] = result["cycles"]
    return sorted(
        one["pod"] for one in cycle["decisions"] if one["op"] == "evict" and one["state"] == "committed"
    )


# Jobs


def test_vcjob_is_changed_in_its_pod_template() -> None:
    template = {
        "spec": {
            "nodeSelector": {"zone": "a"},
            "containers": [{"name": "main", "resources": {"requests": {"cpu": "4"}}}],
        }
    }
    document = scenario(
        nodes=[node("n1", cpu=8, labels={"zone": "b"}), node("n2", cpu=4, labels={"zone": "a"})],
        jobs=[job("train", tasks=[{"name": "worker", "replicas": 2, "template": template}], minAvailable=2)],
        conf=conf("enqueue, allocate", ["gang"], ["predicates", "proportion"]),
    )
    prepared = prepare(document)
    (name,) = [entry["name"] for entry in prepared.simulate()["cycles"][-1]["podgroups"]]
    before = entries(prepared.simulate())[name]
    found = offers(document, name)
    assert {"unblock.placement", "unblock.request", "unblock.members", "unblock.nodes"} <= found.keys()
    for offer in (offer for kind in found.values() for offer in kind):
        assert is_served(simulate_document(edited(document, offer["changes"])), name, before), sentence(offer)
        for less in offer["one_step_smaller"]:
            assert not is_served(simulate_document(edited(document, less)), name, before), sentence(offer)
    (offer,) = found["unblock.placement"]
    (change,) = offer["changes"]
    assert (change["kind"], change["key"]) == ("jobs", "default/train")
    assert change["field"] == "spec.tasks.0.template.spec.nodeSelector"
    assert sentence(found["unblock.request"][0]).startswith(
        f"Each waiting pod of job {name} requests 2 cores instead of 4 cores"
    )
