"""The child process of a run: its result, its progress, and its end at a limit or a cancellation."""

import json
import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from planner.runs.services.simulations import simulate
from planner.work.subprocess_runner import ChildFailed, ChildKilled, ChildStopped, Limits
from planning.documents import encoded
from tests import factories
from tests.processes.forks import children_of, fork_servers_of


def limits(*, memory_mb: int = 2048, seconds: float = 60.0) -> Limits:
    return Limits(memory_mb=memory_mb, seconds=seconds, beat_seconds=0.05)


def document(**changes: Any) -> bytes:
    return encoded({**factories.cluster(), "scheduler_conf": factories.CONF, **changes})


def continue_always(progress: float, doing: str) -> bool:
    return True


def test_the_child_returns_the_result_and_its_timings() -> None:
    simulated = simulate(document(), explain=True, limits=limits(), beat=continue_always)
    assert json.loads(simulated.result)["name"] == "two queues"
    assert simulated.result.endswith(b"}\n")
    assert simulated.timings.keys() == {"load_ms", "simulate_ms", "rows_ms", "encode_ms"}
    assert simulated.engine_version
    assert simulated.error is None


def test_the_child_reports_its_progress() -> None:
    received: list[tuple[float, str]] = []

    def listen(progress: float, doing: str) -> bool:
        received.append((progress, doing))
        return True

    simulate(document(cycles=300), explain=False, limits=limits(), beat=listen)
    assert received == sorted(received, key=lambda news: news[0])
    assert len({progress for progress, _ in received}) > 2


def test_a_heartbeat_that_returns_false_stops_the_child() -> None:
    began = time.monotonic()
    with pytest.raises(ChildStopped):
        simulate(document(cycles=10_000), explain=False, limits=limits(), beat=lambda *_: False)
    assert time.monotonic() - began < 60, "the whole run takes minutes"


def test_a_stopped_child_has_ended_when_the_call_returns() -> None:
    simulate(document(), explain=False, limits=limits(), beat=continue_always)
    [server] = fork_servers_of(os.getpid())
    with pytest.raises(ChildStopped):
        simulate(document(cycles=10_000), explain=False, limits=limits(), beat=lambda *_: False)
    assert children_of(server) == []


def test_a_killed_fork_server_counts_as_a_killed_child_and_is_replaced() -> None:
    simulate(document(), explain=False, limits=limits(), beat=continue_always)
    [server] = fork_servers_of(os.getpid())

    def kill(_progress: float, _doing: str) -> bool:
        for child in [*children_of(server), server]:
            os.kill(child, signal.SIGKILL)
        return True

    with pytest.raises(ChildKilled, match="was killed"):
        simulate(document(cycles=10_000), explain=False, limits=limits(), beat=kill)
    simulated = simulate(document(), explain=False, limits=limits(), beat=continue_always)
    assert simulated.error is None
    assert fork_servers_of(os.getpid()) not in ([], [server])


def test_children_of_several_threads_end_independently_and_leave_no_open_file() -> None:
    def end_of(number: int) -> str:
        stops = number % 3 == 0
        cycles = 10_000 if stops else 1
        try:
            simulate(document(cycles=cycles), explain=False, limits=limits(), beat=lambda *_: not stops)
        except ChildStopped:
            return "stopped"
        return "ended"

    end_of(1)
    [server] = fork_servers_of(os.getpid())
    files = Path(f"/proc/{server}/fd")
    open_before = len(list(files.iterdir()))
    with ThreadPoolExecutor(4) as pool:
        ends = list(pool.map(end_of, range(24)))
    assert ends == ["stopped", "ended", "ended"] * 8
    assert children_of(server) == []
    until = time.monotonic() + 10  # the server closes its files after it has sent the last status
    while len(list(files.iterdir())) > open_before:
        assert time.monotonic() < until


def test_arguments_longer_than_a_request_are_reported() -> None:
    question = {"probe": "x" * 2**17}
    with pytest.raises(ChildFailed, match="cannot start: its arguments are longer than 131,072 bytes"):
        simulate(document(), explain=False, limits=limits(), beat=continue_always, question=question)


def test_exceeding_the_time_limit_is_reported() -> None:
    with pytest.raises(ChildFailed, match=r"longer than the limit of 0\.5 seconds"):
        simulate(document(cycles=10_000), explain=False, limits=limits(seconds=0.5), beat=continue_always)


def test_exceeding_the_memory_limit_is_reported() -> None:
    pods = [factories.pod(f"wait-{number}", "wait") for number in range(30_000)]
    with pytest.raises(ChildFailed, match="more memory than the limit of 220 MiB"):
        simulate(document(pods=pods), explain=False, limits=limits(memory_mb=220), beat=continue_always)


def test_a_full_disk_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    # Every write to this Linux device fails with "no space left".
    monkeypatch.setattr("tempfile.TemporaryFile", partial(open, "/dev/full", "r+b", buffering=0))
    with pytest.raises(ChildFailed, match="disk is full"):
        simulate(document(), explain=False, limits=limits(), beat=continue_always)


def test_an_unreadable_configuration_is_reported() -> None:
    with pytest.raises(ChildFailed, match="scheduler configuration cannot be read: line 2: not YAML"):
        simulate(document(scheduler_conf="actions: ["), explain=True, limits=limits(), beat=continue_always)


def test_a_scenario_that_cannot_be_simulated_has_a_result_with_the_error() -> None:
    broken = factories.cluster()
    broken["nodes"][0]["status"]["allocatable"]["cpu"] = "many"
    simulated = simulate(encoded(broken), explain=True, limits=limits(), beat=continue_always)
    assert simulated.error is not None
    assert json.loads(simulated.result)["error"] == simulated.error
