"""How far is it? Said on a terminal only, and wiped away at the end."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from queuecast.desk import Progress

_WIDTH = 24
_WIPE = "\r\x1b[K"


@contextmanager
def progress_line(what: str) -> Iterator[Progress | None]:
    """Give a function that draws progress on standard error; None when that is no terminal."""
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
