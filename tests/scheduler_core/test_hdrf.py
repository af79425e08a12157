"""The order of queues in an annotated tree, as in the release and as in its design document."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_core import simulate_document
from scheduler_core.framework.extension_points import Point
from scheduler_core.plugins.drf.hierarchy import Hierarchy
from scheduler_core.plugins.drf.tree import rescaled_sum, weight_of
from scheduler_core.rendering import plain
from scheduler_core.victims.selection import select_victims
from tests.builders import (
    Object,
    conf,
    decided,
    last_cycle,
    node,
    podgroup,
    pods,
    queue,
    scenario,
    session_of,
)
from tests.scheduler_core.pages import table
from tests.scheduler_core.states import task_of

Sequence = list[str]


def tree_conf(*, actions: str = "allocate", design: bool = False) -> Object:
    arguments = {"hdrf.rule": "design"} if design else {}
    return conf(actions, ["gang", ("drf", {"enableHierarchy": True, "arguments": arguments})])


def annotated(name: str, path: str, weights: str) -> Object:
    notes = {"volcano.sh/hierarchy": path, "volcano.sh/hierarchy-weights": weights}
    return queue(name, annotations=notes)


def turns(cycle: Object) -> Sequence:
    """Return the jobs in the order in which their pods were bound."""
    return [pod.split("/")[1].rsplit("-", 1)[0] for pod in decided(cycle, "bind")]


# the tree


def test_hdrf_divides_shares_by_weight() -> None:
    cycle = last_cycle(
        scenario(
            nodes=[node("n0", cpu=9, memory="18G")],
            queues=[annotated("qa", "root/a", "1/1"), annotated("qb", "root/b", "1/2")],
            podgroups=[podgroup("a", queue="qa"), podgroup("b", queue="qb")],
            pods=[*pods("a", 20, cpu=1, memory="4G"), *pods("b", 20, cpu=3, memory="1G")],
            conf=tree_conf(),
        )
    )
    assert "".join(turns(cycle)) == "abbaa"


def test_queue_of_weight_three_gets_three_turns_for_one() -> None:
    cycle = last_cycle(
        scenario(
            nodes=[node("n0", cpu=12, memory="12G")],
            queues=[annotated("qa", "root/a", "1/1"), annotated("qb", "root/b", "1/3")],
            podgroups=[podgroup("a", queue="qa"), podgroup("b", queue="qb")],
            pods=[*pods("a", 12, cpu=1, memory="1G"), *pods("b", 12, cpu=1, memory="1G")],
            conf=tree_conf(),
        )
    )
    assert "".join(turns(cycle)) == "abbb" * 3


DEPARTMENTS = [
    "ja",
    "jc",
    "jd",
    "jc",
    "jb",
    "jc",
    "jd",
    "ja",
    "jb",
    "jc",
    "jd",
    "jd",
    "jc",
    "jc",
    "ja",
    "jb",
    "jc",
    "jd",
    "jd",
    "jc",
    "jc",
    "jc",
    "ja",
    "jb",
    "jc",
    "jd",
    "jd",
    "jc",
    "ja",
    "jb",
    "jc",
    "jd",
    "jd",
    "jc",
    "jc",
    "ja",
    "jb",
    "jc",
    "jd",
    "jd",
    "jc",
    "jc",
    "jc",
    "ja",
    "jb",
    "jc",
    "jd",
    "jd",
    "jc",
    "jc",
    "ja",
    "jb",
    "jc",
    "jd",
    "jd",
    "jc",
    "ja",
    "jb",
    "jc",
    "jd",
]


def test_departments_and_teams_are_served_by_weight() -> None:
    cycle = last_cycle(
        scenario(
            nodes=[node("n0", cpu=60, memory="60G")],
            queues=[
                annotated("team-1", "root/dept-a/team-1", "1/4/2"),
                annotated("team-2", "root/dept-a/team-2", "1/4/3"),
                annotated("team-3", "root/dept-b/team-3", "1/2/1"),
            ],
            podgroups=[
                podgroup(name, queue=team, created=age)
                for age, (name, team) in enumerate(
                    [("ja", "team-1"), ("jb", "team-1"), ("jc", "team-2"), ("jd", "team-3")]
                )
            ],
            pods=[one for name in ("ja", "jb", "jc", "jd") for one in pods(name, 60, cpu=1, memory="1G")],
            conf=tree_conf(),
        )
    )
    assert turns(cycle) == DEPARTMENTS


WEIGHTS = {"2": 2.0, "0.5": 1.0, "-3": 1.0, "two": 1.0, "": 1.0, "1e2": 100.0, " 4": 1.0, "1_0": 1.0}


@pytest.mark.parametrize(("text", "want"), WEIGHTS.items())
def test_weight_below_one_or_not_a_number_is_read_as_one(text: str, want: float) -> None:
    assert weight_of(text) == want


def test_hierarchy_with_too_few_weights_crashes_volcano() -> None:
    document = scenario(
        nodes=[node("n0", cpu=1)],
        queues=[annotated("q", "root/a/b", "1/2")],
        podgroups=[podgroup("j", queue="q")],
        conf=tree_conf(),
    )
    assert "volcano.sh/hierarchy-weights" in simulate_document(document)["error"]


def test_first_queue_to_name_a_tree_node_sets_its_weight() -> None:
    cycle = last_cycle(
        scenario(
            nodes=[node("n0", cpu=1)],
            queues=[annotated("x", "root/a/x", "1/7/1"), annotated("y", "root/a/y", "1/9/1")],
            podgroups=[podgroup("later", queue="x"), podgroup("early", queue="y")],
            conf=tree_conf(),
        )
    )
    weights = {entry["path"]: entry["weight"] for entry in cycle["at_open"]["hdrf_tree"]}
    assert weights["root/a"] == 9
    assert weights["root/a/x/job:default/later"] == 1


def test_idle_child_counts_only_in_the_design() -> None:
    held, shares = np.array([[4.0], [0.0]]), np.array([0.4, 0.0])
    free = np.array([False, False])
    assert rescaled_sum(held, shares, free, idle_children_count=False).tolist() == [4]
    assert rescaled_sum(held, shares, free, idle_children_count=True).tolist() == [0]


def test_blocked_children_are_summed_without_rescaling() -> None:
    held, shares = np.array([[4.0], [2.0], [1.0]]), np.array([0.4, 0.2, 0.1])
    blocked = np.array([True, False, False])
    assert rescaled_sum(held, shares, blocked, idle_children_count=False).tolist() == [6]


# first counter-example: complementary children


def complementary(*, design: bool) -> Object:
    """Return the set-up of Volcano's own test: sci needs both resources, dev and prod one each."""
    return last_cycle(
        scenario(
            nodes=[node("n0", cpu=10, memory="10G", pods=50)],
            queues=[
                annotated("root-sci", "root/sci", "100/50"),
                annotated("root-eng-dev", "root/eng/dev", "100/50/50"),
                annotated("root-eng-prod", "root/eng/prod", "100/50/50"),
            ],
            podgroups=[
                podgroup("pg1", queue="root-sci", min_member=0),
                podgroup("pg21", queue="root-eng-dev", min_member=0),
                podgroup("pg22", queue="root-eng-prod", min_member=0),
            ],
            pods=[
                *pods("pg1", 10, cpu=1, memory="1G"),
                *pods("pg21", 10, cpu=1),
                *pods("pg22", 10, memory="1G"),
            ],
            conf=tree_conf(design=design),
        )
    )


