"""Explanations are true for any cluster: each is compared with the engine's behaviour."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from scheduler_core import explain, simulate_document
from scheduler_core.explain.changes import Change, applied
from scheduler_core.explain.smallest import smallest_set
from scheduler_core.framework.extension_points import Point
from scheduler_core.model.status import TaskStatus
from scheduler_core.parity import first_difference
from scheduler_core.recording.votes import recorded
from scheduler_core.resource import PODS, Resource
from scheduler_core.resource_list import quantities, read_resource_list
from scheduler_core.victims.selection import select_victims
from tests.builders import GPU, Object, conf, node, session_of
from tests.scheduler_core.clusters import FEW, clusters, configurations

# extended: gang actions undo a rejected placement twice, as Volcano does, which no decision shows
SINGLE = ("enqueue", "allocate", "backfill", "preempt", "reclaim")
EVICTING = configurations(actions=SINGLE)


def simulated(document: Object) -> Object:
    result = simulate_document(document)
    assume("error" not in result)
    return result


# deserved


@FEW
@given(document=clusters(cycles=2))
def test_last_derivation_step_equals_the_deserved_amount(document: Object) -> None:
    result = simulated(document)
    for cycle in result["cycles"]:
        for entry in cycle["at_open"].get("queues", ()):
            explanation = explain.derivation(document, result, entry["name"], cycle=cycle["cycle"])
            if explanation["steps"]:
                assert without_zeros(explanation["steps"][-1]["deserved"]) == without_zeros(entry["deserved"])
            assert explanation["summary"]["sentence"].endswith(".")


def without_zeros(amounts: Object) -> Object:
    return {name: amount for name, amount in amounts.items() if amount}


# victims


@pytest.mark.parametrize("point", [Point.PREEMPTABLE, Point.RECLAIMABLE], ids=lambda point: point.label)
@FEW
@given(document=clusters(EVICTING))
def test_recorded_votes_reproduce_the_verdict(point: Point, document: Object) -> None:
    simulated(document)
    session = session_of(document, explain=True)
    tasks = [task for job in session.jobs.values() for task in job.tasks.values()]
    candidates = [task for task in tasks if task.status is TaskStatus.RUNNING]
    for task in [task for task in tasks if task.status is TaskStatus.PENDING]:
        session.plugins.pre_predicate(task)
        verdict = select_victims(session, point, task, candidates)
        votes = {candidate.key: recorded(verdict.votes).on(candidate) for candidate in candidates}
        tier, victims = outcome_of(votes)
        assert victims == {victim.key for victim in verdict.victims}
        assert tier == verdict.tier


def outcome_of(votes: dict[str, list[Object]]) -> tuple[int, set[str]]:
    """Return the deciding tier and its victims, computed only from the votes on each candidate.

    A plugin that lets nobody go ends its tier; one that leaves nobody of those before it starts afresh.
    """
    arguments = [(vote["tier"], vote["plugin"]) for vote in next(iter(votes.values()), [])]
    for tier in sorted({number for number, _ in arguments}):
        left: set[str] = set()
        for position, (number, _) in enumerate(arguments):
            actual = {pod: shown[position]["verdict"] for pod, shown in votes.items()}
            if number != tier or "abstain" in actual.values():
                continue
            going = {pod for pod, verdict in actual.items() if verdict == "permit"}
            if not going:
                left = set()
                break
            left = left & going if left else going
        if left:
            return tier, left
    return 0, set()


@FEW
@given(document=clusters(EVICTING, cycles=2))
def test_victim_was_permitted_by_the_deciding_tier(document: Object) -> None:
    result = simulated(document)
    for cycle in result["cycles"]:
        for step in cycle["decisions"]:
            if step["op"] != "evict":
                continue
            story = explain.victim_story(document, result, step["pod"], cycle=cycle["cycle"])
            explanation = [vote for vote in story["votes"] if vote["verdict"] != "abstain"]
            assert (explanation[-1]["tier"], explanation[-1]["verdict"]) == (story["tier"], "permit")
            assert not {entry["pod"] for entry in story["spared"]} & set(story["together"])


@FEW
@given(document=clusters(EVICTING))
def test_smallest_victim_set_is_not_larger_than_the_evicted_set(document: Object) -> None:
    result = simulated(document)
    for step in result["cycles"][0]["decisions"]:
        if step["op"] == "evict":
            story = explain.victim_story(document, result, step["pod"])
            smallest = story["smallest"]
            assert 0 <= smallest["count"] <= smallest["evicted"]
            assert len(smallest["pods"]) in (0, smallest["count"])
            for name, amount in story["surplus"].items():
                assert 0 <= amount <= story["freed_together"][name]
            for name, amount in story["needed"].items():
                freed = story["freed_together"].get(name, 0)
                assert story["left"][name] == story["room"][name] + freed - amount


@given(
    sizes=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=8),
    lacking=st.tuples(st.integers(0, 12), st.integers(0, 12)),
)
def test_smallest_set_matches_brute_force(sizes: Sequence[tuple[int, int]], lacking: tuple[int, int]) -> None:
    candidates = {f"p{number}": {"cpu": cpu, "memory": memory} for number, (cpu, memory) in enumerate(sizes)}
    found = smallest_set({"cpu": lacking[0], "memory": lacking[1]}, candidates)
    enough = [
        mask.bit_count()
        for mask in range(2 ** len(sizes))
        if all(
            sum(size[axis] for number, size in enumerate(sizes) if mask >> number & 1) >= lacking[axis]
            for axis in (0, 1)
        )
    ]
    assert found.exact
    assert found.count == min(enough, default=len(sizes))


def test_smallest_set_is_a_lower_bound_above_twenty_distinct_candidates() -> None:
    candidates = {f"p{number:02}": {"cpu": 1000.0 + number} for number in range(30)}
    found = smallest_set({"cpu": 5000.0}, candidates)
    assert (found.count, found.exact, found.pods) == (5, False, ())


# the replay


@FEW
@given(document=clusters(EVICTING, cycles=2))
def test_state_at_first_and_last_step_matches_the_cycle(document: Object) -> None:
    result = simulated(document)
    for cycle in result["cycles"]:
        number, steps = cycle["cycle"], len(cycle["decisions"])
        first = explain.state_at(document, result, 0, cycle=number)
        last = explain.state_at(document, result, steps, cycle=number)
        assert last["decision"] == (cycle["decisions"][-1] if steps else None)
        assert not differences(first["queues"], cycle["at_open"].get("queues") or [])
        assert not differences(last["queues"], cycle["at_end"].get("queues") or [])
        assert not differences(last["nodes"], cycle["nodes"])


@FEW
@given(document=clusters(EVICTING))
def test_state_at_step_zero_matches_the_nodes_before_the_cycle(document: Object) -> None:
    idle = simulated({**document, "scheduler_conf": conf("allocate", []), "pods": placed(document)})
    opened = explain.state_at(document, simulated(document), 0)
    assert not differences(opened["nodes"], idle["cycles"][0]["nodes"])


def placed(document: Object) -> list[Object]:
    return [entry for entry in document["pods"] if entry["spec"].get("nodeName")]


def differences(mine: Sequence[Object], theirs: Sequence[Object]) -> str | None:
    """Return the differences between entries of the same name, within the tolerance of golden results."""

    def cycle(entries: Sequence[Object], others: Sequence[Object]) -> Object:
        shared = [
            {key: value for key, value in one.items() if key in two}
            for one, two in zip(entries, others, strict=True)
        ]
        state = {"queues": shared}
        return {"cycle": 1, "at_open": state, "at_end": {}, "decisions": [], "podgroups": [], "nodes": []}

    return first_difference({"cycles": [cycle(mine, theirs)]}, {"cycles": [cycle(theirs, mine)]})


# the first gate

GATED = configurations(
    actions=("enqueue", "allocate"),
    plugins=("gang", "priority", "overcommit", "predicates", "nodeorder"),
    switches=(),
)


@FEW
@given(document=clusters(GATED))
def test_granting_the_missing_amount_lets_the_job_pass_its_gate(document: Object) -> None:
    """The job gets exactly the missing amount; other waiting jobs, which might take it first, are removed."""
    result = simulated(document)
    for job in explain.waiting_jobs(document, result):
        alone = without_others_that_wait(document, result, job)
        actual = told_of(alone, job)
        if (
            actual is None
            or not actual["short"]
            or actual["plugin"] not in ("capacity", "proportion", "overcommit")
        ):
            continue
        if guarantees_too_much(alone, actual["queue"]):
            continue
        after = told_of(granted(alone, actual), job)
        if after is not None:
            before = (actual["gate"], actual["queue"], actual["pod"])
            assert (
                (after["gate"], after["queue"], after["pod"]) != before
                or not (after["short"].keys() & actual["short"].keys())
                or further(after, actual)
            ), (actual, after)


def told_of(document: Object, job: str) -> Object | None:
    result = simulated(document)
    return explain.job_story(document, result, job)["pending"]


def further(after: Object, before: Object) -> bool:
    """Return whether more pods of the job are placed before it meets the same gate."""
    placed_before, placed_after = before["members"]["placed"], after["members"]["placed"]
    return bool(placed_after > placed_before)


def without_others_that_wait(document: Object, result: Object, job: str) -> Object:
    waiting = {
        task["pod"]
        for entry in result["cycles"][-1]["podgroups"]
        if entry["name"] != job
        for task in entry["tasks"]
        if task["pod"] not in {key(entry) for entry in placed(document)}
    }
    groups = {
        entry["name"]
        for entry in result["cycles"][-1]["podgroups"]
        if entry["name"] != job and all(task["pod"] in waiting for task in entry["tasks"])
    }
    return {
        **document,
        "pods": [entry for entry in document["pods"] if key(entry) not in waiting],
        "podgroups": [entry for entry in document["podgroups"] if key(entry) not in groups],
    }


def key(entry: Object) -> str:
    return f"{entry['metadata'].get('namespace', 'default')}/{entry['metadata']['name']}"


def guarantees_too_much(document: Object, queue: str) -> bool:
    """Return whether guarantees exceed the cluster; then the first grant only fills that gap."""
    result = simulated(document)
    steps = explain.derivation(document, result, queue)["steps"]
    levels = [(step["guaranteed"], step["available"]) for step in steps if "guaranteed" in step]
    promised = Resource()
    for entry in document["queues"]:
        promised.add(read_resource_list((entry["spec"].get("guarantee") or {}).get("resource")))
    levels.append((promised.as_dict(), result["cycles"][0]["at_open"]["total_resource"]))
    return any(
        amount > available.get(name, 0)
        for guaranteed, available in levels
        for name, amount in guaranteed.items()
    )


def granted(document: Object, actual: Object) -> Object:
    """Return a scenario with the missing amount added to a node and to every capability."""
    missing = {name: math.ceil(facts["missing"]) for name, facts in actual["short"].items()}
    more = quantities(Resource(missing.get("cpu", 0.0), missing.get("memory", 0.0), scalars(missing)))
    changes = [Change("nodes", "zz", "", None, node("zz", unschedulable=True, **renamed(more)))]
    for entry in document["queues"]:
        name, spec = entry["metadata"]["name"], entry["spec"]
        stated = spec.get("capability")
        if stated:
            after = read_resource_list(stated)
            for resource, amount in missing.items():
                if after.get(resource):
                    after.set(resource, after.get(resource) + amount)
            changes.append(Change("queues", name, "spec.capability", stated, named(after, stated)))
    if actual["plugin"] == "proportion" and actual["gate"] == "queue":
        changes += promised(document, actual)
    return {**document, **applied(document, changes)}


def promised(document: Object, actual: Object) -> list[Change]:
    """Return the change that guarantees the queue the missing part of its deserved amount."""
    result = simulated(document)
    (entry,) = [e for e in result["cycles"][0]["at_open"]["queues"] if e["name"] == actual["queue"]]
    amounts = dict(entry["deserved"])
    for name, facts in actual["short"].items():
        amounts[name] = amounts.get(name, 0.0) + math.ceil(facts["missing"])
    guarantee = quantities(Resource(amounts.pop("cpu"), amounts.pop("memory"), scalars(amounts)))
    guarantee.pop(PODS, None)
    return [Change("queues", actual["queue"], "spec.guarantee", None, {"resource": guarantee})]


def scalars(amounts: Object) -> dict[str, float] | None:
    named = {name: amount for name, amount in amounts.items() if name not in ("cpu", "memory", PODS)}
    return named or None


def renamed(amounts: dict[str, str]) -> dict[str, Any]:
    return {"gpu" if name == GPU else name: amount for name, amount in amounts.items()}


def named(amount: Resource, names: Object) -> dict[str, str]:
    return {name: text for name, text in quantities(amount).items() if name in names}
