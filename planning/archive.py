"""Archives of an import's files, written and read piece by piece, for the worker that reads them."""

import io
import tarfile
from collections.abc import Iterator
from typing import IO

from planning.importing import OpenFiles

_PIECE = 2**20


def archived(files: OpenFiles) -> Iterator[bytes]:
    """Yield the pieces of an archive of files: the same bytes for the same names and contents.

    Every file is rewound to its beginning.
    """
    for name, file in files:
        entry = tarfile.TarInfo(name)
        entry.size = file.seek(0, io.SEEK_END)
        file.seek(0)
        yield entry.tobuf(tarfile.PAX_FORMAT)
        while piece := file.read(_PIECE):
            yield piece
        file.seek(0)
        yield bytes(-entry.size % tarfile.BLOCKSIZE)
    yield bytes(2 * tarfile.BLOCKSIZE)


def extracted(archive: IO[bytes]) -> list[tuple[str, bytes]]:
    """Return the names and contents of the files in an archive, in the order sent."""
    with tarfile.open(fileobj=archive, mode="r:") as held:
        return [(entry.name, _content(held, entry)) for entry in held]


def _content(held: tarfile.TarFile, entry: tarfile.TarInfo) -> bytes:
    file = held.extractfile(entry)
    assert file is not None, "only files are packed"
    return file.read()
