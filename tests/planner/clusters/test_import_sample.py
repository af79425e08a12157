"""The sample cluster and the figures of its walk-through."""

import json
from collections import Counter
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

import manifests
from planner.clusters.models import Snapshot
from planner.clusters.sample import sample_document
from planner.clusters.sample.conf import SAMPLE_CONF
from planner.clusters.services.samples import sample_load
from planner.runs.services.runs import run_create
from planner.scenarios.models import Scenario
from planner.scenarios.services.queues import queue_update
from scheduler_core import simulate_document
from scheduler_core.explain import loops
from tests import factories
from tests.worker import do_work

GPU = "nvidia.com/gpu"
GANG = "agents/train-planner"


def cycle(
    document: dict[str, Any], *, weights: dict[str, int] | None = None, conf: str = SAMPLE_CONF
) -> dict[str, Any]:
    """Return the sample's cycle after raising weights or with another configuration."""
    for queue in document["queues"]:
        name = queue["metadata"]["name"]
        queue["spec"]["weight"] = (weights or {}).get(name, queue["spec"]["weight"])
    result = simulate_document(manifests.resolve({**document, "scheduler_conf": conf}))
    assert "error" not in result
    only: dict[str, Any] = result["cycles"][0]
    return only


def deserved_gpus(cycle: dict[str, Any]) -> dict[str, float]:
    return {queue["name"]: queue["deserved"].get(GPU, 0) / 1000 for queue in cycle["at_open"]["queues"]}


def victims(cycle: dict[str, Any]) -> Counter[tuple[str, str]]:
    """Return the number of evicted pods by their queue and the preemptor's job."""
    owner = {task["pod"]: job for job in cycle["podgroups"] for task in job["tasks"]}
    return Counter(
        (owner[step["pod"]]["queue"], owner[step["for"]]["name"])
        for step in cycle["decisions"]
        if step["op"] == "evict" and step["state"] == "committed"
    )


PROPORTION_FIRST = SAMPLE_CONF.replace("  - name: proportion\n", "").replace(
    "  - name: conformance\n", "  - name: conformance\n  - name: proportion\n"
)


def test_the_sample_has_a_realistic_size() -> None:
    document = sample_document()
    assert len(document["nodes"]) == 100
    parents = {queue["metadata"]["name"]: queue["spec"].get("parent") for queue in document["queues"]}
    assert parents["vision"] == "research"
    assert parents["research"] == "root"
    running = sum("nodeName" in pod["spec"] for pod in document["pods"])
    assert (running, len(document["pods"]) - running) == (423, 72)
    gpus = sum(int(node["status"]["capacity"].get(GPU, 0)) for node in document["nodes"])
    assert gpus == 504


def test_the_sample_is_deterministic() -> None:
    assert sample_document() == sample_document()


def test_no_node_of_the_sample_is_overcommitted() -> None:
    document = sample_document()
    result = simulate_document(manifests.resolve(document))
    for node in result["cycles"][0]["nodes"]:
        assert all(amount >= 0 for amount in node["idle"].values()), node["name"]


def test_queue_agents_initially_deserves_too_little_for_its_gang() -> None:
    at_first = cycle(sample_document())
    assert (deserved_gpus(at_first)["agents"], deserved_gpus(at_first)["vision"]) == (60, 120)
    allocated = {
        queue["name"]: queue["allocated"].get(GPU, 0) / 1000 for queue in at_first["at_open"]["queues"]
    }
    assert (allocated["agents"], allocated["vision"]) == (16, 184)
    assert victims(at_first) == {("vision", "search/reindex"): 4}


def test_more_weight_starts_the_gang_and_evicts_from_the_wrong_queues() -> None:
    raised = cycle(sample_document(), weights={"agents": 2})
    assert (deserved_gpus(raised)["agents"], deserved_gpus(raised)["vision"]) == (80, 100)
    assert victims(raised) == {
        ("search", GANG): 8,
        ("nlp", GANG): 4,
        ("vision", GANG): 4,
        ("vision", "search/reindex"): 4,
    }


