"""Plugin sla: deadlines of waiting jobs, and votes on overdue jobs."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from scheduler_core.framework.extension_points import Vote
from scheduler_core.framework.session import Session
from scheduler_core.model.annotations import positive_duration
from scheduler_core.plugins.sla import Sla
from tests.builders import (
    amounts,
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

OWN = "volcano.sh/sla-waiting-time"
SHORT = "sla-waiting-time"


class Case(NamedTuple):
    """Annotations of a PodGroup, the plugin's argument, and how many seconds the job may wait."""

    want: float | None
    annotations: dict[str, str]
    argument: Any = None


CASES = {
    "neither annotation nor argument": Case(None, {}),
    "argument": Case(600.0, {}, "10m"),
    "annotation overrides the argument": Case(60.0, {OWN: "1m"}, "10m"),
    "long annotation name overrides the short one": Case(60.0, {OWN: "1m", SHORT: "1h"}),
    "short annotation name": Case(3600.0, {SHORT: "1h"}),
    "unparsable annotation falls back": Case(3600.0, {OWN: "soon", SHORT: "1h"}),
    "zero falls back": Case(600.0, {OWN: "0s"}, "10m"),
    "negative argument is ignored": Case(None, {}, "-10m"),
    "number is not a duration": Case(None, {}, 600),
    "seconds need a unit": Case(None, {OWN: "600"}),
}


def opened(annotations: dict[str, str], argument: Any = None, **fields: Any) -> Session:
    entry = ("sla", {"arguments": {SHORT: argument}} if argument is not None else {})
    return session_of(
        scenario(podgroups=[podgroup("a", annotations=annotations)], conf=conf("enqueue", [entry]), **fields)
    )


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_waiting_time_is_read_from_annotations_and_argument(case: Case) -> None:
    session = opened(case.annotations)
    sla = Sla(positive_duration(case.argument), session.now)
    assert sla.waiting_time(session.jobs["default/a"]) == case.want


CREATED_AT_MIDNIGHT = {
    "one second early": ("2026-01-01T00:09:59Z", Vote.ABSTAIN),
    "on time": ("2026-01-01T00:10:00Z", Vote.PERMIT),
}


@pytest.mark.parametrize(("now", "want"), CREATED_AT_MIDNIGHT.values(), ids=CREATED_AT_MIDNIGHT.keys())
def test_job_is_overdue_from_its_deadline_on(now: str, want: Vote) -> None:
    session = opened({OWN: "10m"}, now=now)
    assert Sla(None, session.now).vote(session.jobs["default/a"]) is want


def test_jobs_are_ordered_by_deadline_and_jobs_without_one_come_last() -> None:
    session = session_of(
        scenario(
            podgroups=[
                podgroup("late", annotations={OWN: "2h"}),
                podgroup("never"),
                podgroup("soon", created=60, annotations={OWN: "1h"}),
                podgroup("always"),
            ],
            conf=conf("enqueue", ["sla"]),
        )
    )
    ordered = []
    jobs = list(session.jobs.values())
    while jobs:
        first = next(
            j for j in jobs if all(session.orders.job_before(j, other) for other in jobs if other is not j)
        )
        ordered.append(first.name)
        jobs.remove(first)
    assert ordered == ["soon", "late", "always", "never"]


def waiting(*tiers: Any, actions: str = "enqueue") -> dict[str, Any]:
    """Return a job that has waited for 12 h in a cluster that is too small for it."""
    return scenario(
        nodes=[node("n0", cpu=1)],
        queues=[queue("a", capability={"cpu": 1})],
        podgroups=[
            podgroup("big", queue="a", phase="Pending", min_resources={"cpu": 4}, annotations={OWN: "1h"})
        ],
        pods=pods("big", 1, cpu=4),
        conf=conf(actions, *tiers),
    )


ENTERING = {
    "lower tier cannot reject an overdue job": ([["sla"], ["overcommit", "proportion"]], "enqueue"),
    "rejection in the same tier wins": ([["sla", "overcommit"]], "enqueue_reject"),
    "rejection in a higher tier wins": ([["overcommit"], ["sla"]], "enqueue_reject"),
}


@pytest.mark.parametrize(("tiers", "want"), ENTERING.values(), ids=ENTERING.keys())
def test_vote_on_enqueuing_an_overdue_job(tiers: list[list[str]], want: str) -> None:
    """The worked example of the plugin's page."""
    assert decided(last_cycle(waiting(*tiers)), want) == ["default/big"]


PIPELINED = {
    "sla in a higher tier": ([["sla"], ["gang"]], True),
    "same tier as gang": ([["gang", "sla"]], False),
}


@pytest.mark.parametrize(("tiers", "want"), PIPELINED.values(), ids=PIPELINED.keys())
def test_overdue_job_counts_as_pipelined(tiers: list[list[str]], want: bool) -> None:
    session = session_of(waiting(*tiers))
    assert session.plugins.job_pipelined(session.jobs["default/big"]) is want


def test_sla_abstains_on_a_job_that_is_not_overdue() -> None:
    document = waiting(["sla"], ["overcommit"])
    document["podgroups"][0]["metadata"]["annotations"] = {OWN: "24h"}
    document["podgroups"][0]["spec"]["minResources"] = amounts(cpu=4)
    assert decided(last_cycle(document), "enqueue_reject") == ["default/big"]
