"""Progress: a line on a terminal that is erased at the end, or a line per change."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from queuecast.backend import Progress

_WIDTH = 24
_WIPE = "\r\x1b[K"


@contextmanager
def progress_line(what: str) -> Iterator[Progress | None]:
    """Return a function that draws progress on standard error; None if it is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return

    def draw(done: float, doing: str) -> None:
        full = round(done * _WIDTH)
        bar = "█" * full + "░" * (_WIDTH - full)
        sys.stderr.write(f"{_WIPE}{what}  {bar} {done:4.0%}  {doing}")
        sys.stderr.flush()

    try:
        yield draw
    finally:
        sys.stderr.write(_WIPE)
        sys.stderr.flush()


@contextmanager
def watched_lines(what: str) -> Iterator[Progress]:
    """Return a function that writes a line to standard error when a run starts another step."""
    last = ""

    def write(done: float, doing: str) -> None:
        nonlocal last
        if doing != last:
            sys.stderr.write(f"{what}  {done:4.0%}  {doing}\n")
            sys.stderr.flush()
        last = doing

    yield write
