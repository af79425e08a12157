"""Selected recordings of a file; parsing a recording takes as long as comparing it."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from tempfile import NamedTemporaryFile

from scheduler_core.reading import Entry, entries


def picked(
    path: Path, pick: Callable[[Iterable[bytes]], Iterable[bytes]], *, with_recorded: bool = True
) -> Iterator[Entry]:
    """Yield the recordings of a packed file on the lines that `pick` yields."""
    with gzip.open(path) as lines, NamedTemporaryFile(suffix=".jsonl") as chosen:
        chosen.writelines(pick(lines))
        chosen.flush()
        yield from entries(chosen.name, with_recorded=with_recorded)
