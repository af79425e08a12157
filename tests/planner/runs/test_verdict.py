"""The verdict on a run, its figures on the page and in the API, and its baseline."""

import json
import threading
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from django.template.loader import render_to_string
from django.test import Client
from django.urls import reverse
from hypothesis import given, settings
from hypothesis import strategies as st
from rest_framework.test import APIClient

import manifests
from planner.clusters.sample import sample_document
from planner.runs.models import Run
from planner.runs.selectors.verdicts import baseline_of, run_verdict
from planner.scenarios.services.history import undo
from planner.scenarios.services.queues import queue_update
from planner.work.execution import work_execute_next
from planning.impossible_jobs import never_runs
from planning.outcomes import rows_of
from planning.pods import requests_of
from planning.rows.stored import VERDICT, payload_of
from planning.utilisation import PoolUse, ResourceUse
from planning.verdict import Verdict, verdict_kept
from planning.verdict_lines import Line, verdict_lines
from scheduler_core import Options, prepare, simulate_document
from scheduler_core.explain import with_loops
from tests import factories
from tests.planner.pages import text_of
from tests.planner.recorded import recorded, simulated_run
from tests.scheduler_core.answers import evicted_and_bound_again
from tests.worker import do_work

CAPACITY = factories.CONF.replace("proportion", "capacity")


def verdict(document: dict[str, Any]) -> Verdict:
    """Return the verdict on the core's result for a document."""
    rows = rows_of(simulate_document(document), document)
    (part,) = [part for part in rows.parts if part.part == VERDICT]
    return verdict_kept(payload_of(part.packed))


WITHOUT_RECLAIM = factories.CONF.replace(", reclaim", "")
TWO_QUEUES = [factories.queue("busy"), factories.queue("waits")]


def cluster(conf: str = factories.CONF, **changes: Any) -> dict[str, Any]:
    return {**factories.cluster(), "scheduler_conf": manifests.parse_conf(conf), **changes}


def sentence(verdict: Verdict, id: str, before: Verdict | None = None) -> str:
    return line(verdict, id, before).sentence


def line(verdict: Verdict, id: str, before: Verdict | None = None) -> Line:
    return next(line for line in verdict_lines(verdict, before) if line.id == id)


def test_a_queue_with_waiting_jobs_below_deserved_is_starved() -> None:
    found = verdict(cluster(WITHOUT_RECLAIM))
    (starved,) = found.starved
    assert (starved.queue, starved.resource, starved.allocated) == ("waits", "cpu", 0.0)
    assert (starved.deserved, starved.part, starved.jobs) == (4000.0, 1.0, 1)
    assert sentence(found, "starved") == (
        "1 queue is starved, with waiting jobs and less than deserved: waits has 0 of 4 cores and lacks "
        "4 cores that it requests, with 1 waiting job."
    )


def test_a_queue_without_waiting_jobs_is_not_starved() -> None:
    queues = [factories.queue("busy", deserved={"cpu": "8"}), factories.queue("waits", deserved={"cpu": "8"})]
    found = verdict(cluster(CAPACITY, queues=queues, podgroups=[], pods=[]))
    assert not found.starved
    assert line(found, "waiting").level == "good"


def test_evictions_are_counted_with_the_number_needed() -> None:
    found = verdict(cluster())
    assert found.evictions is not None
    assert found.evictions.pods == found.evictions.needed == 1
    assert found.evictions.excess == 0
    assert sentence(found, "evictions") == (
        "1 pod evicted; fewer would not have been enough on the chosen nodes. "
        "Evicted: 1 core and 1 GiB; requested by the pods that needed room: 1 core and 1 GiB."
    )


def test_a_queue_that_evictions_left_below_deserved_is_named() -> None:
    for index in range(60):
        document = recorded("mixed", index)["scenario"]
        found = verdict(document)
        if found.pushed_below:
            move = found.pushed_below[0]
            assert move.after < move.deserved
            assert move.evicted
            assert f"{move.queue} from " in sentence(found, "pushed_below")
            return
    pytest.fail("no recorded scenario pushes a queue below deserved")


