"""Plugin tdm: which pods may use revocable nodes and when, and which pods are evicted afterwards."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from scheduler_core import simulate_document
from scheduler_core.model.timestamps import parse_time
from scheduler_core.plugins.tdm.disruption import evictable_at_once
from scheduler_core.plugins.tdm.zones import inactive_because
from tests.builders import (
    conf,
    decided,
    last_cycle,
    node,
    pod,
    podgroup,
    pods,
    priority_class,
    scenario,
    session_of,
)

ZONE = "volcano.sh/revocable-zone"
PREEMPTABLE = "volcano.sh/preemptable"
DAY = "2026-01-01T"


def tdm(hours: str = "10:00-14:00", **arguments: Any) -> tuple[str, dict[str, Any]]:
    return ("tdm", {"arguments": {"tdm.revocable-zone.rz": hours, **arguments}})


def revocable(name: str, **facts: Any) -> dict[str, Any]:
    return node(name, labels={ZONE: "rz"}, **facts)


HOURS: dict[str, tuple[str, str, bool]] = {
    "inside": ("10:00-14:00", "12:00:00", True),
    "first second": ("10:00-14:00", "10:00:00", True),
    "last second": ("10:00-14:00", "14:00:00", True),
    "one second too late": ("10:00-14:00", "14:00:01", False),
    "one second too early": ("10:00-14:00", "09:59:59", False),
    "one-digit hour": ("9:00-14:00", "09:30:00", True),
    "always": ("00:00-00:00", "17:00:00", True),
    "before midnight": ("23:38-01:38", "23:40:00", True),
    "inactive after midnight": ("23:38-01:38", "00:38:00", False),
    "surrounding blanks are trimmed": (" 10:00-14:00 ", "12:00:00", True),
    "inner blanks are invalid": ("10:00 - 14:00", "12:00:00", False),
    "one-digit minute is invalid": ("10:0-14:00", "12:00:00", False),
    "hour 24 is invalid": ("10:00-24:00", "12:00:00", False),
    "no end": ("10:00", "12:00:00", False),
}


@pytest.mark.parametrize(("hours", "time", "want"), HOURS.values(), ids=HOURS.keys())
def test_zone_is_active_within_its_hours(hours: str, time: str, want: bool) -> None:
    now = parse_time(f"{DAY}{time}Z")
    assert (inactive_because("rz", {"rz": hours}, now) is None) is want


class Job(NamedTuple):
    """The pods of a job, its disruption budget, and how many pods may be evicted at once."""

    want: int
    running: int
    minimum: str | None = None
    maximum: str | None = None
    pending: int = 0
    succeeded: int = 0


AT_ONCE = {
    "no annotation": Job(1, 3),
    "min available 2 of 3": Job(1, 3, minimum="2"),
    "max unavailable half of 4": Job(2, 4, maximum="50%"),
    "min available not met": Job(1, 3, minimum="5"),
    "percentage is rounded up": Job(1, 3, minimum="34%"),
    "unparsable min available": Job(2, 2, minimum="abc"),
    "max unavailable zero": Job(0, 3, maximum="0"),
    "missing pods count as unavailable": Job(1, 3, maximum="2", pending=1, succeeded=1),
    "min available overrides max unavailable": Job(1, 3, minimum="2", maximum="0"),
    "empty min available is ignored": Job(1, 3, minimum=""),
}


@pytest.mark.parametrize("case", AT_ONCE.values(), ids=AT_ONCE.keys())
def test_disruption_budget_limits_evictions_at_once(case: Job) -> None:
    actual = {"volcano.sh/jdb-min-available": case.minimum, "volcano.sh/jdb-max-unavailable": case.maximum}
    annotations = {name: text for name, text in actual.items() if text is not None}
    waiting = pods("g", case.pending, first=case.running, cpu=1)
    done = pods("g", case.succeeded, first=90, node="n0", phase="Succeeded", cpu=1)
    session = session_of(
        scenario(
            nodes=[node("n0", cpu=9)],
            podgroups=[podgroup("g", annotations=annotations)],
            pods=[*pods("g", case.running, node="n0", cpu=1), *waiting, *done],
        )
    )
    assert evictable_at_once(session.jobs["default/g"]) == case.want


PLACES = {
    "pod with a revocable-zone annotation": ({ZONE: "*"}, "10:00-14:00", "n1"),
    "preemptable pod": ({PREEMPTABLE: "true"}, "10:00-14:00", "n1"),
    "other zone": ({ZONE: "rz"}, "10:00-14:00", "n0"),
    "zone annotation overrides preemptable": ({ZONE: "no", PREEMPTABLE: "true"}, "10:00-14:00", "n0"),
    "ordinary pod": ({}, "10:00-14:00", "n0"),
    "outside hours": ({ZONE: "*"}, "13:00-14:00", "n0"),
}


@pytest.mark.parametrize(("annotations", "hours", "want"), PLACES.values(), ids=PLACES.keys())
def test_pod_placement_by_revocable_zone(annotations: dict[str, str], hours: str, want: str) -> None:
    """The worked example of the plugin's page."""
    document = scenario(
        nodes=[node("n0", cpu=4), revocable("n1", cpu=4)],
        podgroups=[podgroup("a")],
        pods=[pod("a-0", group="a", cpu=1, annotations=annotations)],
        conf=conf("allocate", [tdm(hours)]),
    )
    assert [d["node"] for d in last_cycle(document)["decisions"]] == [want]


