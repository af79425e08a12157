"""The child processes of a worker."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from django.db import connection


def simulations_of(worker: int) -> list[int]:
    """Return the process ids of the children that a worker's fork server is running."""
    return [child for server in fork_servers_of(worker) for child in children_of(server)]


def fork_servers_of(process: int) -> list[int]:
    """Return the process ids of the fork servers of a process: one, or none before the first child."""
    return [
        child
        for child in children_of(process)
        if b"fork_server" in Path(f"/proc/{child}/cmdline").read_bytes()
    ]


def children_of(process: int) -> list[int]:
    """Return the process ids of the children of all threads of a process."""
    threads = Path(f"/proc/{process}/task").glob("*/children")
    return [int(pid) for path in threads for pid in path.read_text().split()]


@contextmanager
def killed_child(when: Callable[[], bool]) -> Iterator[None]:
    """Kill the first child that this process, as a worker, runs when the condition holds."""
    over = threading.Event()

    def kill() -> None:
        while not over.is_set():
            for child in simulations_of(os.getpid()):
                if when():
                    os.kill(child, signal.SIGKILL)
                    over.set()
            time.sleep(0.002)
        connection.close()

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
