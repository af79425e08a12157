"""Searches that start from the verdict on a forecast."""

from typing import Any

import pytest

from planning.experiments.definition import written_problems
from planning.experiments.remedies import goals_of, larger_capabilities, search_of
from planning.forecasts.causes import CauseRow
from planning.forecasts.options import DEFAULTS
from planning.forecasts.verdict import Finding

LATE = Finding("target", "harm", "a misses it.", 9.0, "a", {"status": "missed", "target_seconds": 600.0})
MET = Finding("target", "safe", "b meets it.", None, "b", {"status": "met", "target_seconds": 60.0})
LOOP = Finding("loop", "harm", "b is evicted.", 9.0, "b", {"evictions": 30, "by": "a"})
STARVED = Finding("starvation", "harm", "a starves.", 9.0, "a", {})
CONF = "actions: enqueue, allocate, reclaim, backfill\ntiers: []\n"


def search(*findings: Finding, **changed: Any) -> Any:
    """Return the search for findings of a forecast with 10 evictions outside of loops."""
    given: dict[str, Any] = {
        "scenario": "plan",
        "forecast": {**DEFAULTS, "trace": "today", "period_seconds": 10.0, "seeds": 4, "targets": {"a": 600}},
        "of_queue": {queue: {"queue": queue, "field": "weight", "values": [1, 2]} for queue in "abc"},
        "capabilities": {},
        "node": "n0",
        "conf_text": CONF,
    }
    return search_of(findings, 10, **{**given, **changed})


def test_missed_targets_and_loops_become_goals() -> None:
    assert goals_of([LATE, MET, STARVED, LOOP], 10) == [
        {"figure": "wait_p95", "queue": "a", "at_most": "600s"},
        {"figure": "evictions", "at_most": 10},
    ]
    assert goals_of([MET, STARVED], 40) == []


def test_a_target_of_weeks_is_written_as_a_duration() -> None:
    late = Finding("target", "harm", "", 9.0, "a", {"status": "missed", "target_seconds": 1234567.5})
    found = search(late)
    assert found["goals"] == [{"figure": "wait_p95", "queue": "a", "at_most": "1234567.5s"}]
    assert written_problems(found) == []


def test_a_search_varies_the_queues_concerned_nodes_for_waits_and_actions_for_evictions() -> None:
    both = search(LATE, MET, LOOP)
    assert written_problems(both) == []
    weights, others = both["settings"][:2], both["settings"][2:]
    assert [setting["queue"] for setting in weights] == ["a", "b"]
    assert others == [
        {"like": "n0", "range": {"from": 1, "to": 4, "step": 1}, "price": 5},
        {"actions": True, "values": ["enqueue, allocate, backfill"], "price": 3},
    ]
    assert [next(iter(setting)) for setting in search(LATE)["settings"]] == ["queue", "like"]
    assert [next(iter(setting)) for setting in search(LOOP)["settings"]] == ["queue", "actions"]


def test_the_capability_of_a_queue_that_waits_too_long_is_raised() -> None:
    raised = {
        queue: {"queue": queue, "field": "capability", "resource": "cpu", "values": ["8", "16"]}
        for queue in "ab"
    }
    settings = search(LATE, LOOP, capabilities=raised)["settings"]
    assert [one for one in settings if one.get("field") == "capability"] == [{**raised["a"], "price": 2}]


def test_the_capability_is_raised_in_the_resource_at_which_jobs_waited() -> None:
    def row(queue: str, resource: str) -> CauseRow:
        resources = {"at_capability": resource, "no_room": "cpu"}
        return CauseRow(queue, 1, 9.0, 0.0, 9.0, 0.0, 0.0, 0.0, 0.0, resources)

    stated = {"a": {"cpu": "1500m", "memory": "3Gi"}, "b": {"cpu": 4, "nvidia.com/gpu": "8"}, "c": None}
    rows = [row("a", "memory"), row("b", "nvidia.com/gpu"), row("c", "cpu"), row("d", "cpu")]
    found = larger_capabilities(rows, stated)
    assert found == {
        "a": {"queue": "a", "field": "capability", "resource": "memory", "values": ["6Gi", "12Gi"]},
        "b": {"queue": "b", "field": "capability", "resource": "nvidia.com/gpu", "values": ["16", "32"]},
    }
    assert larger_capabilities([row("a", "cpu")], stated)["a"]["values"] == ["3", "6"]
    assert larger_capabilities([row("a", "nvidia.com/gpu")], {"a": {"nvidia.com/gpu": "0"}}) == {}


def test_the_search_has_the_trace_and_the_options_of_the_forecast() -> None:
    assert search(LATE)["forecast"] == {"trace": "today", "period_seconds": 10.0}


@pytest.mark.parametrize("conf_text", ["actions: enqueue, allocate\ntiers: []\n", "- no mapping", ""])
def test_actions_are_tried_only_where_some_evict(conf_text: str) -> None:
    settings = search(LOOP, conf_text=conf_text)["settings"]
    assert [setting for setting in settings if "actions" in setting] == []


def test_nothing_is_searched_without_a_goal_or_a_setting() -> None:
    assert search(MET) is None
    assert search(LATE, of_queue={}, node="") is None
