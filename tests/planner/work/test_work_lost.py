"""The time for which an evicted pod had run."""

from typing import Any

from planning.pods import PodClock

NOW = "2026-01-01T01:00:00Z"


def pod(**status: Any) -> dict[str, Any]:
    metadata = {"name": "p", "namespace": "a", "creationTimestamp": "2026-01-01T00:00:00Z"}
    return {"metadata": metadata, "status": status}


def test_it_is_counted_from_the_start_that_the_kubelet_wrote() -> None:
    clock = PodClock({"now": NOW, "pods": [pod(startTime="2026-01-01T00:59:00Z")]}, [])
    assert clock.ran_seconds("a/p", 1) == 60


def test_else_from_when_the_pod_was_made() -> None:
    assert PodClock({"now": NOW, "pods": [pod()]}, []).ran_seconds("a/p", 1) == 3600


def test_each_cycle_moves_the_clock() -> None:
    clock = PodClock({"now": NOW, "cycle_seconds": 5, "pods": [pod()]}, [])
    assert clock.ran_seconds("a/p", 3) == 3610


def test_a_pod_that_this_run_bound_has_run_since_that_cycle() -> None:
    clock = PodClock({"now": NOW, "pods": [pod()]}, [(2, {"op": "bind", "pod": "a/p"})])
    assert clock.ran_seconds("a/p", 5) == 3


def test_without_a_clock_the_newest_thing_was_made_now() -> None:
    later = {"metadata": {"name": "g", "creationTimestamp": "2026-01-01T00:10:00Z"}}
    assert PodClock({"pods": [pod()], "podgroups": [later]}, []).ran_seconds("a/p", 1) == 600


def test_a_start_that_nothing_tells_is_not_guessed() -> None:
    assert PodClock({"now": NOW}, []).ran_seconds("a/p", 1) is None
