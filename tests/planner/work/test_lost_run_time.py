"""The running time of an evicted pod."""

from typing import Any

from planning.pods import PodClock

NOW = "2026-01-01T01:00:00Z"


def pod(**status: Any) -> dict[str, Any]:
    metadata = {"name": "p", "namespace": "a", "creationTimestamp": "2026-01-01T00:00:00Z"}
    return {"metadata": metadata, "status": status}


def test_running_time_counts_from_the_start_time_of_the_kubelet() -> None:
    clock = PodClock({"now": NOW, "pods": [pod(startTime="2026-01-01T00:59:00Z")]}, [])
    assert clock.ran_seconds("a/p", 1) == 60


def test_running_time_counts_from_the_creation_without_a_start_time() -> None:
    assert PodClock({"now": NOW, "pods": [pod()]}, []).ran_seconds("a/p", 1) == 3600


def test_each_cycle_advances_the_clock() -> None:
    clock = PodClock({"now": NOW, "cycle_seconds": 5, "pods": [pod()]}, [])
    assert clock.ran_seconds("a/p", 3) == 3610


def test_a_pod_bound_in_this_run_has_run_since_that_cycle() -> None:
    clock = PodClock({"now": NOW, "pods": [pod()]}, [(2, {"op": "bind", "pod": "a/p"})])
    assert clock.ran_seconds("a/p", 5) == 3


def test_without_a_clock_the_newest_timestamp_is_now() -> None:
    later = {"metadata": {"name": "g", "creationTimestamp": "2026-01-01T00:10:00Z"}}
    assert PodClock({"pods": [pod()], "podgroups": [later]}, []).ran_seconds("a/p", 1) == 600


def test_running_time_without_a_timestamp_is_unknown() -> None:
    assert PodClock({"now": NOW}, []).ran_seconds("a/p", 1) is None


def test_a_pod_that_is_bound_again_after_its_eviction_had_run_since_its_start() -> None:
    again = {"op": "bind", "pod": "a/p", "state": "committed"}
    document = {"now": NOW, "cycle_seconds": 10, "pods": [pod(startTime="2026-01-01T00:59:00Z")]}
    clock = PodClock(document, [(3, again)])
    assert clock.ran_seconds("a/p", 1) == 60
    assert clock.ran_seconds("a/p", 5) == 20
