"""Runs heavy work in a child process of the worker, with limits of memory and time."""

import atexit
import errno
import json
import logging
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from planner.work.fork_server import REQUEST_BYTES
from planner.work.subprocess_worker import FAILED, NO_SPACE, OUT_OF_MEMORY

logger = logging.getLogger(__name__)

PROJECT = Path(__file__).parents[2]
_LOG_TAIL = 8000
"""The last bytes of the child's standard error, for the log."""
_DISK_FULL = "The worker's disk is full; free space and try again."

Beat = Callable[[float, str], bool]
"""Called every `Limits.beat_seconds` with the progress from 0 to 1 and the current step; False stops it."""
OnReport = Callable[[Any], None]
"""Called with all that the child has found so far, when it has found more."""


@dataclass(frozen=True)
class Limits:
    """The limits of a child, the interval of heartbeats, and the hosts that it may call."""

    memory_mb: int
    seconds: float
    beat_seconds: float
    extender_hosts: tuple[str, ...] = ()


def ignore_found(_found: Any) -> None:
    """Ignore what was found so far; the result will contain it."""


class ChildFailed(Exception):
    """The child has no result; the message is for the user."""


class ChildKilled(ChildFailed):
    """The child was killed from outside, as the kernel does when memory runs out; a retry may succeed."""


class ChildStopped(Exception):
    """The heartbeat requested a stop; the child was killed."""


@dataclass(frozen=True)
class Task:
    """The task of a child.

    `main` of `module` is called with the descriptors of two open files, source and result, and the further
    `arguments`, and returns the exit status; it follows `planner.work.subprocess_worker`. `name` starts the
    sentences about failures.
    """

    name: str
    module: str
    arguments: Sequence[str] = ()


@contextmanager
def run_child(
    task: Task,
    content: Iterable[bytes],
    limits: Limits,
    beat: Beat,
    on_report: OnReport = ignore_found,
) -> Iterator[tuple[Any, IO[bytes]]]:
    """Run a task over a content; yield its last message and the file that it wrote.

    Raises ChildFailed with the reason, also for a full disk, or ChildStopped after `beat` returned False.
    """
    messages = _Messages(on_report)
    with _room_on_disk(), tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as result:
        source.writelines(content)
        source.seek(0)
        with _logged_stderr(task) as stderr:
            with _child(task, (stderr, source, result), limits.memory_mb) as child:
                _supervise(task, child, messages, limits, beat)
            _check_end(task, child.wait(), messages, limits)
        result.seek(0)
        yield messages.last, result


@contextmanager
def _room_on_disk() -> Iterator[None]:
    """Turn a full disk into ChildFailed."""
    try:
        yield
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        raise ChildFailed(_DISK_FULL) from None


@contextmanager
def _logged_stderr(task: Task) -> Iterator[IO[bytes]]:
    """Collect the child's standard error and log the end of it."""
    with tempfile.TemporaryFile() as stderr:
        yield stderr
        size = stderr.seek(0, os.SEEK_END)
        stderr.seek(max(0, size - _LOG_TAIL))
        if text := stderr.read().decode(errors="replace").strip():
            logger.warning("%s wrote to standard error:\n%s", task.name, text)


class _ForkServer:
    """The fork server of this process; see `planner.work.fork_server`."""

    def __init__(self) -> None:
        self._owner = os.getpid()
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "planner.work.fork_server", str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
                cwd=PROJECT,
                # One thread per child, so that children do not slow each other down.
                env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
            )
        atexit.register(self.end)

    def end(self) -> None:
        """Stop the server, and wait for its end."""
        if self._owner == os.getpid():
            atexit.unregister(self.end)
            self._control.close()
            self._process.wait()

    def fork(self, request: bytes, files: Sequence[int]) -> bool:
        """Fork a child with open files; False if the server has ended or belongs to another process."""
        if self._owner != os.getpid():
            return False
        try:
            socket.send_fds(self._control, [request], files)
        except (BrokenPipeError, ConnectionResetError):
            return False
        return True


_server: _ForkServer | None = None
_server_lock = threading.Lock()


def _fork(request: bytes, files: Sequence[int]) -> None:
    """Fork a child with open files; start a server first if there is none."""
    global _server
    with _server_lock:
        if _server is not None and _server.fork(request, files):
            return
        if _server is not None:
            _server.end()
        _server = _ForkServer()
        if not _server.fork(request, files):
            raise ChildKilled("The fork server ended when it started; see the worker's log.")


