"""How does a run travel to another installation, whole? As one zip whose bytes depend on the run alone."""

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

FORMAT = 1
LARGEST = 400 * 2**20
"""What one bundle may hold, unpacked."""

_ABOUT, _INPUT, _RESULT, _CONF = "bundle.json", "input.json", "result.json", "volcano-scheduler.conf"
_EPOCH = (1980, 1, 1, 0, 0, 0)


class NoBundle(Exception):
    """The bytes are no bundle of a run, or not a whole one; the message says why."""


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
                raise NoBundle(f"This is more than {LARGEST // 2**20} MiB when unpacked.")
            parts = {name: archive.read(name) for name in (_ABOUT, _INPUT, _RESULT)}
        told = json.loads(parts[_ABOUT])
        if told.pop("format") != FORMAT:
            raise NoBundle(f"This bundle is not of format {FORMAT}; a newer Queuecast wrote it.")
        bundle = Bundle(About(**told), parts[_INPUT], parts[_RESULT])
    except (zipfile.BadZipFile, KeyError, TypeError, ValueError, AttributeError, RuntimeError) as error:
        raise NoBundle(f"This is no bundle of a run: {error}.") from None
    _require_whole(bundle)
    return bundle


def _require_whole(bundle: Bundle) -> None:
    """Raise NoBundle unless input and result are the bytes that were packed."""
    for name, content, told in (
        (_INPUT, bundle.input, bundle.about.input_sha256),
        (_RESULT, bundle.result, bundle.about.result_sha256),
    ):
        if hashlib.sha256(content).hexdigest() != told:
            raise NoBundle(f"{name} is not what was packed: its SHA-256 differs.")
