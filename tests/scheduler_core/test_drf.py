"""Plugin drf: dominant shares, and the order and evictions that follow from them."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.session import Session
from scheduler_core.plugins.drf.share import Share, TotalResource
from scheduler_core.resource import Resource
from tests.builders import Object, conf, decided, last_cycle, node, podgroup, pods, scenario, session_of
from tests.scheduler_core.pages import table
from tests.scheduler_core.queues import names, tasks_of
from tests.scheduler_core.states import task_of

DRF = conf("allocate", ["gang", "drf"])


def turns(cycle: Object) -> str:
    """Return the jobs in the order in which their pods were bound, one letter each."""
    return "".join(pod.split("/")[1][0] for pod in decided(cycle, "bind"))


def paper(*, min_member: int = 1, older: str = "a") -> Object:
    """Return the example of the DRF paper: 9 cores and 18 GB, tasks of (1, 4) and of (3, 1)."""
    return last_cycle(
        scenario(
            nodes=[node("n0", cpu=9, memory="18G")],
            podgroups=[
                podgroup(f"{name}-job", min_member=min_member, created=0 if name == older else 1)
                for name in "ab"
            ],
            pods=[*pods("a-job", 20, cpu=1, memory="4G"), *pods("b-job", 20, cpu=3, memory="1G")],
            conf=DRF,
        )
    )


def test_drf_paper_example() -> None:
    cycle = paper()
    assert turns(cycle) == "ababa"
    shares = {job: entry["share"] for job, entry in cycle["at_end"]["drf_jobs"].items()}
    assert shares == {"default/a-job": 0.6666666666666666, "default/b-job": 0.6666666666666666}
    assert cycle["at_end"]["drf_jobs"]["default/a-job"]["dominantResource"] == "memory"
    assert cycle["at_end"]["drf_jobs"]["default/b-job"]["dominantResource"] == "cpu"


def test_plugin_page_shows_the_shares_before_each_turn() -> None:
    total_resource = TotalResource(Resource(9000, 18e9))
    request = {"a": Resource(1000, 4e9), "b": Resource(3000, 1e9)}
    held = {"a": Resource(), "b": Resource()}
    rows = []
    for turn, job in enumerate(turns(paper()), start=1):
        shares = [f"{total_resource.dominant_share(held[name]).value:.4g}" for name in "ab"]
        rows.append([str(turn), *shares, job])
        held[job].add(request[job])
    assert table("drf", "Worked example") == rows


@pytest.mark.parametrize(
    ("facts", "want"),
    [({"older": "b"}, "baaba"), ({"min_member": 2}, "aabba"), ({"min_member": 3}, "aaaa")],
)
def test_job_order_depends_on_age_and_min_member(facts: dict[str, Any], want: str) -> None:
    assert turns(paper(**facts)) == want


def test_pods_may_be_the_dominant_resource() -> None:
    cycle = last_cycle(
        scenario(
            nodes=[node("n0", cpu=100, memory="100G", pods=10)],
            podgroups=[podgroup("a-job", created=0), podgroup("b-job", created=1)],
            pods=[*pods("a-job", 20, cpu=1, memory="1G"), *pods("b-job", 20, cpu=20, memory="1G")],
            conf=DRF,
        )
    )
    assert turns(cycle) == "abaabaabaa"
    assert cycle["at_end"]["drf_jobs"]["default/a-job"]["dominantResource"] == "pods"


SHARES = {
    "largest fraction": (Resource(1000, 8.0), Share(0.5, "memory")),
    "equal fractions: cpu": (Resource(2000, 8.0), Share(0.5, "cpu")),
    "pods are a resource": (Resource(1000, 0.0, {"pods": 9.0}), Share(0.9, "pods")),
    "equal scalars: by name": (Resource(0.0, 0.0, {"pods": 5.0, "gpu": 500.0}), Share(0.5, "gpu")),
    "resource the cluster lacks is ignored": (Resource(0.0, 0.0, {"fpga": 9.0}), Share(0.0, "")),
    "more than the total": (Resource(8000), Share(2.0, "cpu")),
}


@pytest.mark.parametrize(("held", "want"), SHARES.values(), ids=SHARES.keys())
def test_dominant_share_of_a_job(held: Resource, want: Share) -> None:
    total = Resource(4000, 16.0, {"pods": 10.0, "gpu": 1000.0})
    assert TotalResource(total).dominant_share(held) == want


@pytest.fixture
def crowded() -> Session:
    """4 cores; job rich runs two pods of 2 cores, job poor has one pending."""
    return session_of(
        scenario(
            nodes=[node("n0", cpu=4, memory="4G")],
            podgroups=[podgroup("rich"), podgroup("poor")],
            pods=[*pods("rich", 2, node="n0", cpu=2, memory="2G"), *pods("poor", 1, cpu=2, memory="2G")],
            conf=DRF,
        )
    )


def test_preemption_does_not_take_a_job_below_the_preemptors_share(crowded: Session) -> None:
    answer = crowded.functions[Point.PREEMPTABLE][1]
    why: dict[str, Any] = {}
    accepted = answer(task_of(crowded, "default-poor-0"), tasks_of(crowded, "rich", running=True), why)
    assert names(accepted) == ["rich-0"]
    assert why["default-rich-0"][1] == {"share": 0.5, "preemptor": 0.5}
    assert why["default-rich-1"][0] == "the job's dominant share would fall below that of the preemptor's job"


def test_refused_candidates_still_reduce_the_share_for_later_candidates() -> None:
    session = session_of(
        scenario(
            nodes=[node("n0", cpu=10)],
            podgroups=[podgroup("rich"), podgroup("poor")],
            pods=[
                *pods("rich", 1, node="n0", cpu=4),
                *pods("rich", 2, first=1, node="n0", cpu=1),
                *pods("poor", 1, cpu=3),
            ],
            conf=DRF,
        )
    )
    answer = session.functions[Point.PREEMPTABLE][1]
    first, *rest = tasks_of(session, "rich", running=True)
    assert names(answer(task_of(session, "default-poor-0"), [first, *rest], None)) == []
    assert names(answer(task_of(session, "default-poor-0"), rest, None)) == ["rich-1", "rich-2"]


def test_allocations_and_evictions_update_the_share_immediately(crowded: Session) -> None:
    def share(job: str) -> float:
        actual = next(report()["drf_jobs"] for report in crowded.registry.reports if "drf_jobs" in report())
        value: float = actual[f"default/{job}"]["share"]
        return value

    task = tasks_of(crowded, "rich", running=True)[0]
    assert (share("rich"), share("poor")) == (1, 0)
    crowded.events.fire_deallocate(task)
    assert share("rich") == 0.5
    crowded.events.fire_allocate(task_of(crowded, "default-poor-0"))
    assert share("poor") == 0.5
    assert not crowded.orders.compare_jobs(crowded.jobs["default/rich"], crowded.jobs["default/poor"]) < 0