def test_queues_below_deserved_that_lose_pods_to_another_queue_are_named() -> None:
    document = manifests.resolve(sample_document())
    agents = next(queue for queue in document["queues"] if queue["metadata"]["name"] == "agents")
    agents["spec"]["weight"] = 6
    found = verdict(document)
    assert sentence(found, "pushed_below") == (
        "Evictions left 2 queues below what they deserve at the end of the run: search from 64 GPUs to 48 of "
        "80 GPUs, 8 pods evicted; nlp with 112 of 128 GPUs, as before, 4 pods evicted."
    )


def test_gangs_that_evictions_left_below_their_minimum_are_named() -> None:
    conf = factories.CONF.replace("gang\n", "gang\n    enableReclaimable: false\n")
    document = cluster(conf)
    document["podgroups"][0]["spec"]["minMember"] = 16
    found = verdict(document)
    assert [(gang.job, gang.kept, gang.pods, gang.minimum) for gang in found.broken] == [
        ("default/run", 15, 16, 16)
    ]
    assert sentence(found, "broken") == (
        "Evictions left 1 job with fewer pods than its minMember: default/run keeps 15 of 16 pods and needs "
        "16. Such a job may stop or restart as a whole, as its policies say; a forecast follows them."
    )
    assert not verdict(cluster()).broken, "minMember 1"


def test_pods_that_have_succeeded_count_to_the_minimum_of_a_gang() -> None:
    document = cluster()
    document["podgroups"][0]["spec"]["minMember"] = 16
    document["pods"].append(factories.pod("run-16", "run", node="n0"))
    document["pods"][-1]["status"]["phase"] = "Succeeded"
    found = verdict(document)
    assert found.evictions is not None
    assert found.evictions.pods == 1
    assert not found.broken, "15 run and 1 has succeeded"


