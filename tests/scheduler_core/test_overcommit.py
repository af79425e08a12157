"""Plugin overcommit: how many jobs may be enqueued beyond the capacity of the cluster."""

from __future__ import annotations

import pytest

from tests.builders import Object, conf, decided, last_cycle, node, pod, podgroup, pods, scenario
from tests.scheduler_core.pages import table
from tests.scheduler_core.queues import GI

CLUSTER = [node("n0", cpu=10, memory="10Gi")]


def cycle(podgroups: list[Object], running: list[Object] = [], **arguments: object) -> Object:  # noqa: B006
    return last_cycle(
        scenario(
            nodes=CLUSTER,
            podgroups=podgroups,
            pods=running,
            conf=conf("enqueue", [("overcommit", {"arguments": arguments})]),
        )
    )


def waiting(*cpus: int) -> list[Object]:
    """Return jobs to enqueue one after the other, named after their requests."""
    return [
        podgroup(f"cpu-{cpu}", min_resources={"cpu": cpu}, phase="Pending", created=turn)
        for turn, cpu in enumerate(cpus)
    ]


def test_default_factor_admits_twelve_cores_on_ten() -> None:
    actual = cycle(waiting(8, 5, 4, 1))
    assert decided(actual, "enqueue") == ["default/cpu-8", "default/cpu-4"]
    assert decided(actual, "enqueue_reject") == ["default/cpu-5", "default/cpu-1"]
    assert actual["at_open"]["overcommit"]["idle"]["cpu"] == 12000
    assert actual["at_end"]["overcommit"]["inqueue"]["cpu"] == 12000


def test_plugin_page_shows_the_votes() -> None:
    votes = {"enqueue": "permit", "enqueue_reject": "reject"}
    rows, beside = [], 0
    for entry in cycle(waiting(8, 5, 4, 1))["decisions"]:
        name = entry["job"].split("/")[1]
        minimum = int(name.split("-")[1])
        rows.append([name, str(minimum), str(beside), votes[entry["op"]]])
        beside += minimum if entry["op"] == "enqueue" else 0
    assert table("overcommit", "Worked example") == rows


FACTORS = {1.5: 15000, 2: 20000, 1.0: 10000, 0.8: 12000, "2": 12000}


@pytest.mark.parametrize(("factor", "idle"), FACTORS.items())
def test_factor_below_one_or_not_a_number_is_the_default(factor: object, idle: int) -> None:
    actual = cycle([], **{"overcommit-factor": factor})
    assert actual["at_open"]["overcommit"]["idle"]["cpu"] == idle


def test_all_pods_on_a_node_count_as_used() -> None:
    on_node = [
        pod("other", node="n0", cpu=2, spec={"schedulerName": "other"}),
        *pods("job-a", 1, node="n0", deleting=True, cpu=1),
    ]
    actual = cycle([podgroup("job-a")], on_node)
    assert actual["at_open"]["overcommit"]["idle"]["cpu"] == 9000
    assert actual["at_open"]["overcommit"]["total"]["cpu"] == 10000


def test_inqueue_job_counts_fully_and_running_job_by_its_missing_resources() -> None:
    groups = [
        podgroup("in", min_member=2, min_resources={"cpu": 4, "memory": "1Gi"}),
        podgroup("run", min_member=1, min_resources={"cpu": 3}, phase="Running"),
        podgroup("torn", min_member=2, min_resources={"cpu": 3}, phase="Running"),
    ]
    on_node = [
        *pods("in", 1, node="n0", cpu=2),
        *pods("run", 1, node="n0", cpu=1),
        *pods("torn", 1, node="n0", cpu=1),
    ]
    assert cycle(groups, on_node)["at_open"]["overcommit"]["inqueue"] == {"cpu": 6000, "memory": GI}


def test_rejection_names_every_resource_and_the_missing_amount() -> None:
    actual = cycle([podgroup("big", min_resources={"cpu": 13, "memory": "20Gi"}, phase="Pending")])
    (decision,) = actual["decisions"]
    assert decision["reason"] == "resource in cluster is overused: overused cpu, overused memory"
    why = actual["explain"]["pending"]["default/big"]
    assert (why["plugin"], why["resource"], why["missing"]) == ("overcommit", "cpu", 1000)
