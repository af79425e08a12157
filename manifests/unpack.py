"""The text of a file's bytes; gzip is decompressed up to the size limit."""

import gzip
import os
import zlib
from collections.abc import Iterator
from contextlib import suppress
from typing import IO

_GZIP = b"\x1f\x8b"
_CHUNK = 2**20
_ARCHIVES = {
    b"PK\x03\x04": "zip", b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"\x28\xb5\x2f\xfd": "zstd",
    b"7z\xbc\xaf": "7z",
}  # fmt: skip
_TAR, _TAR_AT = b"ustar", 257
_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))


class NoText(ValueError):
    """The bytes hold no readable text."""

    def __init__(self, rule: str, message: str, fix: str, line: int | None = None) -> None:
        super().__init__(message)
        self.rule = rule
        self.fix = fix
        self.line = line
        """From 1."""


def unpacked(content: bytes, *, limit: int) -> bytes:
    """Return the bytes of a file's text, decompressed if it is gzip, up to `limit`."""
    data = _inflated(content, limit) if content.startswith(_GZIP) else content
    if len(data) > limit:
        raise _too_large(limit)
    if archive := _archive(data):
        message = f"a file in the format {archive}, not text"
        raise NoText("file.archive", message, "unpack it; send its files, plain or compressed by gzip")
    return data


def _archive(data: bytes) -> str:
    """Return the name of the archive or compression format of bytes; empty for all others."""
    if data[_TAR_AT : _TAR_AT + len(_TAR)] == _TAR:
        return "tar"
    return next((name for mark, name in _ARCHIVES.items() if data.startswith(mark)), "")


def text_bytes(file: IO[bytes], *, at_most: int) -> int:
    """Return the size of an open file's text, decompressed if it is gzip; leave it at its start.

    Counting ends above `at_most`, and where the file is broken.
    """
    file.seek(0)
    try:
        if file.read(len(_GZIP)) != _GZIP:
            return file.seek(0, os.SEEK_END)
        file.seek(0)
        return _counted(file, at_most)
    finally:
        file.seek(0)


def _counted(file: IO[bytes], at_most: int) -> int:
    counted = 0
    with gzip.GzipFile(fileobj=file) as inflated, suppress(EOFError, OSError, zlib.error):
        while counted <= at_most and (piece := inflated.read(_CHUNK)):
            counted += len(piece)
    return counted


def decoded(data: bytes) -> str:
    """Return the text of bytes in UTF-8, or in the encoding of their byte order mark."""
    mark, encoding = next((marked for marked in _MARKS if data.startswith(marked[0])), (b"", "utf-8"))
    try:
        return data[len(mark) :].decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"not text in {encoding.upper()}: {error.reason} at byte {error.start + 1}"
        raise NoText("file.encoding", message, "save the file as UTF-8", line) from error


def _inflated(content: bytes, limit: int) -> bytes:
    try:
        return b"".join(_members(content, limit))
    except zlib.error as error:
        raise NoText(
            "file.gzip", f"not readable as gzip: {error}", "upload the file as it was compressed"
        ) from error


def _members(content: bytes, limit: int) -> Iterator[bytes]:
    """Yield the decompressed pieces of all members of a gzip file."""
    left = limit
    while content.startswith(_GZIP):
        member = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
        while not member.eof:
            piece = member.decompress(content, _CHUNK)
            content = member.unconsumed_tail
            left -= len(piece)
            if left < 0:
                raise _too_large(limit)
            if not piece and not content and not member.eof:
                raise NoText("file.gzip", "the gzip file is truncated", "upload the complete file")
            yield piece
        content = member.unused_data.lstrip(b"\0")


def _too_large(limit: int) -> NoText:
    return NoText(
        "file.size",
        f"more than {limit / 1e6:g} MB of text",
        "leave out objects that the scheduler does not read",
    )
