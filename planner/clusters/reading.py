"""The child process of an import: reads and checks the files, writes the objects as one document.

`planner.clusters.services.reading_process` starts it.
"""

import io
import json
import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import manifests
from planner.work.subprocess_worker import report_progress, run_work, send
from planning.archive import extracted
from planning.bundle import INPUT, About, NoBundle, unpacked
from planning.demands import counted
from planning.documents import encoded, items
from planning.importing import Imported, read_cluster

FILES, BUNDLE = "files", "bundle"
_CHECKED = 0.9
_TELL_SECONDS = 0.1


def main(files: int, document: int, kind: str, now: str, *keep: str) -> int:
    """Read a cluster; return the exit status.

    Parameters
    ----------
    files, document : int
        Descriptors of open files: the uploaded archive, and the document. The input of a bundle's run follows
        its document. If there is an error, nothing is written.
    kind : str
        ``files`` or ``bundle``.
    now : str
        The time of a live export.
    *keep : str
        Annotations to keep.

    """
    read = _read_bundle if kind == BUNDLE else _read_files
    return run_work(lambda: read(files, document, now, keep))


def _read_files(files: int, document: int, now: str, keep: Sequence[str]) -> None:
    report_progress(0.0, "unpacking")
    with open(files, "rb") as archive:
        sent = extracted(archive)
    imported = read_cluster(sent, now=now, keep=keep, progress=_ThrottledProgress().send)
    del sent
    _keep(imported, document, b"", None)


def _read_bundle(files: int, document: int, now: str, keep: Sequence[str]) -> None:
    report_progress(0.0, "unpacking")
    try:
        with open(files, "rb") as archive:
            [(_, content)] = extracted(archive)
        about, frozen = unpacked(io.BytesIO(content))
    except NoBundle as error:
        nothing: dict[str, int] = {}
        _send(Imported({}, "", nothing, nothing, error.problems), None, 0, None)
        return
    del content
    imported = read_cluster([(INPUT, frozen)], now=now, keep=keep, progress=_ThrottledProgress().send)
    held = json.loads(frozen)
    bare = manifests.stripped(held, keep)
    _keep(imported, document, frozen if bare is held else encoded(bare), about)


def _keep(imported: Imported, document: int, frozen: bytes, about: About | None) -> None:
    report_progress(_CHECKED, "packing the objects")
    demand, size = None, 0
    if not imported.has_errors:
        demand = counted(imported.document)
        with open(document, "wb") as target:
            size = target.write(encoded(imported.document))
            target.write(frozen)
    _send(imported, demand, size, about)


def _send(imported: Imported, demand: dict[str, Any] | None, size: int, about: About | None) -> None:
    send(
        scheduler_conf=imported.scheduler_conf,
        counts=imported.counts,
        unknown_kinds=imported.unknown_kinds,
        problems=[asdict(problem) for problem in imported.problems],
        demand=demand,
        queues=list(items(imported.document.get("queues"))),
        document_bytes=size,
        about=None if about is None else asdict(about),
    )


class _ThrottledProgress:
    """Tells what is new at once, and progress as often as somebody could look."""

    def __init__(self) -> None:
        self._last = 0.0
        self._doing = ""

    def send(self, done: float, doing: str) -> None:
        now = time.monotonic()
        if doing != self._doing or now - self._last > _TELL_SECONDS:
            self._last, self._doing = now, doing
            report_progress(done, doing)
