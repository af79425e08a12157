"""Child processes that a request waits for: one of a kind at a time in each web process, with limits."""

import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from typing import IO, Any

from django.conf import settings

from planner.errors import Busy, Invalid
from planner.work.subprocess_runner import ChildFailed, Limits, Task, run_child
from planning.rows import Problem
from planning.rows.problems import Unusable

IN_PROCESS_BYTES = 2**18
"""How much text the requesting process itself reads; a child process reads more."""
PATIENCE_SECONDS = 2.0

Json = Mapping[str, Any]
Compute = Callable[[bytes, Json], tuple[bytes, Json]]
"""A function of `planning` that makes bytes and plain data of a content and options, or raises Unusable."""


@dataclass(frozen=True)
class Turn:
    """The right to run a child of one kind, which one request of a web process has at a time."""

    doing: str
    lock: threading.BoundedSemaphore = field(default_factory=threading.BoundedSemaphore)


READING = Turn("reading for another request")


@dataclass(frozen=True)
class Cost:
    """How the problem of a request is reported whose child exceeds its limits or is killed."""

    rule: str
    path: str
    """The part of the request that costs."""
    fix: str
    """How it costs less."""


@contextmanager
def awaited(cost: Cost, *, turn: Turn = READING, memory_mb: int | None = None) -> Iterator[Limits]:
    """Take the turn to run a child in the block; yield its limits, the memory of an import by default.

    Raises Busy while another request has the turn, and Invalid if the child exceeds its limits or is killed.
    """
    if not turn.lock.acquire(timeout=PATIENCE_SECONDS):
        raise Busy(f"The server is {turn.doing}. Try again in a few seconds.")
    try:
        memory_mb = memory_mb or settings.IMPORT_MEMORY_MB
        yield Limits(memory_mb, settings.IMPORT_SECONDS, settings.RUN_HEARTBEAT_SECONDS)
    except ChildFailed as error:
        raise Invalid([Problem(cost.rule, "error", str(error), path=cost.path, fix=cost.fix)]) from None
    finally:
        turn.lock.release()


def go_on(_done: float, _doing: str) -> bool:
    """Let a child go on until it exceeds its limits: nobody can cancel it."""
    return True


@contextmanager
def computed(
    compute: Compute, content: Iterable[bytes], options: Json, *, name: str, cost: Cost, is_large: bool
) -> Iterator[tuple[IO[bytes], Any]]:
    """Yield what a function makes of a content, its bytes as a file; a child process computes a large one.

    `name` starts the sentences about failures of the child. Raises Invalid for an unusable content, and as
    `awaited` does.
    """
    if not is_large:
        try:
            made, answer = compute(b"".join(content), options)
        except Unusable as error:
            raise Invalid(error.problems) from None
        yield BytesIO(made), answer
        return
    task = Task(name, "planner.work.computing", [compute.__module__, compute.__name__, json.dumps(options)])
    with awaited(cost) as limits, run_child(task, content, limits, go_on) as (found, result):
        if found["problems"]:
            raise Invalid([Problem(**problem) for problem in found["problems"]])
        yield result, found["answer"]