def test_release_ends_at_4_6_6_because_the_heap_is_not_resorted() -> None:
    got = turns(complementary(design=False))
    want = "pg21 pg22 pg1 pg21 pg22 pg21 pg1 pg22 pg21 pg1 pg22 pg21 pg1 pg22 pg21 pg22"
    assert got == want.split()


def test_design_ends_at_5_5_5() -> None:
    assert Counter(turns(complementary(design=True))) == {"pg1": 5, "pg21": 5, "pg22": 5}


@dataclass
class Start:
    """The pods of group n2,1 when n1 and n2,2 begin to compete for ten GPUs."""

    running: int
    pending: int = 0
    size: int = 1
    release: tuple[int, int] = (10, 0)
    design: tuple[int, int] = (5, 5)


STARTS = {
    "nothing running": Start(0, 20, release=(5, 5)),
    "all cores allocated, no more requested": Start(10),
    "all cores allocated, more requested": Start(10, 10),
    "half of the cores allocated, no more requested": Start(5, release=(6, 4), design=(6, 4)),
    "waiting for more than is left": Start(9, 5, size=2),
}


def starving(start: Start, *, design: bool) -> Object:
    return last_cycle(
        scenario(
            nodes=[node("n0", cpu=10, memory="10G", gpu=10, pods=500)],
            queues=[
                annotated("q1", "root/n1", "100/50"),
                annotated("q21", "root/n2/n21", "100/50/50"),
                annotated("q22", "root/n2/n22", "100/50/50"),
            ],
            podgroups=[
                podgroup("j1", queue="q1"),
                podgroup("j21", queue="q21"),
                podgroup("j22", queue="q22"),
            ],
            pods=[
                *pods("j1", 20, gpu=1),
                *pods("j21", start.running, node="n0", cpu=1),
                *pods("j21", start.pending, first=start.running, cpu=start.size),
                *pods("j22", 20, gpu=1),
            ],
            conf=tree_conf(design=design),
        )
    )


