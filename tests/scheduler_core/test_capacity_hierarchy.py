"""Plugin capacity with a tree: every queue stays within its quota and those of its ancestors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.framework.session import Session
from scheduler_core.resource import UNLIMITED, UNLIMITED_SCALAR
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
from tests.scheduler_core.queues import (
    GI,
    derivation,
    in_order,
    is_allocatable,
    is_preemptive,
    reclaimed,
    reported,
    tasks_of,
)

CLUSTER = [node("n0", cpu=32, memory="64Gi", gpu=4)]


def tree_conf(actions: str = "enqueue, allocate", **arguments: Any) -> Object:
    return conf(actions, [("capacity", {"enableHierarchy": True, "arguments": arguments})])


def tree(queues: list[Object], groups: Mapping[str, list[Object]], **arguments: Any) -> Session:
    """Return a session with one PodGroup per queue named: ``job-a`` in queue ``a``."""
    return session_of(
        scenario(
            nodes=CLUSTER,
            queues=queues,
            podgroups=[podgroup(f"job-{name}", queue=name) for name in groups],
            pods=[one for group in groups.values() for one in group],
            conf=tree_conf(**arguments),
        ),
        explain=True,
    )


# the worked examples


def organisation(**root: Any) -> Session:
    def running(name: str, count: int, **request: Any) -> list[Object]:
        return pods(f"job-{name}", count, node="n0", **request)

    return tree(
        [
            queue("root", **root),
            queue(
                "eng", capability={"cpu": 24}, deserved={"cpu": 16, "memory": "32Gi"}, guarantee={"cpu": 4}
            ),
            queue("dev", parent="eng", deserved={"cpu": 6, "memory": "8Gi"}, guarantee={"cpu": 2}),
            queue(
                "prod",
                parent="eng",
                deserved={"cpu": 10, "memory": "16Gi"},
                guarantee={"cpu": 2},
                capability={"cpu": 30, "memory": "16Gi"},
            ),
            queue("sci", deserved={"cpu": 8, "memory": "16Gi"}, guarantee={"cpu": 3}),
            queue("be"),
        ],
        {
            "dev": running("dev", 4, cpu=2, memory="2Gi"),
            "prod": running("prod", 4, cpu=1, memory="1Gi"),
            "sci": [*running("sci", 2, cpu=3, memory="2Gi"), *pods("job-sci", 1, first=2, cpu=1, gpu=1)],
            "be": running("be", 1, cpu=1, memory="4Gi"),
        },
    )


EVERYTHING = {
    "cpu": UNLIMITED,
    "memory": UNLIMITED,
    "nvidia.com/gpu": UNLIMITED_SCALAR,
    "pods": UNLIMITED_SCALAR,
}


def test_real_capability_is_inherited_less_the_guarantees_of_siblings() -> None:
    queues = reported(organisation())
    real = {name: entry["realCapability"] for name, entry in queues.items()}
    assert real["root"] == real["sci"] == real["be"] == real["default"] == EVERYTHING
    assert real["eng"] == {**EVERYTHING, "cpu": 24000}
    assert real["dev"] == {**EVERYTHING, "cpu": 22000}
    assert real["prod"] == {**EVERYTHING, "cpu": 22000, "memory": 16 * GI}
    assert queues["prod"]["capability"] == {**EVERYTHING, "cpu": 30000, "memory": 16 * GI}


def test_root_deserves_the_sum_of_its_children() -> None:
    queues = reported(organisation())
    assert queues["root"]["deserved"] == {"cpu": 24000, "memory": 48 * GI}
    assert queues["root"]["guarantee"] == {"cpu": 7000, "memory": 0}
    assert queues["root"]["children"] == ["be", "default", "eng", "sci"]
    assert queues["dev"]["ancestors"] == ["root", "eng"]
    shares = {name: entry["share"] for name, entry in queues.items()}
    want = {"be": 1, "default": 1, "dev": 8 / 6, "eng": 0.75, "prod": 0.4, "root": 19 / 24, "sci": 0.75}
    assert shares == pytest.approx(want)


def test_unrelated_queues_are_ordered_by_their_ancestors() -> None:
    assert in_order(organisation(), "be", "dev", "prod", "sci") == ["prod", "dev", "sci", "be"]


def test_reclaim_takes_from_the_closest_relative_queue_first() -> None:
    session = organisation()
    prod, sci, dev = (session.queues[name] for name in ("prod", "sci", "dev"))
    assert session.orders.victim_queue_before(prod, sci, dev)
    assert not session.orders.victim_queue_before(sci, prod, dev)


def test_root_capability_is_not_completed_from_the_cluster() -> None:
    session = organisation(capability={"cpu": 32, "memory": "64Gi"})
    real = {name: entry["realCapability"] for name, entry in reported(session).items()}
    assert {name: real[name]["cpu"] for name in ("sci", "be", "eng")} == {
        "sci": 28000,
        "be": 25000,
        "eng": 24000,
    }
    assert set(real["sci"]) == {"cpu", "memory"}
    assert not is_allocatable(session, "job-sci-2")


def test_cluster_total_is_no_limit_without_a_root_capability() -> None:
    groups = [podgroup("big", min_resources={"cpu": 1000}, phase="Pending")]
    assert decided(
        last_cycle(scenario(nodes=CLUSTER, podgroups=groups, conf=tree_conf("enqueue"))), "enqueue"
    )
    flat = conf("enqueue", ["capacity"])
    assert not decided(last_cycle(scenario(nodes=CLUSTER, podgroups=groups, conf=flat)), "enqueue")


def test_explanation_has_one_entry_per_level_of_the_tree() -> None:
    levels = derivation(organisation(), "dev")
    assert [entry["queue"] for entry in levels] == ["root", "eng", "dev"]
    assert levels[2]["available"].cpu == 24000
    assert levels[2]["guaranteed"].cpu == 4000
    assert levels[2]["realCapability"].cpu == 22000
    assert "available" not in levels[0]


RECLAIMS = {
    ("job-t3-0", 0): (["job-t4-0", "job-t1-2"], True),
    ("job-t3-0", 1): (["job-t4-0"], True),
    ("job-t3-0", 2): (["job-t4-0"], True),
    ("job-t5-0", 0): (["job-t4-0", "job-t1-2"], False),
    ("job-t5-0", 1): ([], True),
    ("job-t5-0", 2): ([], True),
}


@pytest.mark.parametrize(("reclaiming", "want"), RECLAIMS.items(), ids=str)
def test_reclaim_checks_the_configured_number_of_ancestor_levels(
    reclaiming: tuple[str, int], want: tuple[list[str], bool]
) -> None:
    reclaimer, levels = reclaiming
    session = tree(
        [
            queue("org1", deserved={"cpu": 10}),
            queue("org2", deserved={"cpu": 10}),
            queue("t1", parent="org1", deserved={"cpu": 4}),
            queue("t2", parent="org1", deserved={"cpu": 6}),
            queue("t3", parent="org2", deserved={"cpu": 6}),
            queue("t4", parent="org2"),
            queue("t5", parent="org2"),
        ],
        {
            "t1": pods("job-t1", 3, node="n0", cpu=2),
            "t2": pods("job-t2", 1, node="n0", cpu=2),
            "t3": pods("job-t3", 1, cpu=2),
            "t4": pods("job-t4", 1, node="n0", cpu=2),
            "t5": pods("job-t5", 1, cpu=2),
        },
        ancestorReclaimLevel=levels,
    )
    victims = reclaimed(session, reclaimer, "job-t1", "job-t2", "job-t4")
    assert (victims, is_preemptive(session, reclaimer)) == want


def test_shares_of_ancestors_are_not_updated_by_allocations() -> None:
    session = tree(
        [
            queue("p1", deserved={"cpu": 4}),
            queue("p2", deserved={"cpu": 4}),
            queue("z1", parent="p1", deserved={"cpu": 4}),
            queue("a2", parent="p2", deserved={"cpu": 4}),
        ],
        {"z1": pods("job-z1", 1, cpu=2), "a2": pods("job-a2", 1, node="n0", cpu=1)},
    )
    assert in_order(session, "a2", "z1") == ["z1", "a2"]
    session.events.fire_allocate(tasks_of(session, "job-z1", running=False)[0])
    queues = reported(session)
    assert queues["p1"]["allocated"]["cpu"] == 2000
    assert (queues["z1"]["share"], queues["p1"]["share"]) == (0.5, 0)
    assert in_order(session, "a2", "z1") == ["z1", "a2"]


# invalid trees


BROKEN = {
    "job in a queue with children": (
        [queue("a"), queue("b", parent="a")],
        {"a": pods("job-a", 1, cpu=1), "b": pods("job-b", 1, cpu=1)},
        "job default/job-a is in queue a, which has children",
    ),
    "missing parent": (
        [queue("a"), queue("b", parent="gone")],
        {"a": pods("job-a", 1, cpu=1)},
        "queue b names parent gone, which does not exist",
    ),
}


@pytest.mark.parametrize(("queues", "groups", "why"), BROKEN.values(), ids=BROKEN.keys())
def test_invalid_tree_stops_all_placements(
    queues: list[Object], groups: dict[str, list[Object]], why: str
) -> None:
    session = tree(queues, groups)
    refusal = session.plugins.allocatable(session.queues["a"], tasks_of(session, "job-a", running=False)[0])
    assert refusal is not None
    assert refusal["message"] == f"capacity places nothing in this session: {why}"
    assert not is_preemptive(session, "job-a-0")


def test_queues_read_before_the_failure_keep_their_attributes() -> None:
    session = tree(
        [queue("a"), queue("b", parent="gone"), queue("c")], {"a": pods("job-a", 1, node="n0", cpu=1)}
    )
    assert list(reported(session)) == ["a", "b", "root"]
    assert reported(session)["a"]["ancestors"] == ["root"]
    assert reported(session)["a"]["allocated"] == {"cpu": 0, "memory": 0}


def test_allocation_updates_only_the_share_of_the_jobs_own_queue() -> None:
    session = tree(
        [queue("a", deserved={"cpu": 4}), queue("b", parent="a", deserved={"cpu": 4})],
        {"a": pods("job-a", 1, node="n0", cpu=1), "b": pods("job-b", 1, node="n0", cpu=2)},
    )
    for name in ("job-a", "job-b"):
        session.events.fire_allocate(tasks_of(session, name, running=True)[0])
    queues = reported(session)
    assert {name: queues[name]["share"] for name in ("a", "b")} == {"a": 0.25, "b": 0.5}
    assert queues["a"]["allocated"]["cpu"] == 3000


# equality with flat queues


AMOUNT = st.none() | st.integers(1, 12)
QUEUES = st.lists(st.tuples(AMOUNT, AMOUNT, AMOUNT, st.integers(0, 4)), min_size=1, max_size=5)


@given(drawn=QUEUES)
def test_single_level_tree_below_a_cluster_sized_root_equals_no_tree(drawn: list[Any]) -> None:
    def amount(value: int | None) -> dict[str, int] | None:
        return None if value is None else {"cpu": value}

    cluster = {"cpu": 32, "memory": "64Gi", "gpu": 4, "pods": 110}
    queues = [
        queue(f"q{number}", guarantee=amount(least), deserved=amount(deserved), capability=amount(most))
        for number, (least, deserved, most, _) in enumerate(drawn)
    ]
    groups = {
        f"q{number}": pods(f"job-q{number}", running, node="n0", cpu=1, memory="1Gi")
        for number, (*_, running) in enumerate(drawn)
    }
    parts = ("realCapability", "allocated", "request", "elastic", "guarantee")
    one_level = reported(tree([queue("root", capability=cluster), *queues], groups))
    document = scenario(
        nodes=CLUSTER,
        queues=queues,
        podgroups=[podgroup(f"job-{name}", queue=name) for name in groups],
        pods=[one for group in groups.values() for one in group],
        conf=conf("enqueue", ["capacity"]),
    )
    flat = reported(session_of(document))
    for name, entry in flat.items():
        assert {part: entry[part] for part in parts} == {part: one_level[name][part] for part in parts}
        for resource, deserved in entry["deserved"].items():
            limits = (entry["realCapability"].get(resource, 0), entry["guarantee"].get(resource, 0))
            assert deserved <= max(limits)
