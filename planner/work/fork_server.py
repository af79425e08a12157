"""The process from which a worker forks the child processes of its tasks.

A fork starts with the modules of earlier tasks imported, where a new interpreter would import them for half a
second. The server is a process of its own because a fork of the worker would copy its threads and its
database connections. Each request is one message with the open files of the child and a socket: the server
sends the child's exit status on it, and kills the child when the worker closes its end. The server exits
with the worker.
"""

import fcntl
import gc
import json
import os
import resource
import selectors
import signal
import socket
import sys
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any, NoReturn

REQUEST_BYTES = 2**17
SOURCE, RESULT = 3, 4
"""The descriptors of a child's files, after those of its standard streams."""
FILES = 5


class Child:
    """A running child.

    Attributes
    ----------
    ended : int
        A descriptor that becomes readable when the child ends.
    status : socket
        Becomes readable when the worker wants the child to be killed.
    is_killed, has_ended : bool
        Whether the server has killed and reaped it.

    """

    def __init__(self, pid: int, status: socket.socket) -> None:
        self.pid = pid
        self.status = status
        self.ended = os.pidfd_open(pid)
        self.is_killed = self.has_ended = False

    def kill(self) -> None:
        """Kill the child; its process id is its own until it is reaped."""
        self.is_killed = True
        os.kill(self.pid, signal.SIGKILL)

    def reap(self) -> None:
        """Send the exit status of the ended child, and release what it used."""
        self.has_ended = True
        _, status = os.waitpid(self.pid, 0)
        with self.status, suppress(OSError):
            self.status.sendall(str(os.waitstatus_to_exitcode(status)).encode())
        os.close(self.ended)


def serve(control: socket.socket) -> None:
    """Fork a child for each request until the worker closes the socket."""
    with selectors.DefaultSelector() as selector:
        selector.register(control, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                child = key.data
                if child is None:
                    child = _next_child(control)
                    if child is None:
                        return
                    selector.register(child.ended, selectors.EVENT_READ, child)
                    selector.register(child.status, selectors.EVENT_READ, child)
                elif key.fileobj == child.ended:
                    selector.unregister(child.ended)
                    if not child.is_killed:
                        selector.unregister(child.status)
                    child.reap()
                elif not child.has_ended:
                    selector.unregister(child.status)
                    child.kill()


def _next_child(control: socket.socket) -> Child | None:
    """Fork a child for the next request; return None after the last one."""
    message, files, *_ = socket.recv_fds(control, REQUEST_BYTES, FILES + 1)
    if not message:
        return None
    request = json.loads(message)
    with suppress(Exception):  # the child raises it again, with its own standard error
        import_module(request["module"])
    gc.freeze()
    pid = os.fork()
    if not pid:
        _run(request, files[:FILES])
    for file in files[:FILES]:
        os.close(file)
    return Child(pid, socket.socket(fileno=files[FILES]))


def _run(request: Mapping[str, Any], files: Sequence[int]) -> NoReturn:
    """Run the task of a request in this process, and exit."""
    status = 1
    try:
        os.setsid()
        for number, file in enumerate([fcntl.fcntl(file, fcntl.F_DUPFD, FILES) for file in files]):
            os.dup2(file, number)
        os.closerange(FILES, os.sysconf("SC_OPEN_MAX"))
        bytes_allowed = request["memory_mb"] * 2**20
        resource.setrlimit(resource.RLIMIT_AS, (bytes_allowed, bytes_allowed))
        status = import_module(request["module"]).main(SOURCE, RESULT, *request["arguments"])
        sys.stdout.flush()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