@pytest.mark.parametrize("design", [False, True], ids=["release", "design"])
@pytest.mark.parametrize("start", STARTS.values(), ids=STARTS.keys())
def test_starvation_by_a_sibling_with_another_dominant_resource(start: Start, *, design: bool) -> None:
    bound = Counter(turns(starving(start, design=design)))
    assert (bound["j1"], bound["j22"]) == (start.design if design else start.release)


# second counter-example: blocked nodes


BLOCKED = [
    "pg1",
    "pg2",
    "pg31",
    "pg32",
    "pg4",
    "pg1",
    "pg2",
    "pg31",
    "pg32",
    "pg31",
    "pg4",
    "pg1",
    "pg2",
    "pg32",
    "pg31",
    "pg4",
    "pg1",
    "pg2",
    "pg32",
    "pg31",
    "pg4",
    "pg1",
    "pg2",
    "pg32",
    "pg31",
    "pg4",
    "pg1",
    "pg2",
    "pg32",
    "pg31",
    "pg4",
    "pg1",
    "pg2",
    "pg32",
    "pg31",
    "pg4",
    "pg1",
    "pg2",
    "pg32",
    "pg31",
    "pg4",
    "pg1",
    "pg2",
    "pg4",
    "pg32",
    "pg31",
    "pg1",
    "pg2",
    "pg32",
    "pg4",
    "pg32",
    "pg4",
    "pg32",
    "pg4",
    "pg32",
    "pg4",
    "pg32",
    "pg4",
    "pg32",
    "pg4",
]


def blocked(*, design: bool) -> Sequence:
    paths = {
        "pg1": ("root/pg1", "100/25"),
        "pg2": ("root/pg2", "100/25"),
        "pg31": ("root/pg3/pg31", "100/25/50"),
        "pg32": ("root/pg3/pg32", "100/25/50"),
        "pg4": ("root/pg4", "100/25"),
    }
    return turns(
        last_cycle(
            scenario(
                nodes=[node("n0", cpu=30, memory="30G", pods=500)],
                queues=[annotated(f"root-{name}", *path) for name, path in paths.items()],
                podgroups=[podgroup(name, queue=f"root-{name}", min_member=0) for name in paths],
                pods=[
                    *(one for name in ("pg1", "pg2", "pg31") for one in pods(name, 30, cpu=1)),
                    *(one for name in ("pg32", "pg4") for one in pods(name, 30, memory="1G")),
                ],
                conf=tree_conf(design=design),
            )
        )
    )


def test_exhausted_resource_does_not_block_other_queues_in_the_release() -> None:
    assert blocked(design=False) == BLOCKED


@pytest.mark.parametrize("design", [False, True], ids=["release", "design"])
def test_remaining_resources_are_divided_evenly(*, design: bool) -> None:
    assert Counter(blocked(design=design)) == {"pg1": 10, "pg2": 10, "pg31": 10, "pg32": 15, "pg4": 15}


def test_plugin_page_shows_the_results_of_the_counterexamples() -> None:
    def ratio(jobs: Sequence, *names: str) -> str:
        return " : ".join(str(jobs.count(name)) for name in names)

    got = [
        [
            ratio(turns(complementary(design=design)), "pg1", "pg21", "pg22"),
            ratio(
                turns(starving(STARTS["all cores allocated, no more requested"], design=design)), "j1", "j22"
            ),
            ratio(blocked(design=design), "pg32", "pg4"),
        ]
        for design in (False, True)
    ]
    rows = table("drf", "What the release does, and what its design document says")
    assert [list(column) for column in zip(*(row[1:] for row in rows), strict=True)] == got


