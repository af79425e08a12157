"""Starts the child processes of this process, through a fork server of its own."""

import atexit
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from planner.work.fork_server import REQUEST_BYTES

PROJECT = Path(__file__).parents[2]


class RequestTooLong(Exception):
    """The arguments of a child are longer than one message; the text says how long."""


class _Server:
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


_server: _Server | None = None
_server_lock = threading.Lock()


def _fork(request: bytes, files: Sequence[int]) -> None:
    """Fork a child with open files; start a server first if there is none."""
    global _server
    with _server_lock:
        if _server is not None and _server.fork(request, files):
            return
        if _server is not None:
            _server.end()
        _server = _Server()
        if not _server.fork(request, files):
            raise ChildProcessError("The fork server ended when it started; see the log.")


class Child:
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
def forked(
    module: str, arguments: Sequence[str], files: tuple[IO[bytes], IO[bytes], IO[bytes]], memory_mb: int
) -> Iterator[Child]:
    """Run `main` of a module in a child process, which is killed on exit.

    Parameters
    ----------
    module : str
        A module that follows `planner.work.subprocess_worker`.
    arguments : sequence of str
        The arguments of `main` after the descriptors of source and result; at most 128 KiB.
    files : tuple of file
        Standard error, source and result.
    memory_mb : int
        The limit of the child's address space.

    Raises
    ------
    RequestTooLong

    """
    request = json.dumps({"module": module, "arguments": arguments, "memory_mb": memory_mb}).encode()
    if len(request) > REQUEST_BYTES:
        raise RequestTooLong(f"its arguments take {len(request):,} bytes, more than {REQUEST_BYTES:,}")
    (stdin, lifeline), (output, stdout) = os.pipe(), os.pipe()
    ours, theirs = socket.socketpair()
    child = Child(output, lifeline, ours)
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