def test_proportion_in_the_first_tier_evicts_only_from_vision() -> None:
    mended = cycle(sample_document(), weights={"agents": 2}, conf=PROPORTION_FIRST)
    assert victims(mended) == {("vision", GANG): 16, ("vision", "search/reindex"): 4}


def evictions_and_loops(conf: str, *, deserved_of_ci: str = "") -> tuple[list[int], list[dict[str, Any]]]:
    """Return how many pods each of ten cycles evicts, and the eviction loops."""
    document = manifests.resolve({**sample_document(), "scheduler_conf": conf, "cycles": 10})
    for queue in document["queues"]:
        if queue["metadata"]["name"] == "ci" and deserved_of_ci:
            queue["spec"]["deserved"] = {**queue["spec"].get("deserved", {}), "cpu": deserved_of_ci}
    result = simulate_document(document)
    evicted = [sum(victims(cycle).values()) for cycle in result["cycles"]]
    return evicted, loops(document, result)


def test_capacity_in_the_second_tier_loops_until_fixed() -> None:
    wrong = SAMPLE_CONF.replace("- name: proportion", "- name: capacity")
    evicted, (loop,) = evictions_and_loops(wrong)
    assert evicted == [5] + [1] * 9
    assert (loop["first_cycle"], loop["period"]) == (4, 2)
    assert {pod["pod"] for pod in loop["pods"]} == {"ci/gpu-tests-worker-2", "ci/gpu-tests-worker-3"}
    assert loop["waiting"] == ["serving/chat-canary"]
    assert evictions_and_loops(wrong, deserved_of_ci="1") == ([4] + [0] * 9, [])
    right = PROPORTION_FIRST.replace("- name: proportion", "- name: capacity")
    assert evictions_and_loops(right) == ([4] + [0] * 9, [])


def test_a_stored_run_of_the_sample_has_the_documented_figures(transactional_db: None) -> None:
    scenario = sample_load(workspace=factories.workspace())
    queue_update(scenario=scenario, name="agents", patch={"weight": 2}, expected_revision=1)
    run = run_create(scenario=scenario)
    do_work(run)
    outcome = run.queue_outcomes.get(queue="agents")
    assert (outcome.weight, outcome.deserved[GPU], outcome.allocated[GPU]) == (2, 80_000, 80_000)
    assert run.victims.filter(state="committed").count() == 20
    assert run.victims.filter(queue="vision").count() == 8


@pytest.fixture
def loaded(db: None) -> Scenario:
    return sample_load(workspace=factories.workspace())


def test_the_sample_is_imported_without_errors(loaded: Scenario) -> None:
    assert not [found for found in loaded.snapshot.problems if found["severity"] == "error"]
    assert loaded.snapshot.counts["nodes"] == 100
    assert loaded.conf_text == SAMPLE_CONF


def test_loading_the_sample_again_returns_the_same_scenario(loaded: Scenario) -> None:
    assert sample_load(workspace=factories.workspace()) == loaded
    assert Snapshot.objects.count() == 1


def test_the_sample_command_prints_the_scenario_unless_quiet(db: None) -> None:
    out = StringIO()
    call_command("load_sample", stdout=out, verbosity=0)
    assert out.getvalue() == ""
    call_command("load_sample", stdout=out)
    assert str(Scenario.objects.get().pk) in out.getvalue()


def test_the_scenario_page_shows_the_walk_through_and_a_live_preview(
    loaded: Scenario, browser: Client
) -> None:
    page = reverse("planner:scenario-detail", args=[loaded.pk])
    assert "The sample in five steps" in browser.get(page).text
    lines = {"agents": {"name": "agents", "weight": "2x"}}
    answer = browser.post(f"{page}preview/", {"resource": GPU, "lines": json.dumps(lines)}).json()
    place = answer["cells"]["columns"].index("deserved_calculated")
    queues = answer["cells"]["queues"]
    assert (queues["agents"][place], queues["vision"][place]) == ("80", "100")
