"""How does a run travel to another installation, whole? As one zip whose bytes depend on the run alone."""

import hashlib
import io
import json
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from planner.rows import Problem

FORMAT = 1
LARGEST = 400 * 2**20
"""What one bundle may hold, unpacked."""

_ABOUT, _INPUT, _RESULT, _CONF = "bundle.json", "input.json", "result.json", "volcano-scheduler.conf"
_EPOCH = (1980, 1, 1, 0, 0, 0)


class NoBundle(Exception):
    """The bytes are no bundle of a run, or not a whole one; the problems say why."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(problem.message for problem in problems))
        self.problems = list(problems)


@dataclass(frozen=True)
class About:
    """What stands about a run beside its bytes."""

    name: str
    scenario_revision: int
    options: Mapping[str, Any]
    engine_version: str
    input_sha256: str
    result_sha256: str


@dataclass(frozen=True)
class Bundle:
    """A run: what it read, and what the core answered."""

    about: About
    input: bytes
    result: bytes

    def packed(self) -> bytes:
        """Return the zip; the same run gives the same bytes."""
        conf = json.loads(self.input).get("scheduler_conf") or ""
        about = {"format": FORMAT, **asdict(self.about)}
        parts = {
            _ABOUT: json.dumps(about, indent=2, ensure_ascii=False).encode() + b"\n",
            _INPUT: self.input,
            _RESULT: self.result,
            _CONF: str(conf).encode(),
        }
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in parts.items():
                archive.writestr(zipfile.ZipInfo(name, _EPOCH), content, zipfile.ZIP_DEFLATED)
        return packed.getvalue()


def unpacked(content: bytes) -> Bundle:
    """Return the bundle that a zip holds, or raise NoBundle."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if sum(part.file_size for part in archive.infolist()) > LARGEST:
                raise _broken(f"The bundle is larger than {LARGEST // 2**20} MiB when unpacked.")
            parts = {name: archive.read(name) for name in (_ABOUT, _INPUT, _RESULT)}
        told = json.loads(parts[_ABOUT])
    except (zipfile.BadZipFile, KeyError, ValueError, RuntimeError, NotImplementedError, zlib.error) as error:
        raise _broken(f"This is not a run bundle: {error}.") from None
    bundle = Bundle(about_of(told), parts[_INPUT], parts[_RESULT])
    _require_whole(bundle)
    return bundle


def about_of(told: Any) -> About:
    """Return what a bundle says about its run, or raise NoBundle with everything that cannot be kept."""
    if not isinstance(told, dict):
        raise _broken(f"{_ABOUT} holds no JSON object.")
    if told.get("format") != FORMAT:
        raise _broken(f"This bundle is not of format {FORMAT}; another version of Queuecast wrote it.")
    options = told.get("options")
    wrong = [*_wrong(told, _FIELDS, "")]
    wrong += _wrong(options if isinstance(options, dict) else {}, _OPTIONS, "options.")
    if wrong:
        raise NoBundle(wrong)
    return About(**{name: told[name] for name in _FIELDS})


def _is_text(longest: int) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and 0 < len(value) <= longest and not _UNTEXTUAL.search(value)


def _is_whole(most: int) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= most


def _is_sha256(value: Any) -> bool:
    return isinstance(value, str) and _SHA256.fullmatch(value) is not None


_UNTEXTUAL = re.compile("[\x00\ud800-\udfff]")
"""What no database keeps."""
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
    "cycles": (_is_whole(1000), "a whole number from 1 to 1000"),
    "explain": (lambda value: isinstance(value, bool), "true or false"),
}


def _wrong(
    told: Mapping[str, Any], fields: Mapping[str, tuple[Callable[[Any], bool], str]], before: str
) -> Iterator[Problem]:
    for name, (is_fine, form) in fields.items():
        if not is_fine(told.get(name)):
            message = f"{before}{name} is missing" if name not in told else f"{before}{name} cannot be kept"
            yield Problem(
                "bundle.about",
                "error",
                message,
                path=before + name,
                fix=f"It is {form}; download the bundle again.",
                document=_ABOUT,
            )


def _broken(message: str) -> NoBundle:
    return NoBundle([Problem("bundle.broken", "error", message)])


def _require_whole(bundle: Bundle) -> None:
    """Raise NoBundle unless input and result are the bytes that were packed."""
    for name, content, told in (
        (_INPUT, bundle.input, bundle.about.input_sha256),
        (_RESULT, bundle.result, bundle.about.result_sha256),
    ):
        if hashlib.sha256(content).hexdigest() != told:
            raise _broken(f"{name} is corrupt: its SHA-256 differs from the recorded one.")
