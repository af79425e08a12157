"""Does a plain engine, written from the rules and not from our code, decide the same?

What it covers is said in `coverage.left_out`; the others are skipped by that list and no other.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings

from scheduler_core import Options, simulate_document
from tests.builders import Object
from tests.reference import coverage, engine
from tests.reference.plugins import PLUGINS
from tests.reference.resources import Panic
from tests.scheduler_core.clusters import clusters, configurations
from tests.shared import SHARED

CASES = Path(__file__).parents[1] / "fidelity" / "cases"
KEYS = ("action", "op", "job", "pod", "node", "for", "state")

# How many scenarios of each file are covered, of how many; a file that is not here has none.
COVERED = {
    "binpack": (40, 40),
    "capacity": (40, 40),
    "capacity_hierarchy": (40, 40),
    "cycles": (40, 40),
    "drf": (40, 40),
    "gang": (40, 40),
    "gated": (40, 40),
    "mixed": (40, 40),
    "mutated": (19, 200),
    "mutated2": (210, 600),
    "overcommit": (40, 40),
    "preempt": (40, 40),
    "proportion": (40, 40),
    "proportion_reclaim": (40, 40),
    "published_confs": (54, 200),
    "scale": (10, 10),
    "switches": (40, 40),
    "targeted": (374, 750),
    "worked": (10, 11),
}


def recordings() -> list[Path]:
    own = {path.name: path for path in CASES.glob("*.jsonl.gz") if not path.name.startswith("big")}
    shared = {path.name: path for path in SHARED.glob("golden/*.jsonl.gz")}
    return sorted({**shared, **own}.values(), key=lambda path: path.name)


def of_session(document: Object) -> Any:
    """Return what the reference decides, and what becomes of tasks and PodGroups."""
    session = engine.decide(document)
    decisions = [_told(decision) for decision in session.decisions]
    jobs = session.cluster.jobs
    tasks = {task.key: (task.status, task.node) for job in jobs.values() for task in job.tasks}
    phases = {key: (job.phase, session.phase_after(job)) for key, job in jobs.items()}
    return decisions, tasks, phases


def of_result(result: Object) -> Any:
    """Return the same of a result's first cycle."""
    cycle = result["cycles"][0]
    groups = cycle["podgroups"]
    tasks = {
        task["pod"]: (task["status"], task.get("node") or "") for group in groups for task in group["tasks"]
    }
    phases = {group["name"]: (group["phase_in_session"], group["phase_after"]) for group in groups}
    return [_told(decision) for decision in cycle["decisions"]], tasks, phases


def _told(decision: Object) -> Object:
    return {key: decision[key] for key in KEYS if decision.get(key)}


def entries(path: Path) -> Iterator[Object]:
    with gzip.open(path, "rt") as lines:
        yield from map(json.loads, lines)


@pytest.mark.parametrize(
    "step", [pytest.param(1, marks=pytest.mark.long, id="all"), pytest.param(4, id="every fourth")]
)
@pytest.mark.parametrize("path", recordings(), ids=lambda path: path.name.partition(".")[0])
def test_the_reference_decides_as_the_real_scheduler_did(path: Path, step: int) -> None:
    found, covered = 0, 0
    for entry in entries(path):
        found += 1
        document, result = entry["scenario"], entry["result"]
        if coverage.left_out(document) is None and not result.get("error"):
            covered += 1
            if covered % step == 0:
                assert of_session(document) == of_result(result), document["name"]
    assert covered == COVERED.get(path.name.partition(".")[0], (0, 0))[0]
    if covered:
        assert (covered, found) == COVERED[path.name.partition(".")[0]]


# generated clusters

PLAIN = tuple(sorted({*PLUGINS} - {"proportion", "capacity"}))
COVERED_CLUSTERS = clusters(
    configurations(actions=tuple(engine.ACTIONS), plugins=PLAIN, queue_plugins=("proportion", "capacity"))
)


def assert_the_same(document: Object) -> None:
    assume(coverage.left_out(document) is None)
    result = simulate_document(document, Options(explain=False, cycles=1))
    try:
        told = of_session(document)
    except Panic:
        assert result.get("error"), "the reference says that Volcano would crash"
        return
    assert "error" not in result, result["error"]
    assert told == of_result(result)


@settings(max_examples=200, derandomize=True)
@given(document=COVERED_CLUSTERS)
def test_the_reference_decides_the_same_in_generated_clusters(document: Object) -> None:
    assert_the_same(document)


@pytest.mark.long
@settings(max_examples=3000, derandomize=True)
@given(document=COVERED_CLUSTERS)
def test_the_reference_decides_the_same_in_three_thousand_clusters(document: Object) -> None:
    assert_the_same(document)


def test_a_scenario_that_is_left_out_has_a_reason() -> None:
    reasons = Counter(coverage.left_out(entry["scenario"]) for entry in entries(CASES / "mutated.jsonl.gz"))
    assert None in reasons
    assert "a plugin that is not covered" in reasons
