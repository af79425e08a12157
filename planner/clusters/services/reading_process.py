"""Reading of a cluster in a child process."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any

from planner.work.subprocess_runner import Beat, Limits, Task, run_child
from planning.bundle import About
from planning.importing import has_errors
from planning.rows import Problem

_PIECE = 2**20


@dataclass(frozen=True)
class Read:
    """A cluster as read by a child process; see `planning.importing.Imported`."""

    scheduler_conf: str
    counts: Mapping[str, int]
    unknown_kinds: Mapping[str, int]
    problems: Sequence[Problem]
    demand: Mapping[str, Any] | None
    """The demand of the document, see `planning.demands.counted`."""
    queues: Sequence[Mapping[str, Any]]
    """The Queue objects of the document."""
    about: About | None
    """The description of a bundle's run."""
    _document: IO[bytes]
    _document_bytes: int

    @property
    def has_errors(self) -> bool:
        """Whether there are errors, so that it cannot be saved."""
        return has_errors(self.problems)

    def document(self) -> Iterator[bytes]:
        """Yield the objects as one encoded document, piece by piece."""
        self._document.seek(0)
        left = self._document_bytes
        while piece := self._document.read(min(left, _PIECE)):
            left -= len(piece)
            yield piece

    def input(self) -> Iterator[bytes]:
        """Yield the input of a bundle's run, piece by piece."""
        self._document.seek(self._document_bytes)
        while piece := self._document.read(_PIECE):
            yield piece


@contextmanager
def reading(
    archive: Iterable[bytes],
    *,
    now: str,
    keep: Collection[str] = (),
    is_bundle: bool = False,
    limits: Limits,
    beat: Beat,
) -> Iterator[Read]:
    """Read the files of an archive in a child process, as `planning.importing.read_cluster` does.

    With `is_bundle` the only file is a run's bundle. The result can be used until the end of the block.

    Raises ChildFailed with the reason, or ChildStopped after `beat` returned False.
    """
    task = Task("The import", "planner.clusters.reading", ["bundle" if is_bundle else "files", now, *keep])
    with run_child(task, archive, limits, beat) as (answer, result):
        problems = [Problem(**found) for found in answer["problems"]]
        yield Read(
            answer["scheduler_conf"],
            answer["counts"],
            answer["unknown_kinds"],
            problems,
            answer["demand"],
            answer["queues"],
            About(**answer["about"]) if answer["about"] else None,
            result,
            answer["document_bytes"],
        )
