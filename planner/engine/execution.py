"""How does a simulation run beside the worker, in a process of its own, under limits?"""

import errno
import json
import logging
import os
import resource
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from planner.engine.child import NO_SPACE, OUT_OF_MEMORY, UNREADABLE

logger = logging.getLogger(__name__)

PROJECT = Path(__file__).parents[2]
_LOG_TAIL = 8000
"""Bytes of the child's complaints that are worth keeping in the log."""
_DISK_FULL = "The worker's disk has no space left for the input or the result; run it again when it has."

Beat = Callable[[float, str], bool]
"""Called every `Limits.beat_seconds` with the progress, from 0 to 1, and what is at work; False stops it."""


@dataclass(frozen=True)
class Limits:
    """What one simulation may use and call, and how often it is looked after."""

    memory_mb: int
    seconds: float
    beat_seconds: float
    extender_hosts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Simulated:
    """What the child gave back; `error` is the sentence of a scenario that cannot be simulated."""

    result: bytes
    engine_version: str
    timings: dict[str, float]
    error: str | None


class SimulationFailed(Exception):
    """The child came to no result; the message is for the user."""


class SimulationStopped(Exception):
    """The beat asked to stop; the child is dead."""


def simulate(document: bytes, *, explain: bool, limits: Limits, beat: Beat, job: str = "") -> Simulated:
    """Simulate a frozen scenario document in a child process.

    The result is byte for byte what ``python -m scheduler_core simulate`` prints for `document`; with a `job`
    it is what a search for that job found instead.

    Raises SimulationFailed with the reason, or SimulationStopped after `beat` answered False.
    """
    try:
        return _simulated(document, explain=explain, limits=limits, beat=beat, job=job)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        raise SimulationFailed(_DISK_FULL) from None


def _simulated(document: bytes, *, explain: bool, limits: Limits, beat: Beat, job: str) -> Simulated:
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as result, _complaints() as complaints:
        source.write(document)
        source.flush()
        source.seek(0)
        news = _News()
        with _child(source, result, complaints, explain=explain, limits=limits, job=job) as child:
            _look_after(child, news, limits, beat)
        _check_end(child.returncode, news, limits)
        result.seek(0)
        last = news.last
        return Simulated(result.read(), last["engine_version"], last["timings"], last["error"])


@contextmanager
def _complaints() -> Iterator[IO[bytes]]:
    """Collect what the child writes to standard error; log its end when there is any."""
    with tempfile.TemporaryFile() as complaints:
        yield complaints
        size = complaints.seek(0, os.SEEK_END)
        complaints.seek(max(0, size - _LOG_TAIL))
        if text := complaints.read().decode(errors="replace").strip():
            logger.warning("A simulation complained:\n%s", text)


@contextmanager
def _child(
    source: IO[bytes], result: IO[bytes], complaints: IO[bytes], *, explain: bool, limits: Limits, job: str
) -> Iterator[subprocess.Popen[bytes]]:
    """Start the child; whatever happens inside, it is gone at the end."""
    files = (source.fileno(), result.fileno())
    child = subprocess.Popen(
        [
            sys.executable, "-m", "planner.engine.child",
            *map(str, files), "explain" if explain else "decisions", job, *limits.extender_hosts,
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=complaints,
        pass_fds=files,
        start_new_session=True,
        cwd=PROJECT,
        # One core a run, so that runs do not slow each other down.
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip
    try:
        bytes_allowed = limits.memory_mb * 2**20
        resource.prlimit(child.pid, resource.RLIMIT_AS, (bytes_allowed, bytes_allowed))
        yield child
    finally:
        child.kill()
        child.wait()
        for pipe in (child.stdin, child.stdout):
            if pipe is not None:
                pipe.close()


@dataclass
class _News:
    """What the child has told so far."""

    progress: float = 0.0
    doing: str = "starting"
    last: dict[str, Any] = field(default_factory=dict)
    _unfinished: bytes = b""

    def hear(self, said: bytes) -> None:
        *lines, self._unfinished = (self._unfinished + said).split(b"\n")
        for line in lines:
            told = json.loads(line)
            if "progress" in told:
                self.progress, self.doing = told["progress"], told["doing"]
            else:
                self.last = told


def _look_after(child: subprocess.Popen[bytes], news: _News, limits: Limits, beat: Beat) -> None:
    """Listen until the child closes its output; beat in between, and mind the time."""
    assert child.stdout is not None, "the child was started with a pipe"
    started = next_beat = time.monotonic()
    while True:
        now = time.monotonic()
        if now - started > limits.seconds:
            raise SimulationFailed(
                f"The simulation took longer than the limit of {limits.seconds:g} seconds."
            )
        if now >= next_beat:
            if not beat(news.progress, news.doing):
                raise SimulationStopped
            next_beat = now + limits.beat_seconds
        if select.select([child.stdout], [], [], max(0.0, next_beat - time.monotonic()))[0]:
            said = os.read(child.stdout.fileno(), 65536)
            if not said:
                child.wait()
                return
            news.hear(said)


def _check_end(status: int, news: _News, limits: Limits) -> None:
    if status == 0:
        return
    if status == OUT_OF_MEMORY:
        raise SimulationFailed(f"The simulation needed more memory than the limit of {limits.memory_mb} MiB.")
    if status == NO_SPACE:
        raise SimulationFailed(_DISK_FULL)
    if status == UNREADABLE:
        raise SimulationFailed(f"The scheduler configuration cannot be read: {news.last['unreadable']}.")
    how = signal.Signals(-status).name if status < 0 else f"status {status}"
    raise SimulationFailed(f"The simulation stopped unexpectedly ({how}); the worker's log says more.")