# reclaim


RECLAIMS = {
    "equal weights: up to 4 of 10": (1, 4, 4),
    "equal weights: never 5 of 10": (1, 5, 0),
    "weight 3: up to 7 of 10": (3, 7, 7),
    "weight 3: never 8 of 10": (3, 8, 0),
}


@pytest.mark.parametrize(("weight", "min_member", "want"), RECLAIMS.values(), ids=RECLAIMS.keys())
def test_reclaim_stops_one_task_before_equal_shares(weight: int, min_member: int, want: int) -> None:
    # minMember 0, because with 1 gang would keep the last pod by name, and pod 8 would be evicted first
    cycle = last_cycle(
        scenario(
            nodes=[node("n0", cpu=10, memory="10G")],
            queues=[annotated("a", "root/a", "1/1"), annotated("b", "root/b", f"1/{weight}")],
            podgroups=[
                podgroup("job-a", queue="a", min_member=0),
                podgroup("job-b", queue="b", min_member=min_member),
            ],
            pods=[
                *pods("job-a", 10, node="n0", cpu=1, memory="1G"),
                *pods("job-b", 10, cpu=1, memory="1G"),
            ],
            conf=tree_conf(actions="reclaim"),
        )
    )
    assert decided(cycle, "evict") == [f"default/job-a-{9 - number}" for number in range(want)]
    assert len(decided(cycle, "pipeline")) == want


def test_explanation_lists_the_nodes_of_the_queues_path() -> None:
    cycle = last_cycle(
        scenario(
            nodes=[node("n0", cpu=4)],
            queues=[annotated("q", "root/a/b", "1/2/4")],
            podgroups=[podgroup("j", queue="q")],
            pods=pods("j", 1, node="n0", cpu=2),
            conf=tree_conf(),
        )
    )
    levels = cycle["explain"]["deserved"]["q"]
    assert [entry["node"] for entry in levels] == ["root", "root/a", "root/a/b"]
    assert [entry["share_per_weight"] for entry in levels] == [0.5, 0.25, 0.125]


# incremental updates of the tree


STEPS = st.lists(
    st.tuples(st.sampled_from(["place", "evict", "compare", "reclaim"]), st.integers(0, 11)), max_size=25
)


@pytest.mark.parametrize("design", [False, True], ids=["release", "design"])
@given(steps=STEPS)
def test_incrementally_updated_tree_equals_a_new_tree(steps: list[tuple[str, int]], *, design: bool) -> None:
    paths = ["root/a/x", "root/a/y", "root/b", ""]
    session = session_of(
        scenario(
            nodes=[node("n0", cpu=8, memory="8G", gpu=2)],
            queues=[annotated(f"q{turn}", path, "1/2/3") for turn, path in enumerate(paths)],
            podgroups=[podgroup(f"j{turn}", queue=f"q{turn}") for turn in range(4)],
            pods=[
                one
                for turn in range(4)
                for one in (
                    *pods(f"j{turn}", 1, node="n0", cpu=1, memory="1G"),
                    *pods(f"j{turn}", 2, first=1, cpu=turn, memory="1G", gpu=turn % 2),
                )
            ],
            conf=tree_conf(design=design),
        )
    )
    tasks = [task_of(session, f"default-j{number % 4}-{number // 4}") for number in range(12)]
    placed = set(tasks[:4])
    for what, number in steps:
        task = tasks[number]
        if what == "place" and task not in placed:
            session.events.fire_allocate(task)
            placed.add(task)
        elif what == "evict" and task in placed:
            session.events.fire_deallocate(task)
            placed.discard(task)
        elif what == "compare":
            session.orders.queue_before(session.queues[f"q{number % 4}"], session.queues[f"q{number // 3}"])
        elif what == "reclaim" and task not in placed:
            select_victims(session, Point.RECLAIMABLE, task, sorted(placed, key=lambda one: one.uid))
    drf = next(report.__self__ for report in session.registry.reports)
    fresh = Hierarchy(session, drf.accounts, drf.total, by_design=design)
    assert plain(drf.hierarchy.report()) == plain(fresh.report())
