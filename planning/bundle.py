"""Bundles: a run as one zip file, for another installation. Equal runs give equal bytes."""

import hashlib
import io
import json
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import IO, Any

from planning.contents import MOST_CYCLES
from planning.rows import Problem

FORMAT = 1
LARGEST = 400 * 2**20
"""The most that a bundle may contain, unpacked."""

_ABOUT, INPUT, _RESULT, _CONF = "bundle.json", "input.json", "result.json", "volcano-scheduler.conf"
_LARGEST_ABOUT = 65_536
_LARGEST_LIST = 65_536
"""The size of the directory at a zip's end."""
_END, _END_64 = b"PK\x05\x06", b"PK\x06\x07"
_END_BYTES_SHORTEST, _END_BYTES = 22, 22 + 20 + 65_535
_UNREADABLE = (
    zipfile.BadZipFile, KeyError, ValueError, RuntimeError, NotImplementedError, zlib.error, EOFError,
)  # fmt: skip
_EPOCH = (1980, 1, 1, 0, 0, 0)


class NoBundle(Exception):
    """The bytes are not a complete bundle; the problems say why."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(problem.message for problem in problems))
        self.problems = list(problems)


@dataclass(frozen=True)
class About:
    """The description of a run in its bundle."""

    name: str
    scenario_revision: int
    options: Mapping[str, Any]
    engine_version: str
    input_sha256: str
    result_sha256: str


@dataclass(frozen=True)
class Bundle:
    """A run: its input, and the core's result."""

    about: About
    input: bytes
    result: bytes

    def packed(self) -> bytes:
        """Return the zip; the same run gives the same bytes."""
        conf = json.loads(self.input).get("scheduler_conf") or ""
        about = {"format": FORMAT, **asdict(self.about)}
        parts = {
            _ABOUT: json.dumps(about, indent=2, ensure_ascii=False).encode() + b"\n",
            INPUT: self.input,
            _RESULT: self.result,
            _CONF: str(conf).encode(),
        }
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in parts.items():
                archive.writestr(zipfile.ZipInfo(name, _EPOCH), content, zipfile.ZIP_DEFLATED)
        return packed.getvalue()


def unpacked_bytes(file: IO[bytes]) -> int:
    """Return the unpacked size that a zip declares, or raise NoBundle; leave the file at its start."""
    try:
        with _archive(file) as archive:
            return sum(part.file_size for part in archive.infolist())
    finally:
        file.seek(0)


def unpacked(file: IO[bytes]) -> tuple[About, bytes]:
    """Return the description and the input of a bundle, or raise NoBundle."""
    with _archive(file) as archive:
        if sum(part.file_size for part in archive.infolist()) > LARGEST:
            raise _broken(f"The bundle is larger than {LARGEST // 2**20} MiB when unpacked.")
        try:
            if archive.getinfo(_ABOUT).file_size > _LARGEST_ABOUT:
                raise _broken(f"{_ABOUT} is larger than {_LARGEST_ABOUT} bytes.")
            about = about_of(json.loads(archive.read(_ABOUT)))
            content = archive.read(INPUT)
            sums = {
                INPUT: (hashlib.sha256(content), about.input_sha256),
                _RESULT: (_digest(archive, _RESULT), about.result_sha256),
            }
        except _UNREADABLE as error:
            raise _broken(f"This is not a run bundle: {error}.") from None
    for name, (found, checksum) in sums.items():
        if found.hexdigest() != checksum:
            raise _broken(f"{name} was modified: its SHA-256 differs.")
    return about, content


def _digest(archive: zipfile.ZipFile, name: str) -> "hashlib._Hash":
    digest = hashlib.sha256()
    with archive.open(name) as part:
        while piece := part.read(2**20):
            digest.update(piece)
    return digest


def _archive(file: IO[bytes]) -> zipfile.ZipFile:
    """Open a zip, unless its directory alone would take more memory than a bundle."""
    size = file.seek(0, io.SEEK_END)
    file.seek(max(0, size - _END_BYTES))
    tail = file.read()
    end = tail.rfind(_END)
    if end < 0 or len(tail) - end < _END_BYTES_SHORTEST:
        raise _broken("This is not a run bundle: it is not a zip file.")
    listed = int.from_bytes(tail[end + 12 : end + 16], "little")
    if listed > _LARGEST_LIST or tail[max(0, end - 20) : end].startswith(_END_64):
        raise _broken("This is not a run bundle: it contains too many files.")
    file.seek(0)
    try:
        return zipfile.ZipFile(file)
    except _UNREADABLE as error:
        raise _broken(f"This is not a run bundle: {error}.") from None


def about_of(about: Any) -> About:
    """Return the description of a bundle, or raise NoBundle with everything that is invalid in it."""
    if not isinstance(about, dict):
        raise _broken(f"{_ABOUT} contains no JSON object.")
    if about.get("format") != FORMAT:
        raise _broken(f"This bundle is not of format {FORMAT}; another version of Queuecast wrote it.")
    options = about.get("options")
    wrong = [*_wrong(about, _FIELDS, "")]
    wrong += _wrong(options if isinstance(options, dict) else {}, _OPTIONS, "options.")
    if wrong:
        raise NoBundle(wrong)
    return About(**{name: about[name] for name in _FIELDS})


def _is_text(longest: int) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and 0 < len(value) <= longest and not _UNTEXTUAL.search(value)


def _is_whole(most: int) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= most


def _is_sha256(value: Any) -> bool:
    return isinstance(value, str) and _SHA256.fullmatch(value) is not None


_UNTEXTUAL = re.compile("[\x00\ud800-\udfff]")
"""Characters that databases cannot store."""
_SHA256 = re.compile("[0-9a-f]{64}")
_FIELDS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "name": (_is_text(253), "a text of 1 to 253 characters, without NUL"),
    "scenario_revision": (_is_whole(2**31 - 1), "a whole number from 1"),
    "options": (
        lambda value: isinstance(value, dict) and set(value) <= set(_OPTIONS),
        "cycles and explain only",
    ),
    "engine_version": (_is_text(60), "a text of 1 to 60 characters, without NUL"),
    "input_sha256": (_is_sha256, "a SHA-256 in hexadecimal digits"),
    "result_sha256": (_is_sha256, "a SHA-256 in hexadecimal digits"),
}
_OPTIONS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "cycles": (_is_whole(MOST_CYCLES), f"a whole number from 1 to {MOST_CYCLES}"),
    "explain": (lambda value: isinstance(value, bool), "true or false"),
}


def _wrong(
    about: Mapping[str, Any], fields: Mapping[str, tuple[Callable[[Any], bool], str]], before: str
) -> Iterator[Problem]:
    for name, (is_fine, form) in fields.items():
        if not is_fine(about.get(name)):
            message = (
                f"{before}{name} is missing" if name not in about else f"{before}{name} cannot be stored"
            )
            yield Problem(
                "bundle.about",
                "error",
                message,
                path=before + name,
                fix=f"It is {form}; download the bundle again.",
                document=_ABOUT,
            )


def _broken(message: str) -> NoBundle:
    fix = "Download the bundle again from the run's page, and send it unchanged."
    return NoBundle([Problem("bundle.broken", "error", message, path="file", fix=fix)])
