"""Measures one run of a program in its own process.

Bytecode is cached in a folder, whatever the environment says about writing it, so that only the first run
compiles the modules.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import NamedTemporaryFile
from time import perf_counter
from typing import IO, NamedTuple, TypeVar

ROOT = Path(__file__).resolve().parent.parent
Told = TypeVar("Told")


class Run(NamedTuple):
    """The time and memory of one process.

    Attributes
    ----------
    wall, cpu : float
        Wall-clock and processor seconds.
    peak : float
        Peak memory in megabytes.

    """

    wall: float
    cpu: float
    peak: float


class Runner:
    """Starts programs of this project, one at a time.

    Parameters
    ----------
    compiled : Path
        The folder for bytecode.
    runs : int
        The number of runs, of which the one with the fewest processor seconds counts.

    """

    def __init__(self, compiled: Path, runs: int) -> None:
        self.runs = runs
        self._environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(compiled)}
        self._environment.pop("PYTHONDONTWRITEBYTECODE", None)
        self._run(["-c", "import benchmarks.floor, benchmarks.variants, scheduler_core.__main__"], _nothing)

    def fastest(self, arguments: Sequence[str], read: Callable[[IO[bytes]], Told]) -> tuple[Run, Told]:
        """Return the fastest of several runs, and the result of `read` on its output."""
        return min((self._run(arguments, read) for _ in range(self.runs)), key=lambda run: run[0].cpu)

    def _run(self, arguments: Sequence[str], read: Callable[[IO[bytes]], Told]) -> tuple[Run, Told]:
        with NamedTemporaryFile() as out:
            launch = [sys.executable, "-m", "benchmarks.measure", out.name, *arguments]
            told = subprocess.run(launch, cwd=ROOT, env=self._environment, capture_output=True, check=True)
            return Run(**json.loads(told.stdout)), read(out)


def launch(out: str, arguments: Sequence[str]) -> Run:
    """Run a program from this small process, as its peak memory includes that of its parent at the start."""
    with open(out, "wb") as stream:
        started = perf_counter()
        child = subprocess.Popen([sys.executable, *arguments], stdout=stream)
        _, status, used = os.wait4(child.pid, 0)
        wall = perf_counter() - started
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{' '.join(arguments)} ended with status {child.returncode}")
    return Run(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def _nothing(_out: IO[bytes]) -> None:
    return None


if __name__ == "__main__":
    print(json.dumps(launch(sys.argv[1], sys.argv[2:])._asdict()))
