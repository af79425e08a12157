"""The child processes of a worker."""

from pathlib import Path


def simulations_of(worker: int) -> list[int]:
    """Return the process ids of the children that a worker's fork server is running."""
    return [child for server in children_of(worker) for child in children_of(server)]


def children_of(process: int) -> list[int]:
    """Return the process ids of the children of all threads of a process."""
    threads = Path(f"/proc/{process}/task").glob("*/children")
    return [int(pid) for path in threads for pid in path.read_text().split()]
