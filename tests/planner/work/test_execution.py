"""The child process of a run: what it gives back, and how it ends when it may not go on."""

import json
import time
from functools import partial
from typing import Any

import pytest

from planner.runs.services.simulations import simulate
from planner.work.subprocess_runner import ChildFailed, ChildStopped, Limits
from planning.documents import encoded
from tests import factories


def limits(*, memory_mb: int = 2048, seconds: float = 60.0) -> Limits:
    return Limits(memory_mb=memory_mb, seconds=seconds, beat_seconds=0.05)


def document(**changes: Any) -> bytes:
    return encoded({**factories.cluster(), "scheduler_conf": factories.CONF, **changes})


def go_on(progress: float, doing: str) -> bool:
    return True


def test_it_gives_back_the_result_and_how_long_it_took() -> None:
    simulated = simulate(document(), explain=True, limits=limits(), beat=go_on)
    assert json.loads(simulated.result)["name"] == "two queues"
    assert simulated.result.endswith(b"}\n")
    assert simulated.timings.keys() == {"load_ms", "simulate_ms", "rows_ms", "encode_ms"}
    assert simulated.engine_version
    assert simulated.error is None


def test_it_tells_how_far_it_is() -> None:
    heard: list[tuple[float, str]] = []

    def listen(progress: float, doing: str) -> bool:
        heard.append((progress, doing))
        return True

    simulate(document(cycles=300), explain=False, limits=limits(), beat=listen)
    assert heard == sorted(heard, key=lambda news: news[0])
    assert len({progress for progress, _ in heard}) > 2


def test_a_beat_that_says_no_stops_it() -> None:
    began = time.monotonic()
    with pytest.raises(ChildStopped):
        simulate(document(cycles=10_000), explain=False, limits=limits(), beat=lambda *_: False)
    assert time.monotonic() - began < 60, "the whole takes minutes"


def test_the_time_limit_is_named_as_the_reason() -> None:
    with pytest.raises(ChildFailed, match=r"longer than the limit of 0\.5 seconds"):
        simulate(document(cycles=10_000), explain=False, limits=limits(seconds=0.5), beat=go_on)


def test_the_memory_limit_is_named_as_the_reason() -> None:
    pods = [factories.pod(f"wait-{number}", "wait") for number in range(30_000)]
    with pytest.raises(ChildFailed, match="more memory than the limit of 220 MiB"):
        simulate(document(pods=pods), explain=False, limits=limits(memory_mb=220), beat=go_on)


def test_a_full_disk_is_named_as_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    # Linux keeps this device for such tests: every write says that no space is left.
    monkeypatch.setattr("tempfile.TemporaryFile", partial(open, "/dev/full", "r+b", buffering=0))
    with pytest.raises(ChildFailed, match="disk is full"):
        simulate(document(), explain=False, limits=limits(), beat=go_on)


def test_a_configuration_that_cannot_be_read_is_named_as_the_reason() -> None:
    with pytest.raises(ChildFailed, match="scheduler configuration cannot be read: line 2: not YAML"):
        simulate(document(scheduler_conf="actions: ["), explain=True, limits=limits(), beat=go_on)


def test_a_scenario_that_cannot_be_simulated_gives_a_result_that_says_why() -> None:
    broken = factories.cluster()
    broken["nodes"][0]["status"]["allocatable"]["cpu"] = "many"
    simulated = simulate(encoded(broken), explain=True, limits=limits(), beat=go_on)
    assert simulated.error is not None
    assert json.loads(simulated.result)["error"] == simulated.error
