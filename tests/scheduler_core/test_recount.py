"""Explanations of victims and remaining candidates equal a plain recount."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given

from scheduler_core import explain, simulate_document
from tests.builders import Object
from tests.fidelity.recorded import picked
from tests.scheduler_core.clusters import SEARCH, clusters, configurations
from tests.scheduler_core.recount import Counted, Held, Moment, Unsupported
from tests.shared import ROOT, SHARED

OWN = ROOT / "tests" / "fidelity" / "cases"
FEW = ("worked", "preempt", "protect", "switches", "proportion_reclaim", "drf")
PLAIN = configurations(
    actions=("allocate", "backfill", "preempt", "reclaim"),
    plugins=("gang", "priority", "conformance", "drf", "predicates"),
)


def files() -> list[object]:
    """Return every second scenario of a few recorded files, and with the marker long all of all files."""
    shared = sorted(SHARED.glob("golden/*.jsonl.gz")) if SHARED.is_dir() else []
    few = [OWN / f"{name}.jsonl.gz" for name in FEW]
    return [
        *(pytest.param(path, 2, id=path.name.partition(".")[0]) for path in few),
        *(
            pytest.param(path, 1, id=f"all-{path.name.partition('.')[0]}", marks=pytest.mark.long)
            for path in shared
        ),
    ]


def scenarios(path: Path, step: int) -> Iterator[Object]:
    chosen = picked(path, lambda lines: islice(lines, 0, None, step), with_recorded=False)
    return (entry.scenario for entry in chosen)


@pytest.mark.parametrize(("path", "step"), files())
def test_votes_tiers_and_candidates_equal_a_plain_recount(path: Path, step: int) -> None:
    counts: Counter[str] = Counter()
    for document in scenarios(path, step):
        result = simulate_document(document)
        if "error" not in result:
            counts.update(assert_recounted(document, result))
            assert_last_ballot_is_reported(result)
            assert_pods_are_counted_once(document, result)
    assert counts["attempts"] or path.parent != OWN


@SEARCH
@given(document=clusters(PLAIN))
def test_victims_in_generated_clusters_equal_a_plain_recount(document: Object) -> None:
    result = simulate_document(document)
    if "error" not in result:
        assert_recounted(document, result)


@SEARCH
@given(document=clusters(cycles=2))
def test_only_the_last_ballot_spares_a_candidate(document: Object) -> None:
    result = simulate_document(document)
    if "error" not in result:
        assert_last_ballot_is_reported(result)
        assert_pods_are_counted_once(document, result)


def assert_recounted(document: Object, result: Object) -> Counter[str]:
    """Check every victim search of the first cycle with evictions; return how many were checked."""
    cycle = result["cycles"][0]
    moment = Moment(document, cycle)
    explanation = iter(cycle["explain"]["victims"])
    searches: dict[tuple[str, str, str], Counted | None] = {}
    counts: Counter[str] = Counter()
    for decision in cycle["decisions"]:
        if decision["op"] == "evict":
            entry = next(explanation)
            assert entry["freed"] == moment.pods[entry["pod"]].request
            if entry["for"]:
                purpose = entry["action"], entry["for"], entry["node"]
                if purpose not in searches:
                    searches[purpose] = recounted(moment, cycle, entry)
                    counts["attempts" if searches[purpose] else "not recounted"] += 1
                counted = searches[purpose]
                if counted is not None:
                    counts["victims"] += 1
                    assert_votes(entry, counted)
        moment.apply(decision)
    return counts


def recounted(moment: Moment, cycle: Object, entry: Object) -> Counted | None:
    """Check the search with this first victim; return None if its plugins are not recounted."""
    asking, victim = moment.pods[entry["for"]], moment.pods[entry["pod"]]
    inside = victim.job == asking.job
    try:
        candidates = moment.candidates(entry["action"], asking, entry["node"], inside=inside)
        counted = moment.count(entry["action"], asking, candidates)
    except Unsupported:
        return None
    assert set(entry["allowed"]) == counted.victims
    assert (entry["tier"], entry["ballots"]) == (counted.tier, counted.ballots)
    assert_spared(cycle, entry, counted, candidates)
    return counted


def assert_spared(cycle: Object, entry: Object, counted: Counted, candidates: list[Held]) -> None:
    """Check that each spared candidate is reported, with the plugin that refuses it."""
    names = {pod.name for pod in candidates}
    purpose = entry["action"], entry["for"]
    kept = {
        one["pod"]: (one["tier"], one["plugin"])
        for one in cycle["explain"]["spared"]
        if (one["action"], one["for"]) == purpose and one["pod"] in names
    }
    assert kept == counted.kept_by


def assert_votes(entry: Object, counted: Counted) -> None:
    actual = {
        (vote["tier"], vote["plugin"]): vote["verdict"] == "permit"
        for vote in entry["votes"]
        if vote["verdict"] != "abstain"
    }
    assert actual == {voter: entry["pod"] in accepted for voter, accepted in counted.votes.items()}


def assert_last_ballot_is_reported(result: Object) -> None:
    """Check that candidates are spared by the last ballot, and that a victim's tier decided."""
    for cycle in result["cycles"]:
        for entry in cycle["explain"]["spared"]:
            if "ballots" in entry:
                last = entry["ballots"][-1]
                assert entry["tier"] == last["tier"]
                assert entry["plugin"] in last["plugins"]
                assert all(ballot["outcome"] != "decided" for ballot in entry["ballots"][:-1])
        for entry in cycle["explain"]["victims"]:
            last = entry["ballots"][-1]
            assert (last["outcome"], last["tier"]) == ("decided", entry["tier"])
            deciding = [
                vote["verdict"]
                for vote in entry["votes"]
                if vote["tier"] == last["tier"] and vote["plugin"] in last["plugins"]
            ]
            assert set(deciding) == {"permit"}


def assert_pods_are_counted_once(document: Object, result: Object) -> None:
    """Check the flow between queues against the decisions: pods once, evictions each time."""
    evicted: dict[str, set[str]] = {}
    times: Counter[str] = Counter()
    for cycle in result["cycles"]:
        for decision in cycle["decisions"]:
            if decision["op"] == "evict" and decision["state"] == "committed":
                evicted.setdefault(decision["action"], set()).add(decision["pod"])
                times[decision["action"]] += 1
    links = explain.flow(document, result)
    for action, pods in evicted.items():
        mine = [link for link in links if link["action"] == action]
        assert sum(link["evictions"] for link in mine) == times[action]
        assert max(link["pods"] for link in mine) <= len(pods) <= sum(link["pods"] for link in mine)
