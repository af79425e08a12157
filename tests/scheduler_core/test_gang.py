"""Plugin gang: a job gets its minMember or nothing, and how many pods it can lose."""

from __future__ import annotations

from collections import Counter

import pytest

from scheduler_core.framework.extension_points import Vote
from scheduler_core.model.job import JobInfo
from scheduler_core.plugins.gang import job_pipelined, job_ready, job_valid, surplus_tasks
from tests.builders import Object, conf, last_cycle, node, podgroup, pods, scenario, session_of
from tests.scheduler_core.pages import table

PLUGINS = ["priority", "gang", "predicates"]


def bound(cycle: Object) -> Counter[str]:
    """Return how many pods of each job were bound."""
    return Counter(d["job"].split("/")[1] for d in cycle["decisions"] if d["op"] == "bind")


def test_plugin_page_shows_which_pods_are_bound() -> None:
    rows = table("gang", "Worked example")
    cycle = last_cycle(
        scenario(
            nodes=[node("n0", cpu=4)],
            podgroups=[
                podgroup(job, min_member=int(minimum), created=turn)
                for turn, (job, minimum, _, _) in enumerate(rows)
            ],
            pods=[pod for job, _, count, _ in rows for pod in pods(job, int(count), cpu=1)],
            conf=conf("allocate", PLUGINS),
        )
    )
    got = bound(cycle)
    assert {job: got[job] for job, *_ in rows} == {job: int(want) for job, _, _, want in rows}


@pytest.mark.parametrize("row", table("gang", "How many pods a gang can lose"), ids=" of ".join)
def test_plugin_page_shows_how_many_pods_a_gang_can_lose(row: list[str]) -> None:
    running, minimum, want = map(int, row)
    session = session_of(
        scenario(
            nodes=[node("n0", cpu=8)],
            podgroups=[podgroup("run", min_member=minimum, phase="Running")],
            pods=pods("run", running, node="n0", cpu=1),
            conf=conf("preempt", PLUGINS),
        )
    )
    candidates = session.nodes.tasks.in_order(0)
    why: dict[str, object] = {}
    accepted = surplus_tasks(candidates[0], candidates, why)
    assert accepted == candidates[:want]
    assert len(why) == running


def job_with(*, min_member: int, running: int = 0, pending: int = 0) -> JobInfo:
    session = session_of(
        scenario(
            nodes=[node("n0", cpu=8)],
            podgroups=[podgroup("run", min_member=min_member, phase="Running")],
            pods=[
                *pods("run", running, node="n0", cpu=1),
                *pods("run", pending, first=running, cpu=1),
            ],
            conf=conf("allocate", PLUGINS),
        )
    )
    return session.jobs["default/run"]


def test_job_with_fewer_pods_than_min_member_is_invalid() -> None:
    assert job_valid(job_with(min_member=3, running=1, pending=2)) is None
    assert job_valid(job_with(min_member=4, running=1, pending=2)) == (
        "NotEnoughTasks",
        "Not enough valid tasks for gang-scheduling, valid: 3, min: 4",
    )


def test_gang_below_min_member_is_neither_ready_nor_pipelined() -> None:
    job = job_with(min_member=2, running=1, pending=2)
    assert not job_ready(job)
    assert job_pipelined(job) is Vote.REJECT
    complete = job_with(min_member=2, running=2)
    assert job_ready(complete)
    assert job_pipelined(complete) is Vote.PERMIT