REFUSALS = {
    "out of hours": (
        {ZONE: "*"},
        "13:00-14:00",
        "0/1 nodes are unavailable: 1 current time beyond revocable zone rz:13:00-14:00.",
    ),
    "pod without permission": (
        {},
        "10:00-14:00",
        "0/1 nodes are unavailable: 1 not allow to dispatch to revocable node.",
    ),
}


@pytest.mark.parametrize(("annotations", "hours", "want"), REFUSALS.values(), ids=REFUSALS.keys())
def test_rejection_reason_of_a_revocable_node(annotations: dict[str, str], hours: str, want: str) -> None:
    document = scenario(
        nodes=[revocable("n1", cpu=4)],
        podgroups=[podgroup("a")],
        pods=[pod("a-0", group="a", cpu=1, annotations=annotations)],
        conf=conf("allocate", ["gang", tdm(hours)]),
    )
    (group,) = last_cycle(document)["podgroups"]
    assert want in group["fit_error"]


def test_unknown_zone_is_never_active() -> None:
    document = scenario(
        nodes=[node("n1", labels={ZONE: "other"}, cpu=4)],
        podgroups=[podgroup("a")],
        pods=[pod("a-0", group="a", cpu=1, annotations={ZONE: "*"})],
        conf=conf("allocate", ["gang", tdm()]),
    )
    (group,) = last_cycle(document)["podgroups"]
    assert "1 revocable zone other not support" in group["fit_error"]


def test_inactive_zone_invalidates_all_scores_of_a_node() -> None:
    document = scenario(
        nodes=[node("n0", cpu=4), revocable("n1", cpu=4)],
        podgroups=[podgroup("a"), podgroup("full")],
        pods=[pod("a-0", group="a", cpu=1), pod("full-0", group="full", node="n1", cpu=2)],
        conf=conf("allocate", ["binpack", ("tdm", {"enablePredicate": False})]),
    )
    without = {**document, "scheduler_conf": conf("allocate", ["binpack"])}
    assert [d["node"] for d in last_cycle(without)["decisions"]] == ["n1"]
    assert [d["node"] for d in last_cycle(document)["decisions"]] == ["n0"]


def preempting(of_preemptor: dict[str, str], *victims: dict[str, Any], **group: Any) -> list[str]:
    document = scenario(
        nodes=[node("n0", cpu=2), revocable("n1", cpu=2)],
        podgroups=[
            podgroup("low", min_member=0, priority_class="low", **group),
            podgroup("high", priority_class="high"),
        ],
        pods=[*victims, pod("high-0", group="high", cpu=2, annotations=of_preemptor)],
        priorityclasses=[priority_class("low", 1), priority_class("high", 2)],
        conf=conf("preempt", [("priority", {"enablePreemptable": False}), tdm("00:00-00:00")]),
    )
    return decided(last_cycle(document), "evict")


