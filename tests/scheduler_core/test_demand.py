"""The preview's queue figures equal those of a full session when it opens."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

import manifests
from scheduler_core import problems, result, simulate_document
from scheduler_core.demand import demand_of, queues_at_open
from scheduler_core.reading import entries
from tests.builders import conf, node, podgroup, pods, queue, scenario, session_of

CASES = Path(__file__).parents[1] / "fidelity" / "cases"
CAPACITY = conf("allocate", ["gang"], [("capacity", {"enableHierarchy": True})])


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("capacity", 6), ("capacity_hierarchy", 6), ("gated", 3), ("mixed", 6), ("proportion", 6),
        ("targeted", 60),
        *(pytest.param(name, 1, marks=pytest.mark.long) for name in (
            "capacity", "capacity_hierarchy", "gated", "mixed", "proportion", "targeted",
        )),
    ],
)  # fmt: skip
def test_preview_figures_equal_those_of_an_opened_session(name: str, step: int) -> None:
    compared = 0
    for entry in islice(entries(str(CASES / f"{name}.jsonl.gz")), 0, None, step):
        document = manifests.resolve(entry.scenario)
        if any(problem.severity == "error" for problem in problems(document)):
            continue
        quick = queues_at_open(
            demand_of(document), document.get("queues") or [], document.get("scheduler_conf")
        )
        whole = result.state(session_of(document))
        if "queue_plugin" in whole and not quick["obstacle"]:
            assert quick["queues"] == whole["queues"], entry.scenario["name"]
            assert quick["total_resource"] == whole["total_resource"]
            compared += 1
    assert compared > 5


TREE = [queue("root"), queue("a", deserved={"cpu": 4}), queue("b", parent="a", deserved={"cpu": 2})]


def full_of(*podgroups_and_pods: object, queues: list = TREE) -> dict:
    groups, members = zip(*podgroups_and_pods, strict=True) if podgroups_and_pods else ((), ())
    return scenario(
        nodes=[node("n", cpu=8, memory="8Gi")],
        queues=queues,
        podgroups=groups,
        pods=[pod for several in members for pod in several],
    )


def test_job_in_a_queue_with_children_is_an_obstacle() -> None:
    document = full_of(
        (podgroup("late", queue="b"), pods("late", 1, cpu=1)), (podgroup("early", queue="a"), ())
    )
    opened = queues_at_open(demand_of(document), TREE, CAPACITY)
    assert opened["obstacle"] == "job default/early is in queue a, which has children"


def test_a_queue_with_allocated_pods_below_a_missing_parent_is_said_to_crash_volcano() -> None:
    queues = [*TREE, queue("lost", parent="nowhere")]
    waiting = full_of((podgroup("job", queue="lost"), pods("job", 1, cpu=1)), queues=queues)
    assert "error" not in queues_at_open(demand_of(waiting), queues, conf("allocate", ["gang"]))
    held = pods("job", 1, cpu=1, node="n", phase="Running")
    running = full_of((podgroup("job", queue="lost"), held), queues=queues)
    opened = queues_at_open(demand_of(running), queues, conf("allocate", ["gang"]))
    assert opened["error"].endswith("queue lost has allocated pods, and its parent nowhere does not exist")
    whole = simulate_document({**running, "scheduler_conf": conf("allocate", ["gang"])})
    assert whole["error"] == opened["error"]


def test_jobs_are_counted_for_a_queue_that_is_added_later() -> None:
    document = full_of((podgroup("job", queue="new"), pods("job", 2, cpu=1)))
    demand = demand_of(document)
    assert (demand.queues["new"].jobs, demand.queues["new"].pending) == (1, 2)
    opened = queues_at_open(demand, [*TREE, queue("new", capability={"cpu": 3})], CAPACITY)
    actual = {entry["name"]: entry for entry in opened["queues"]}
    assert actual["new"]["request"]["cpu"] == 2000
    assert actual["new"]["realCapability"]["cpu"] == 3000


def test_queue_without_jobs_shows_what_it_could_reach() -> None:
    queues = [queue("kept", guarantee={"cpu": 3}, deserved={"cpu": 3}), queue("idle", capability={"cpu": 6})]
    opened = queues_at_open(demand_of(full_of()), queues, conf("allocate", ["proportion"]))
    assert opened["without_jobs"]["idle"]["cpu"] == 5000
    assert opened["without_jobs"]["kept"]["cpu"] == 8000


@pytest.mark.parametrize(
    ("queues", "says"),
    [
        ([queue("a"), queue("a")], "used by another one"),
        ([queue("a", capability={"cpu": "much"})], "much"),
    ],
)
def test_invalid_queues_return_an_error_message(queues: list, says: str) -> None:
    assert says in queues_at_open(demand_of(full_of()), queues, CAPACITY)["error"]
