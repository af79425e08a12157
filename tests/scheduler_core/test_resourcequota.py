"""Plugin resourcequota: a job's minimum against the ResourceQuotas of its namespace."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from tests.builders import Object, conf, decided, last_cycle, node, podgroup, scenario
from tests.scheduler_core.pages import table

Amounts = Mapping[str, str]


def quota(hard: Amounts, used: Amounts = {}, name: str = "quota", namespace: str = "default") -> Object:  # noqa: B006
    return {
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"hard": dict(hard)},
        "status": {"hard": dict(hard), "used": dict(used)},
    }


def cycle(quotas: list[Object], *minimums: Amounts, then: tuple[str, ...] = ()) -> Object:
    """Return a cycle that enqueues jobs j0, j1, … with these minResources."""
    groups = [
        podgroup(f"j{turn}", min_resources=minimum, phase="Pending", created=turn)
        for turn, minimum in enumerate(minimums)
    ]
    plugins = [["resourcequota", *then]]
    return last_cycle(
        scenario(
            nodes=[node("n0", cpu=8)], podgroups=groups, resourcequotas=quotas, conf=conf("enqueue", *plugins)
        )
    )


@dataclass
class Case:
    hard: Amounts
    minimum: Amounts
    want: bool
    used: Amounts = field(default_factory=dict)


CASES = {
    "exactly the limit": Case({"cpu": "4"}, {"cpu": "4"}, want=True),
    "above the limit": Case({"cpu": "4"}, {"cpu": "4001m"}, want=False),
    "in addition to the used amount": Case({"cpu": "4"}, {"cpu": "2"}, want=False, used={"cpu": "2500m"}),
    "unlimited resource": Case({"cpu": "4"}, {"memory": "1Ti"}, want=True),
    "API server resource names count as written": Case(
        {"requests.cpu": "1"}, {"cpu": "4", "requests.cpu": "2"}, want=False
    ),
    "object counts": Case({"count/pods": "2"}, {"count/pods": "3"}, want=False),
    "other resource already over its limit": Case(
        {"cpu": "1", "memory": "1Gi"}, {"memory": "1Gi"}, want=True, used={"cpu": "2"}
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_vote_on_the_minimum_against_the_quota(case: Case) -> None:
    actual = cycle([quota(case.hard, case.used)], case.minimum)
    assert decided(actual, "enqueue") == (["default/j0"] if case.want else [])


def test_jobs_permitted_earlier_count_against_the_quota() -> None:
    actual = cycle([quota({"cpu": "4"})], {"cpu": "3"}, {"cpu": "2"}, {"cpu": "1"})
    assert decided(actual, "enqueue") == ["default/j0", "default/j2"]
    page = {f"default/{row[0]}": row[3] for row in table("resourcequota", "Worked example")}
    assert page == {"default/j0": "permit", "default/j1": "reject", "default/j2": "permit"}


def test_permitted_job_still_counts_if_another_plugin_rejects_it() -> None:
    actual = cycle([quota({"cpu": "20"})], {"cpu": "18"}, {"cpu": "3"}, then=("overcommit",))
    assert decided(actual, "enqueue") == []


def test_quotas_of_other_namespaces_are_ignored() -> None:
    assert decided(cycle([quota({"cpu": "1"}, namespace="other")], {"cpu": "3"}), "enqueue")


def test_first_exceeded_quota_is_named_with_amounts_in_scheduler_units() -> None:
    actual = cycle([quota({"cpu": "8"}, name="b"), quota({"cpu": "2"}, name="a")], {"cpu": "3"})
    why = actual["explain"]["pending"]["default/j0"]
    assert (why["required"], why["available"], why["missing"]) == (3000, 2000, 1000)
    assert why["message"] == "ResourceQuota default/a has too little cpu left"
