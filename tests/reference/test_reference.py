"""A plain engine, written from the specification and not from our code, makes the same decisions.

`coverage.left_out` is the only list of scenarios that it does not cover, which are skipped.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from itertools import islice
from typing import Any

import pytest
from hypothesis import given, settings

from scheduler_core import Options, simulate_document
from scheduler_core.replay import replay_document
from tests.builders import Object
from tests.reference import coverage
from tests.reference.__main__ import REPLAYS
from tests.reference.comparison import decided, difference, entries, lines, outcome, scenario_of
from tests.reference.plugins import PLUGINS
from tests.reference.recordings import agrees, answered, recordings
from tests.reference.replaying import replay_agrees
from tests.reference.resources import Panic
from tests.reference.varied_replays import varied_replay
from tests.reference.variety import varied
from tests.scheduler_core.clusters import clusters, configurations
from tests.scheduler_core.replays import clocked_replay, small_replay
from tests.shared import SHARED

RECORDED = SHARED / "golden" / "replay" / "small.jsonl.gz"

# How many scenarios of each file are covered, and how many there are.
COVERED = {
    "binpack": (40, 40),
    "capacity": (40, 40),
    "capacity_hierarchy": (40, 40),
    "cycles": (40, 40),
    "drf": (40, 40),
    "gang": (40, 40),
    "gated": (40, 40),
    "hdrf": (40, 40),
    "mixed": (40, 40),
    "mutated": (200, 200),
    "mutated2": (541, 600),
    "nodegroup": (40, 40),
    "nodeorder": (40, 40),
    "overcommit": (40, 40),
    "predicates": (40, 40),
    "preempt": (40, 40),
    "proportion": (40, 40),
    "proportion_reclaim": (40, 40),
    "protect": (40, 40),
    "published_confs": (144, 200),
    "scale": (10, 10),
    "switches": (40, 40),
    "targeted": (750, 750),
    "volcano_unit_tests": (200, 200),
    "volcano_unit_tests_not_modelled": (0, 83),
    "worked": (11, 11),
}


@pytest.mark.parametrize(
    "step", [pytest.param(1, marks=pytest.mark.long, id="all"), pytest.param(32, id="some")]
)
@pytest.mark.parametrize("family", recordings())
def test_reference_matches_recordings_of_the_real_scheduler(family: str, step: int) -> None:
    found, covered = 0, 0
    for line in lines(recordings()[family]):
        found += 1
        if coverage.left_out(scenario_of(line)) is None:
            covered += 1
            if covered % step == 0:
                assert agrees(entry := json.loads(line)) is None, entry["scenario"]["name"]
    assert (covered, found) == COVERED[family]


# generated clusters

COVERED_CLUSTERS = clusters(
    configurations(plugins=tuple(sorted({*PLUGINS} - {"proportion", "capacity"}))), cycles=2
)


@settings(max_examples=30, derandomize=True)
@given(document=COVERED_CLUSTERS)
def test_core_matches_the_reference_in_generated_clusters(document: Object) -> None:
    assert coverage.left_out(document) or agrees(answered(document)) is None


@pytest.mark.long
@settings(max_examples=3000, derandomize=True)
@given(document=COVERED_CLUSTERS)
def test_core_matches_the_reference_in_three_thousand_generated_clusters(document: Object) -> None:
    assert coverage.left_out(document) or agrees(answered(document)) is None


@pytest.mark.parametrize(
    "numbers",
    [
        pytest.param(range(3000), marks=pytest.mark.long, id="all"),
        pytest.param(range(0, 3000, 60), id="some"),
    ],
)
def test_core_matches_the_reference_in_clusters_of_full_variety(numbers: range) -> None:
    for number in numbers:
        document = varied(number)
        assert coverage.left_out(document) or agrees(answered(document)) is None, number


def test_clusters_of_full_variety_use_every_rule() -> None:
    documents = [varied(number) for number in range(0, 3000, 30)]
    ops = Counter(
        (decision["action"], decision["op"])
        for document in documents
        for session in decided(document)
        for decision in session["decisions"]
    )
    for action, op in (
        *(
            ("enqueue", "enqueue"),
            ("enqueue", "enqueue_reject"),
            ("allocate", "bind"),
            ("allocate", "pipeline"),
        ),
        *(("backfill", "bind"), ("preempt", "evict"), ("reclaim", "evict"), ("gangpreempt", "evict")),
        *(("gangreclaim", "evict"), ("shuffle", "evict")),
    ):
        assert ops[action, op], (action, op)


def test_uncovered_scenario_has_a_reason() -> None:
    document: dict[str, Any] = {**varied(0), "sharding": {"mode": "hard"}}
    assert coverage.left_out(document) == "sharding in the scenario"


def test_difference_finds_a_changed_order_of_decisions() -> None:
    document = varied(0)
    ours = decided(document)
    theirs = outcome(simulate_document(document, Options(explain=False)))
    assert difference(ours, theirs) is None
    theirs[0]["decisions"].reverse()
    assert difference(ours, theirs).startswith("cycle 1, decisions: number 0")


def test_reference_panics_where_the_scheduler_would_crash() -> None:
    with pytest.raises(Panic):
        decided({"queues": [{"metadata": {"name": "a"}, "spec": {"parent": "nowhere"}}], **_held_in("a")})


def _held_in(queue: str) -> Object:
    document = varied(0)
    group = {**document["podgroups"][0], "spec": {"minMember": 1, "queue": queue}}
    held = {
        "metadata": {
            "name": "held",
            "annotations": {"scheduling.k8s.io/group-name": group["metadata"]["name"]},
        },
        "spec": {"nodeName": "n0", "containers": []},
    }
    namespace = group["metadata"]["namespace"]
    held["metadata"]["namespace"] = namespace
    conf = {"actions": "allocate", "tiers": []}
    return {"nodes": document["nodes"], "podgroups": [group], "pods": [held], "scheduler_conf": conf}


# replays


@pytest.mark.parametrize("make", [small_replay, clocked_replay, varied_replay])
def test_core_matches_the_reference_in_a_generated_replay(make: Callable[[int], Object]) -> None:
    document = make(0)
    assert coverage.left_out_of_replays(document) is None
    assert replay_agrees({"scenario": document, "result": replay_document(document)}) is None


@pytest.mark.long
@pytest.mark.parametrize("number", range(100))
@pytest.mark.parametrize("make", REPLAYS)
def test_core_matches_the_reference_in_a_hundred_replays_of_each_kind(
    make: Callable[[int], Object], number: int
) -> None:
    document = make(number)
    assert coverage.left_out_of_replays(document) is None
    assert replay_agrees({"scenario": document, "result": replay_document(document)}) is None


@pytest.mark.skipif(not RECORDED.exists(), reason=f"no recordings at {RECORDED} (QUEUECAST_SHARED)")
@pytest.mark.parametrize(
    "step", [pytest.param(1, marks=pytest.mark.long, id="all"), pytest.param(40, id="some")]
)
def test_reference_matches_recorded_replays_of_the_real_scheduler(step: int) -> None:
    for entry in islice(entries(RECORDED), 0, None, step):
        assert coverage.left_out_of_replays(entry["scenario"]) is None
        assert replay_agrees(entry) is None, entry["scenario"]["name"]


def test_replay_comparison_finds_a_changed_decision() -> None:
    document = small_replay(0)
    result = replay_document(document)
    result["log"][-1]["decisions"][-1]["node"] = "elsewhere"
    assert "elsewhere" in str(replay_agrees({"scenario": document, "result": result}))


def test_uncovered_replay_event_is_named() -> None:
    document = small_replay(0)
    document["replay"]["events"].append({"at": 1, "lose": {"nodes": ["n0"]}})
    assert coverage.left_out_of_replays(document) == "an event lose"