class _Child:
    """A child process.

    Attributes
    ----------
    output : int
        The descriptor of its standard output.

    """

    def __init__(self, output: int, lifeline: int, status: socket.socket) -> None:
        self.output = output
        self._lifeline = lifeline
        self._status = status
        self._exit_status: int | None = None

    def wait(self) -> int:
        """Wait for its end; return the exit status, that of a kill if the server was killed."""
        if self._exit_status is None:
            self._exit_status = -signal.SIGKILL
            with suppress(ConnectionResetError):
                self._exit_status = int(self._status.recv(32) or -signal.SIGKILL)
        return self._exit_status

    def close(self) -> None:
        """Kill it unless it has ended, and wait for its end."""
        os.close(self._lifeline)
        with self._status, suppress(OSError):
            self._status.shutdown(socket.SHUT_WR)
            self.wait()
        os.close(self.output)


@contextmanager
def _child(task: Task, files: Sequence[IO[bytes]], memory_mb: int) -> Iterator[_Child]:
    """Fork a child with the files standard error, source and result; it is killed on exit."""
    wanted = {"module": task.module, "arguments": task.arguments, "memory_mb": memory_mb}
    request = json.dumps(wanted).encode()
    if len(request) > REQUEST_BYTES:
        raise ChildFailed(f"{task.name} cannot start: its arguments are longer than {REQUEST_BYTES:,} bytes.")
    (stdin, lifeline), (output, stdout) = os.pipe(), os.pipe()
    ours, theirs = socket.socketpair()
    child = _Child(output, lifeline, ours)
    try:
        try:
            with theirs:
                _fork(request, (stdin, stdout, *[file.fileno() for file in files], theirs.fileno()))
        finally:
            os.close(stdin)
            os.close(stdout)
        yield child
    finally:
        child.close()


@dataclass
class _Messages:
    """The messages of the child."""

    on_report: OnReport
    progress: float = 0.0
    doing: str = "starting"
    last: dict[str, Any] = field(default_factory=dict)
    _unfinished: list[bytes] = field(default_factory=list)

    def read(self, output: bytes) -> None:
        *lines, rest = output.split(b"\n")
        if lines:
            lines[0] = b"".join([*self._unfinished, lines[0]])
            self._unfinished.clear()
        self._unfinished.append(rest)
        for line in lines:
            message = json.loads(line)
            if "progress" in message:
                self.progress, self.doing = message["progress"], message["doing"]
            elif "so_far" in message:
                self.on_report(message["so_far"])
            else:
                self.last = message


def _supervise(task: Task, child: _Child, messages: _Messages, limits: Limits, beat: Beat) -> None:
    """Read the child's messages until it closes its output; send heartbeats and enforce the time limit."""
    started = next_beat = time.monotonic()
    while True:
        now = time.monotonic()
        if now - started > limits.seconds:
            raise ChildFailed(f"{task.name} took longer than the limit of {limits.seconds:g} seconds.")
        if now >= next_beat:
            if not beat(messages.progress, messages.doing):
                raise ChildStopped
            next_beat = now + limits.beat_seconds
        if select.select([child.output], [], [], max(0.0, next_beat - time.monotonic()))[0]:
            output = os.read(child.output, 65536)
            if not output:
                child.wait()
                return
            messages.read(output)


def _check_end(task: Task, status: int, messages: _Messages, limits: Limits) -> None:
    if status == 0:
        return
    if status == OUT_OF_MEMORY:
        raise ChildFailed(f"{task.name} needed more memory than the limit of {limits.memory_mb} MiB.")
    if status == NO_SPACE:
        raise ChildFailed(_DISK_FULL)
    if status == FAILED:
        raise ChildFailed(messages.last["failed"])
    if status == -signal.SIGKILL:
        raise ChildKilled(
            f"{task.name} was killed (SIGKILL), most likely because the machine ran out of memory. Give the"
            " workers more memory, or lower QUEUECAST_CONCURRENCY or QUEUECAST_RUN_MEMORY_MB"
            f" ({limits.memory_mb} MiB)."
        )
    how = signal.Signals(-status).name if status < 0 else f"status {status}"
    raise ChildFailed(f"{task.name} stopped unexpectedly ({how}); see the worker's log.")
