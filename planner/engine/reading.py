"""What does an import's child process do? Read the files, check them, write the objects as one document.

Started by `planner.engine.execution` as ``python -m planner.engine.reading FILES DOCUMENT NOW ANNOTATION…``:
two open files by number, the archive of what was sent and where the document goes, the moment of a live
export, and the annotations that stay.
With an error nothing is written.
"""

import sys
import time
from dataclasses import asdict

from planner.engine.child import ended, tell, tell_progress
from planner.engine.demands import counted
from planner.engine.documents import encoded
from planner.engine.importing import read_cluster
from planner.engine.parcel import unparcelled

_CHECKED = 0.9
_TELL_SECONDS = 0.1


def main(files: int, document: int, now: str, keep: list[str]) -> int:
    """Read a cluster; return the exit status."""
    return ended(lambda: _read(files, document, now, keep))


def _read(files: int, document: int, now: str, keep: list[str]) -> None:
    tell_progress(0.0, "unpacking")
    with open(files, "rb") as archive:
        sent = unparcelled(archive)
    imported = read_cluster(sent, now=now, keep=keep, progress=_Seldom().tell)
    del sent
    tell_progress(_CHECKED, "packing the objects")
    demand = None
    if not imported.has_errors:
        demand = counted(imported.document)
        with open(document, "wb") as target:
            target.write(encoded(imported.document))
    tell(
        scheduler_conf=imported.scheduler_conf,
        counts=imported.counts,
        unknown_kinds=imported.unknown_kinds,
        problems=[asdict(problem) for problem in imported.problems],
        demand=demand,
    )


class _Seldom:
    """Tells what is new at once, and progress as often as somebody could look."""

    def __init__(self) -> None:
        self._last = 0.0
        self._doing = ""

    def tell(self, done: float, doing: str) -> None:
        now = time.monotonic()
        if doing != self._doing or now - self._last > _TELL_SECONDS:
            self._last, self._doing = now, doing
            tell_progress(done, doing)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4:]))
