"""What does a run's child process do? Read the frozen input, simulate, write the result, tell how far it is.

Started by `planner.engine.execution` as ``python -m planner.engine.child INPUT RESULT EXPLAIN JOB HOST…``:
two open files by number, the job that a search is about (empty: one simulation), and the hosts that plugin
extender may call. Standard input is the lifeline: it ends when the worker is gone, and so does the child.
Standard output carries one JSON object a line, standard error what went wrong.
"""

import errno
import json
import os
import sys
import threading
import time
from typing import Any

import manifests
from extender_client import AllowedHosts, ExtenderClient
from planner.engine.search import search
from scheduler_core import ENGINE_VERSION, Options, encode, simulate_document

OUT_OF_MEMORY = 3
UNREADABLE = 4
NO_SPACE = 5


def main(input_file: int, result_file: int, options: Options, job: str) -> int:
    """Simulate once, or search for what would unblock `job`; the exit status tells the ends apart."""
    threading.Thread(target=_end_with_the_worker, daemon=True).start()
    try:
        _simulate(input_file, result_file, options, job)
    except MemoryError:
        return OUT_OF_MEMORY
    except manifests.Unreadable as error:
        _tell(unreadable=str(error))
        return UNREADABLE
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        return NO_SPACE
    return 0


def _simulate(input_file: int, result_file: int, options: Options, job: str) -> None:
    clock = _Clock()
    _tell(progress=0.0, doing="reading the input")
    with open(input_file, "rb") as source:
        document = manifests.resolve(json.loads(source.read()))
    clock.lap("load_ms")
    result = search(document, job, options) if job else simulate_document(document, options)
    clock.lap("simulate_ms")
    with open(result_file, "wb") as target:
        target.write(encode(result))
    clock.lap("encode_ms")
    _tell(timings=clock.laps, engine_version=ENGINE_VERSION, error=result.get("error"))


def _options(explain: bool, hosts: list[str]) -> Options:
    return Options(
        explain=explain,
        progress=lambda done, what: _tell(progress=done, doing=what),
        extender=ExtenderClient(AllowedHosts(hosts)).post if hosts else None,
    )


class _Clock:
    """How long each step took, in milliseconds."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self.laps[name] = round((now - self._last) * 1000, 1)
        self._last = now


def _tell(**news: Any) -> None:
    sys.stdout.write(json.dumps(news) + "\n")
    sys.stdout.flush()


def _end_with_the_worker() -> None:
    while os.read(0, 1):
        pass
    os._exit(1)


if __name__ == "__main__":
    sys.exit(
        main(
            int(sys.argv[1]), int(sys.argv[2]), _options(sys.argv[3] == "explain", sys.argv[5:]), sys.argv[4]
        )
    )
