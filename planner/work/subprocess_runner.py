"""How does heavy work run beside the worker, in a process of its own, under limits?"""

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
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from planner.work.subprocess_worker import FAILED, NO_SPACE, OUT_OF_MEMORY

logger = logging.getLogger(__name__)

PROJECT = Path(__file__).parents[2]
_LOG_TAIL = 8000
"""Bytes of the child's complaints that are worth keeping in the log."""
_DISK_FULL = "The worker's disk is full; free space and try again."

Beat = Callable[[float, str], bool]
"""Called every `Limits.beat_seconds` with the progress, from 0 to 1, and what is at work; False stops it."""
OnReport = Callable[[Any], None]
"""Called with what the child has found so far, whenever it found more."""


@dataclass(frozen=True)
class Limits:
    """What one child may use and call, and how often it is looked after."""

    memory_mb: int
    seconds: float
    beat_seconds: float
    extender_hosts: tuple[str, ...] = ()


def unreported(_found: Any) -> None:
    """Leave what was found so far to the result."""


class ChildFailed(Exception):
    """The child came to no result; the message is for the user."""


class ChildKilled(ChildFailed):
    """The child was killed from outside, as the system does when memory runs out; another try may help."""


class ChildStopped(Exception):
    """The beat requested a stop; the child is dead."""


@dataclass(frozen=True)
class Task:
    """What a child is to do.

    `module` is run with the numbers of two open files, source and result, and the further `arguments`; see
    `planner.work.subprocess_worker` for what else it keeps to. `name` begins the sentences about failures.
    """

    name: str
    module: str
    arguments: Sequence[str] = ()


def child_answer(
    task: Task,
    source: IO[bytes],
    result: IO[bytes],
    limits: Limits,
    beat: Beat,
    on_report: OnReport = unreported,
) -> Any:
    """Run a task over two open temporary files; return what it reported at its end.

    Raises ChildFailed with the reason, or ChildStopped after `beat` answered False.
    """
    news = _News(on_report)
    source.flush()
    source.seek(0)
    with _complaints(task) as complaints:
        with _child(task, source, result, complaints, limits) as child:
            _look_after(task, child, news, limits, beat)
        _check_end(task, child.returncode, news, limits)
    result.seek(0)
    return news.last


@contextmanager
def room_on_disk() -> Iterator[None]:
    """Turn a full disk into ChildFailed."""
    try:
        yield
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        raise ChildFailed(_DISK_FULL) from None


@contextmanager
def _complaints(task: Task) -> Iterator[IO[bytes]]:
    """Collect what the child writes to standard error; log its end when there is any."""
    with tempfile.TemporaryFile() as complaints:
        yield complaints
        size = complaints.seek(0, os.SEEK_END)
        complaints.seek(max(0, size - _LOG_TAIL))
        if text := complaints.read().decode(errors="replace").strip():
            logger.warning("%s wrote to standard error:\n%s", task.name, text)


@contextmanager
def _child(
    task: Task, source: IO[bytes], result: IO[bytes], complaints: IO[bytes], limits: Limits
) -> Iterator[subprocess.Popen[bytes]]:
    """Start the child; whatever happens inside, it is gone at the end."""
    files = (source.fileno(), result.fileno())
    child = subprocess.Popen(
        [sys.executable, "-m", task.module, *map(str, files), *task.arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=complaints,
        pass_fds=files,
        start_new_session=True,
        cwd=PROJECT,
        # One core a child, so that children do not slow each other down.
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
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
    """What the child has reported so far."""

    on_report: OnReport
    progress: float = 0.0
    doing: str = "starting"
    last: dict[str, Any] = field(default_factory=dict)
    _unfinished: list[bytes] = field(default_factory=list)

    def hear(self, output: bytes) -> None:
        *lines, rest = output.split(b"\n")
        if lines:
            lines[0] = b"".join([*self._unfinished, lines[0]])
            self._unfinished.clear()
        self._unfinished.append(rest)
        for line in lines:
            answer = json.loads(line)
            if "progress" in answer:
                self.progress, self.doing = answer["progress"], answer["doing"]
            elif "so_far" in answer:
                self.on_report(answer["so_far"])
            else:
                self.last = answer


def _look_after(task: Task, child: subprocess.Popen[bytes], news: _News, limits: Limits, beat: Beat) -> None:
    """Listen until the child closes its output; beat in between, and mind the time."""
    assert child.stdout is not None, "the child was started with a pipe"
    started = next_beat = time.monotonic()
    while True:
        now = time.monotonic()
        if now - started > limits.seconds:
            raise ChildFailed(f"{task.name} took longer than the limit of {limits.seconds:g} seconds.")
        if now >= next_beat:
            if not beat(news.progress, news.doing):
                raise ChildStopped
            next_beat = now + limits.beat_seconds
        if select.select([child.stdout], [], [], max(0.0, next_beat - time.monotonic()))[0]:
            output = os.read(child.stdout.fileno(), 65536)
            if not output:
                child.wait()
                return
            news.hear(output)


def _check_end(task: Task, status: int, news: _News, limits: Limits) -> None:
    if status == 0:
        return
    if status == OUT_OF_MEMORY:
        raise ChildFailed(f"{task.name} needed more memory than the limit of {limits.memory_mb} MiB.")
    if status == NO_SPACE:
        raise ChildFailed(_DISK_FULL)
    if status == FAILED:
        raise ChildFailed(news.last["failed"])
    if status == -signal.SIGKILL:
        raise ChildKilled(
            f"{task.name} was killed (SIGKILL), most likely because the machine ran out of memory. Give the"
            " workers more memory, or lower QUEUECAST_CONCURRENCY or QUEUECAST_RUN_MEMORY_MB"
            f" ({limits.memory_mb} MiB)."
        )
    how = signal.Signals(-status).name if status < 0 else f"status {status}"
    raise ChildFailed(f"{task.name} stopped unexpectedly ({how}); see the worker's log.")