STRICT = {PREEMPTABLE: "false"}


def test_preemptor_without_the_preemptable_annotation_gets_no_victims() -> None:
    assert preempting({}, *pods("low", 2, node="n0", cpu=1)) == []


def test_non_preemptable_preemptor_gets_victims_within_the_disruption_budget() -> None:
    all_at_once = {"volcano.sh/jdb-max-unavailable": "100%"}
    assert preempting(STRICT, *pods("low", 2, node="n0", cpu=1)) == []
    victims = preempting(STRICT, *pods("low", 2, node="n0", cpu=1), annotations=all_at_once)
    assert victims == ["default/low-1", "default/low-0"]


def test_no_victims_are_taken_from_a_revocable_node() -> None:
    assert preempting({**STRICT, ZONE: "no"}, *pods("low", 1, node="n1", cpu=2)) == []


def shuffling(hours: str, **fields: Any) -> dict[str, Any]:
    return scenario(
        nodes=[node("n0", cpu=9), revocable("n1", cpu=9)],
        podgroups=[podgroup("g", annotations={"volcano.sh/jdb-max-unavailable": "2"}), podgroup("h")],
        pods=[
            *pods("g", 3, node="n1", cpu=1),
            pod("g-8", group="g", node="n0", cpu=1),
            *pods("h", 2, node="n1", cpu=1),
            pod("h-9", group="h", node="n1", cpu=1, preemptable=False),
        ],
        conf=conf("shuffle", [tdm(hours, **fields.pop("arguments", {}))]),
        **fields,
    )


def test_shuffle_evicts_the_pods_of_an_inactive_zone() -> None:
    assert decided(last_cycle(shuffling("10:00-14:00")), "evict") == []
    assert decided(last_cycle(shuffling("08:00-10:00")), "evict") == [
        "default/g-0",
        "default/g-1",
        "default/h-0",
    ]


def test_shuffle_does_not_count_the_requests_of_these_pods_as_releasing() -> None:
    """Volcano subtracts them before it adds them, and by default crashes, as nothing is releasing."""
    result = simulate_document(shuffling("08:00-10:00"))
    releasing = {entry["name"]: entry["releasing"] for entry in result["cycles"][0]["nodes"]}
    assert releasing["n1"] == {"cpu": 0, "memory": 0, "pods": 1}
    assert any("PANIC_ON_ERROR" in note for note in result["notes"])


PERIODS = {"1m": [3, 0, 0], "1s": [3, 2, 0], "none": [3, 0, 0]}


@pytest.mark.parametrize(("period", "want"), PERIODS.items())
def test_shuffle_clears_a_zone_once_per_evict_period(period: str, want: list[int]) -> None:
    arguments = {"arguments": {"tdm.evict.period": period}}
    result = simulate_document(shuffling("08:00-10:00", cycles=3, evicted="delete", **arguments))
    assert [len(cycle["decisions"]) for cycle in result["cycles"]] == want


@pytest.mark.parametrize("arguments", [{"tdm.evict.period": 60}, {"tdm.revocable-zone.rz": 10}])
def test_argument_that_is_not_a_string_crashes_volcano(arguments: dict[str, Any]) -> None:
    document = scenario(conf=conf("allocate", [("tdm", {"arguments": arguments})]))
    assert simulate_document(document)["error"].startswith("Volcano would crash here")


def test_preemptable_jobs_come_last_and_never_starve() -> None:
    session = session_of(
        scenario(
            podgroups=[podgroup("a", annotations={PREEMPTABLE: "true"}), podgroup("b")],
            pods=[*pods("a", 1, cpu=1), *pods("b", 1, cpu=1)],
            conf=conf("preempt", ["tdm"]),
        )
    )
    first, second = session.jobs["default/a"], session.jobs["default/b"]
    assert session.orders.job_before(second, first)
    assert [session.plugins.job_starving(job) for job in (first, second)] == [False, True]
    assert not session.plugins.job_pipelined(second)