@pytest.mark.parametrize(
    "state",
    [
        {"spec": {"unschedulable": True}},
        {"spec": {"taints": [{"key": "node.kubernetes.io/disk-pressure", "effect": "NoSchedule"}]}},
        {"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}},
    ],
)
def test_what_is_free_on_nodes_that_take_no_pods_is_stated(state: dict[str, Any]) -> None:
    document = cluster(queues=TWO_QUEUES, podgroups=[], pods=[])
    [*_, last] = document["nodes"]
    for part, fields in state.items():
        last[part] = {**(last.get(part) or {}), **fields}
    found = sentence(verdict(document), "usage cpu")
    assert "16 cores free (8 cores on nodes that are cordoned, not ready or under pressure)" in found
    assert "nodes that are" not in sentence(verdict(cluster(podgroups=[], pods=[])), "usage cpu")


def test_a_pod_larger_than_every_node_can_never_run() -> None:
    pods = [factories.pod("huge", "huge", cpu="9")]
    groups = [factories.podgroup("huge", "waits", phase="Inqueue")]
    found = verdict(cluster(WITHOUT_RECLAIM, pods=pods, podgroups=groups, queues=TWO_QUEUES))
    assert [(job.job, job.why) for job in found.never] == [("default/huge", "too_large")]
    assert sentence(found, "never") == (
        "1 job can never run as things are (no node is large enough, even when empty): default/huge."
    )


def test_a_job_that_needs_only_some_of_its_pods_is_not_reported_as_never_running() -> None:
    actual = {"gate": "node", "too_large": {"cpu": {}}}
    job = {"ready": False, "pods": 3, "min_available": 3, "pending_explain": actual}
    assert never_runs(job) == "too_large"
    assert never_runs({**job, "min_available": 2}) == ""
    assert never_runs({**job, "ready": True}) == ""


def test_eviction_loops_are_counted() -> None:
    document = evicted_and_bound_again() | {"cycles": 8}
    prepared = prepare(document)
    result = with_loops(prepared, prepared.simulate(), Options())
    rows = rows_of(result, document)
    found = verdict_kept(payload_of(next(part for part in rows.parts if part.part == VERDICT).packed))
    assert sentence(found, "loops") == "1 eviction loop: 1 pod is evicted and bound again without end."
    assert line(found, "loops").level == "bad"


def test_free_resources_on_nodes_where_no_waiting_pod_fits_are_fragmented() -> None:
    nodes = [factories.node("n0"), factories.node("n1")]
    pods = [
        *(factories.pod(f"run-{number}", "run", node=f"n{number}", cpu="6") for number in range(2)),
        factories.pod("wait-0", "wait", cpu="3"),
    ]
    found = verdict(cluster(WITHOUT_RECLAIM, nodes=nodes, pods=pods, queues=TWO_QUEUES))
    cpu = next(use for use in found.usage if use.resource == "cpu")
    assert (cpu.total, cpu.free, cpu.largest, cpu.stranded) == (16000.0, 4000.0, 2000.0, 4000.0)
    assert sentence(found, "usage cpu") == (
        "CPU: 75 % used (12 of 16 cores), 4 cores free, all on nodes where no waiting "
        "pod that requests it fits."
    )


def test_free_resources_where_no_waiting_pod_fits_are_a_lower_bound() -> None:
    cpu = ResourceUse("cpu", total=16e3, used=10e3, free=6e3, largest=4e3, stranded=2e3)
    found = replace(verdict(cluster(WITHOUT_RECLAIM)), pools=[PoolUse("", 2, [cpu])])
    assert sentence(found, "usage cpu").endswith(
        "6 cores free, of which at least 2 cores on nodes where no waiting pod that requests it fits."
    )


def test_evicted_pods_are_not_said_to_be_placed_when_no_job_waits() -> None:
    found = verdict(recorded("capacity", 19)["scenario"])
    assert found.evictions is not None
    assert found.evictions.pods == 8
    assert sentence(found, "waiting") == "No job waits: none of the 32 has pending pods."


def test_jobs_of_unknown_queues_are_counted_beside_those_of_the_session() -> None:
    lost = factories.podgroup("lost", "nowhere", phase="Inqueue")
    document = cluster(WITHOUT_RECLAIM, queues=TWO_QUEUES, pods=[], podgroups=[lost])
    found = verdict(document)
    assert line(found, "waiting").level == "info"
    assert sentence(found, "waiting") == (
        "No job waits: the session has none; another job names a queue that does not exist, "
        "and the scheduler ignores it."
    )


def test_a_queue_outside_the_session_is_not_said_to_hold_what_it_deserves() -> None:
    found = verdict(cluster(WITHOUT_RECLAIM))
    counts = {**found.counts, "starved": 0, "unmeasured": 2}
    assert sentence(replace(found, counts=counts), "starved") == (
        "No queue with a deserved amount is starved; 2 queues with waiting jobs have none in this session."
    )
    shown = SimpleNamespace(counts=SimpleNamespace(victims_committed=0, jobs_pending=0), run=None)
    for unmeasured, said in ((0, True), (2, False)):
        shown.verdict = replace(found, divided=True, counts={**counts, "unmeasured": unmeasured})
        assert ("no queue starved" in render_to_string("runs/_result.html", {"line": shown})) is said


def test_a_pod_that_evicts_in_several_cycles_requests_room_once() -> None:
    document = recorded("cycles", 7)["scenario"]
    found = verdict(document)
    result = simulate_document(document)
    targets = {
        step["for"]
        for cycle in result["cycles"]
        for step in cycle["decisions"]
        if step["op"] == "evict" and step["state"] == "committed"
    }
    assert found.evictions is not None
    assert found.evictions.used["pods"] == len(targets) == 4
    assert found.evictions.used["cpu"] == sum(one["cpu"] for one in requests_of(document, targets).values())


@pytest.mark.parametrize("family", ["mixed", "capacity_hierarchy", "preempt", "proportion_reclaim"])
@settings(max_examples=6, deadline=None)
@given(index=st.integers(0, 30))
def test_the_figures_of_a_verdict_agree_with_the_result(family: str, index: int) -> None:
    document = recorded(family, index)["scenario"]
    result = simulate_document(document)
    rows = rows_of(result, document)
    found = verdict_kept(payload_of(next(part for part in rows.parts if part.part == VERDICT).packed))
    waiting = {job["queue"] for job in rows.jobs if job["pending"]}
    figures = {row["queue"]: row for row in rows.queues}
    for starved in found.starved:
        assert starved.queue in waiting
        assert starved.allocated < starved.deserved
        assert starved.allocated < figures[starved.queue]["request"][starved.resource]
    made = [victim for victim in rows.victims if victim["state"] == "committed"]
    assert found.evictions is not None
    assert found.evictions.evictions == len(made)
    assert 0 <= found.evictions.needed <= len(made)
    for pool in found.pools:
        for use in pool.resources:
            assert use.used + use.free == pytest.approx(use.total) or use.used > use.total
            assert 0 <= (use.stranded or 0) <= use.free + 1e-6
    assert sum(pool.nodes for pool in found.pools[1:]) == len(result["cycles"][-1]["nodes"])
    assert verdict_lines(found, found) == verdict_lines(found, found)
    assert all(not one.change for one in verdict_lines(found, found))


@pytest.mark.django_db
def test_the_api_returns_the_sentences_and_figures_of_the_page(browser: Client, api: APIClient) -> None:
    run = simulated_run("mixed", 1)
    body = api.get(reverse("api:run-verdict", args=[run.pk])).json()
    found = run_verdict(run, None)
    assert found is not None
    assert [one["sentence"] for one in body["lines"]] == [one.sentence for one in found.lines]
    assert body["counts"] == found.verdict.counts
    assert body["baseline"] is None
    assert body["pools"][0]["nodes"] == len(json.loads(run.input.content())["nodes"])
    assert set(body["pools"][0]["resources"][0]["total"]) == {"value", "unit", "unlimited"}


@pytest.mark.django_db
def test_a_run_without_a_result_has_no_verdict(api: APIClient) -> None:
    response = api.get(reverse("api:run-verdict", args=[factories.run().pk]))
    assert (response.status_code, response.json()["code"]) == (404, "no_verdict")


def executed(run: Run) -> Run:
    do_work(run)
    assert run.state == "succeeded", run.error
    return run


@pytest.mark.django_db(transaction=True)
def test_one_run_of_the_unchanged_snapshot_is_the_baseline_of_all_changed_runs(api: APIClient) -> None:
    scenario = factories.scenario()
    queue_update(scenario=scenario, name="waits", patch={"weight": 3}, expected_revision=1)
    first = executed(factories.run(scenario))
    assert baseline_of(first) is None, "it is queued, not executed yet"
    assert work_execute_next(worker="test", stopping=threading.Event())
    baseline = baseline_of(first)
    assert baseline is not None
    document = baseline.input.document()
    assert {queue["metadata"]["name"]: queue["spec"]["weight"] for queue in document["queues"]}["waits"] == 1

    second = executed(factories.run(scenario))
    assert work_execute_next(worker="test", stopping=threading.Event())
    again = baseline_of(second)
    assert again is not None
    assert again.outcome_id == baseline.outcome_id, "equal inputs are computed once"
    assert not work_execute_next(worker="test", stopping=threading.Event()), "a baseline has no baseline"

    body = api.get(reverse("api:run-verdict", args=[first.pk])).json()
    assert body["baseline"] == str(baseline.pk)
    assert all(line["before"] is not None for line in body["lines"])
    assert [run["id"] for run in api.get(reverse("api:runs")).json()["results"]] == [
        str(second.pk),
        str(first.pk),
    ]


@pytest.mark.django_db
def test_the_page_of_a_run_says_whether_it_is_of_the_unchanged_snapshot(browser: Client) -> None:
    run = simulated_run("mixed", 1)
    assert "This run is of the unchanged snapshot" in text_of(browser.get(f"/runs/{run.pk}/"))
    run.scenario_revision = 2
    run.save()
    assert "There is no run of the unchanged snapshot" in text_of(browser.get(f"/runs/{run.pk}/"))


@pytest.mark.django_db(transaction=True)
def test_a_run_of_the_unchanged_snapshot_needs_no_baseline() -> None:
    scenario = factories.scenario()
    executed(factories.run(scenario))
    queue_update(scenario=scenario, name="waits", patch={"weight": 3}, expected_revision=1)
    undo(scenario=scenario, expected_revision=2)
    executed(factories.run(scenario))
    assert not work_execute_next(worker="test", stopping=threading.Event())
