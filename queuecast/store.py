"""Local storage of snapshots, scenarios and runs, as JSON files in a folder."""

import copy
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from queuecast.problems import Json, Refused, unknown

FOLDER = Path(".queuecast")
_LONGEST = 200
"""The most characters of a name in its file's name, in which others than letters and digits take several."""


class Store:
    """A folder of JSON files, by kind and id; a number distinguishes equal names.

    With `dry_run` objects are stored for this process only.
    """

    def __init__(self, folder: Path = FOLDER, *, dry_run: bool = False) -> None:
        self.folder = folder
        self._tried: dict[Path, Json] | None = {} if dry_run else None

    def one(self, kind: str, name: str) -> Json:
        """Return the newest with this name, else the one with this id; raise Refused if there is none."""
        everything = self.all(kind)
        for part in ("name", "id"):
            for held in everything:
                if held.get(part) == name:
                    return held
        known = (str(held.get("name") or held["id"]) for held in everything)
        raise unknown(kind.removesuffix("s"), name, known, where=f"in {self.folder}")

    def by_id(self, kind: str, name: str) -> Json:
        """Return an object by the id that another object refers to."""
        return self._read(self._path(kind, name))

    def all(self, kind: str) -> list[Json]:
        """Return all of a kind, most recently written first."""
        paths = sorted(
            (self.folder / kind).glob("*.json"), key=lambda path: (-path.stat().st_mtime_ns, path.name)
        )
        return [self._read(path) for path in paths]

    def keep(self, kind: str, held: Mapping[str, Any]) -> None:
        """Write one atomically."""
        path = self._path(kind, held["id"])
        if self._tried is not None:
            self._tried[path] = copy.deepcopy(dict(held))
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_suffix(".new")
        beside.write_text(json.dumps(held, ensure_ascii=False), encoding="utf-8")
        beside.replace(path)

    def remove(self, kind: str, name: str) -> None:
        """Remove one."""
        self._path(kind, name).unlink()

    def free_id(self, kind: str, name: str) -> str:
        """Return the name as an id, with a number if it is taken; raise Refused for an impossible name."""
        _require_possible(name)
        return next(free for free in _numbered(name) if not self._path(kind, free).exists())

    def require_free(self, kind: str, name: str) -> None:
        """Raise Refused if the name is taken or impossible."""
        _require_possible(name)
        if any(held["name"] == name for held in self.all(kind)):
            raise Refused(f"{kind.removesuffix('s').capitalize()} {name!r} already exists.")

    def _path(self, kind: str, name: str) -> Path:
        return self.folder / kind / f"{quote(name, safe='')}.json"

    def _read(self, path: Path) -> Json:
        if tried := (self._tried or {}).get(path):
            return tried
        try:
            held = json.loads(path.read_bytes())
        except ValueError:
            held = None
        if not isinstance(held, dict):
            raise Refused(f"{path} is damaged. Restore it from a copy, or remove it.")
        return held


def head(held: Mapping[str, Any]) -> Json:
    """Return the metadata of an object without its content."""
    return {key: value for key, value in held.items() if key not in ("document", "result")}


def _require_possible(name: str) -> None:
    if not name.strip():
        raise Refused("A name cannot be empty.")
    if len(quote(name, safe="")) > _LONGEST:
        raise Refused(f"{name[:40]!r}… is too long for a name: write at most {_LONGEST} letters or digits.")


def _numbered(name: str) -> Iterator[str]:
    yield name
    number = 2
    while True:
        yield f"{name}.{number}"
        number += 1
