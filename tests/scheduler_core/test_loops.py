"""Eviction loops are found and explained, and the proposed changes end them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from scheduler_core import Options, explain, prepare, simulate_document
from scheduler_core.__main__ import main
from scheduler_core.explain.changes import Change, applied
from scheduler_core.reading import entries
from tests.builders import Object, conf, node, pod, podgroup, queue, scenario
from tests.scheduler_core.answers import evicted_and_bound_again
from tests.trials import examples

CASES = Path(__file__).parents[1] / "fidelity" / "cases" / "capacity_hierarchy.jsonl.gz"


def looping(**fields: Any) -> Object:
    return {**evicted_and_bound_again(), **fields}


def found(document: Object) -> list[Object]:
    return explain.loops(document, simulate_document(document))


def evicted_in(result: Object) -> list[list[str]]:
    """Return the evicted pods of each cycle."""
    return [
        [step["pod"] for step in cycle["decisions"] if step["op"] == "evict" and step["state"] == "committed"]
        for cycle in result["cycles"]
    ]


def test_loop_is_found_with_pods_period_and_lost_resources() -> None:
    (loop,) = found(looping())
    assert (loop["first_cycle"], loop["period"], loop["turns"]) == (3, 2, 3)
    (pod,) = loop["pods"]
    assert (pod["pod"], pod["evicted_in"], pod["placed_in"]) == ("default/pod1", [1, 3, 5, 7], [2, 4, 6, 8])
    assert (loop["jobs"], loop["waiting"]) == (["default/job1", "default/job3"], ["default/job3"])
    assert loop["queues"] == ["queue1", "queue2"]
    lost = loop["lost"]
    assert (lost["pods"], lost["evictions"], lost["amounts"]["cpu"], lost["cycles"]) == (1, 1, 4000, 1)


def test_loop_explains_the_shares_behind_the_eviction_and_the_return() -> None:
    (loop,) = found(looping())
    evicts, returns = (entry["sentence"] for entry in loop["why"])
    assert "queue queue1 holds 4 cores and deserves 3 cores, so reclaim evicts default/pod1" in evicts
    assert "the share of queue queue1 has fallen to 0, below 0.2 of queue queue2" in returns


@pytest.mark.parametrize(("termination_cycles", "period"), [(0, 2), (1, 3), (2, 4)])
def test_loop_period_grows_with_the_termination_time(termination_cycles: int, period: int) -> None:
    (loop,) = found(looping(termination_cycles=termination_cycles, cycles=12))
    assert loop["period"] == period


@pytest.mark.parametrize("termination_cycles", [0, 1])
def test_every_proposed_change_ends_the_loop_and_the_first_one_is_minimal(
    termination_cycles: int,
) -> None:
    document = looping(termination_cycles=termination_cycles)
    prepared = prepare(document)
    (loop,) = explain.searched(document, prepared.simulate(), prepared.simulate)
    assert loop["complete"]
    assert len(loop["changes"]) >= 3
    for change in loop["changes"]:
        parts = applied(document, [Change(**entry) for entry in change["changes"]])
        after = simulate_document({**document, **parts, "cycles": 30})
        assert explain.loops(document, after) == []
        assert sum(map(len, evicted_in(after))) == change["evicted"]
        assert not any(evicted_in(after)[10:])
    (first,) = loop["changes"][0]["changes"]
    assert (first["field"], first["after"]) == ("spec.deserved", {"cpu": "4"})
    document["queues"][0]["spec"]["deserved"] = {"cpu": "3"}
    assert found(document)


def test_job_story_agrees_with_the_loop() -> None:
    for termination_cycles in (0, 1):
        document = looping(termination_cycles=termination_cycles)
        result = simulate_document(document)
        for job in ("job1", "job3"):
            story = explain.job_story(document, result, job)
            assert story["reason"]["id"] == "job.loop"
        before = explain.job_story(document, result, "job3", cycle=1)["reason"]["id"]
        assert before != "job.loop", "a story of an earlier cycle does not know the loop yet"
        prepared = prepare(document)
        actual = explain.unblocking(document, "default/job3", prepared.simulate)
        assert actual["waits"], "a placement that is lost again is no solution"
        assert actual["changes"]


def test_pod_evicted_four_times_is_counted_once() -> None:
    document = looping()
    (link,) = explain.flow(document, simulate_document(document))
    assert (link["pods"], link["evictions"], link["amounts"]["cpu"]) == (1, 4, 4000)
    assert (
        "evicted 1 pod of queue queue1 for queue queue2 4 times in all: 4 cores" in link["reason"]["sentence"]
    )


def test_command_line_reports_the_loop(tmp_path: Path, capsysbinary: Any) -> None:
    path = tmp_path / "loop.json"
    path.write_text(json.dumps(looping()))
    assert main(["explain", str(path), "--job", "job3"]) == 0
    output = capsysbinary.readouterr().out.decode()
    assert "An eviction loop: from cycle 3 on" in output
    assert "Deserved of queue queue1: 4 cores instead of 3 cores: no pod is evicted" in output
    assert main(["simulate", str(path)]) == 0
    (loop,) = json.loads(capsysbinary.readouterr().out)["loops"]
    assert (loop["period"], loop["changes"][0]["evicted"]) == (2, 0)


def test_loop_is_found_without_explanations_but_not_searched() -> None:
    result = simulate_document(looping(), Options(explain=False))
    assert result["loops"] == [{"first_cycle": 3, "period": 2}]
    prepared = prepare(looping())
    assert explain.with_loops(prepared, result, Options(explain=False)) == result


def test_evicted_pods_that_are_deleted_make_no_loop() -> None:
    assert found(looping(evicted="delete")) == []


SIZES = st.integers(1, 4)
ACTIONS = ["allocate, reclaim", "reclaim, allocate, preempt", "enqueue, allocate, reclaim"]
FIRST_TIERS = [["gang"], ["priority", "gang", "conformance"]]


@st.composite
def clusters(draw: st.DrawFn) -> Object:
    """Return queues on a small full cluster: one holds a large pod, the others wait."""
    size = draw(st.integers(4, 8))
    large = draw(st.integers(2, size))
    groups, members = [podgroup("large", queue="a")], [pod("large-0", group="large", node="n0", cpu=large)]
    left = size - large
    for number in range(draw(st.integers(1, 4))):
        name, wants = f"j{number}", draw(st.integers(1, size))
        place = "n0" if wants <= left and draw(st.booleans()) else None
        left -= wants if place else 0
        groups.append(podgroup(name, queue=draw(st.sampled_from(["b", "b", "c", "a"]))))
        members.append(pod(f"{name}-0", group=name, node=place, cpu=wants))
    return scenario(
        nodes=[node("n0", cpu=size), node("n1", cpu=draw(st.integers(0, 1)))],
        queues=[
            queue("a", weight=draw(SIZES), deserved={"cpu": draw(st.integers(0, large))}),
            queue("b", weight=draw(SIZES), deserved={"cpu": draw(st.integers(1, size))}),
            queue("c", weight=draw(SIZES), deserved={"cpu": draw(st.integers(0, size))}),
        ],
        podgroups=groups,
        pods=members,
        conf=conf(
            draw(st.sampled_from(ACTIONS)),
            draw(st.sampled_from(FIRST_TIERS)),
            ["predicates", draw(st.sampled_from(["capacity", "capacity", "proportion"]))],
        ),
        cycles=10,
        termination_cycles=draw(st.integers(0, 1)),
    )


@given(clusters())
@examples(always=25, many=60)
def test_reported_loop_repeats_and_contains_evictions(document: Object) -> None:
    result = simulate_document(document)
    loops = explain.loops(document, result)
    if not any(evicted_in(result)):
        assert loops == []
    event(f"{len(loops)} loops")
    for loop in loops:
        twice = evicted_in(simulate_document({**document, "cycles": 20}))
        first, period = loop["first_cycle"] - 1, loop["period"]
        turn = twice[first : first + period]
        assert any(turn)
        for cycle in range(first, 20):
            assert twice[cycle] == turn[(cycle - first) % period], f"cycle {cycle + 1}"


def test_each_sentence_on_a_loop_names_the_pods_of_its_cycle() -> None:
    recorded = {entry.scenario["name"]: entry.scenario for entry in entries(str(CASES))}
    document = {**recorded["capacity_hierarchy-101-010"], "cycles": 10, "requeue": True}
    result = simulate_document(document)
    (loop,) = explain.loops(document, result)
    steps = {cycle["cycle"]: cycle["decisions"] for cycle in result["cycles"]}
    for why in loop["why"]:
        parts = re.match(r"Cycle (\d+): .*?\b(evict|bind)s ", why["sentence"])
        assert parts is not None
        cycle, op = parts.groups()
        named = set(re.findall(r"default/run\d+-\d+", why["sentence"]))
        assert named
        assert named <= {step["pod"] for step in steps[int(cycle)] if step["op"] == op}
    assert len(loop["why"]) == 4
