"""Files that are made once for all tests and copied: migrated databases without rows, and static files."""

import fcntl
import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
DATABASE = "queuecast.sqlite3"
"""The file of a database of the default kind."""
KEPT = ROOT / "var" / "kept"
LOCKED = ROOT / "requirements" / "dev.txt"


@cache
def empty_database() -> Path:
    """Return a SQLite database without rows; migrations take seconds."""
    return cached("sqlite", tables_version(), lambda folder: _migrated(folder) / DATABASE)


@cache
def static_files() -> Path:
    """Return the folder of the static files as an installation collects them."""
    sources = [LOCKED, ROOT / "config" / "settings.py", *sorted((ROOT / "static").rglob("*.*"))]
    return cached("static", version_of(sources), lambda folder: _collected(folder) / "static")


def cached(kind: str, version: str, make: Callable[[Path], Path]) -> Path:
    """Return the cached result of `make`; the first process that needs it makes it."""
    KEPT.mkdir(parents=True, exist_ok=True)
    found = KEPT / f"{kind}-{version}"
    with (KEPT / f"{kind}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not found.exists():
            subprocess.run(["rm", "-rf", *KEPT.glob(f"{kind}-*")], check=True)
            with tempfile.TemporaryDirectory(dir=KEPT) as folder:
                make(Path(folder)).rename(found)
    return found


def tables_version() -> str:
    """Return a version that changes with the migrations of the project or of its packages."""
    return version_of([*sorted((ROOT / "planner" / "migrations").glob("*.py")), LOCKED])


def version_of(files: Iterable[Path]) -> str:
    """Return a version that changes with the content of any of the files."""
    content = hashlib.sha256()
    for file in files:
        content.update(str(file.relative_to(ROOT)).encode() + file.read_bytes())
    return content.hexdigest()[:16]


def migrate(folder: Path, **variables: str) -> None:
    """Migrate the database of an installation whose data folder is `folder`."""
    _manage(folder, "migrate", **variables)


def _migrated(folder: Path) -> Path:
    migrate(folder)
    return folder


def _collected(folder: Path) -> Path:
    _manage(folder, "collectstatic", "--noinput")
    return folder


def _manage(folder: Path, *arguments: str, **variables: str) -> None:
    inherited = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    own = {"QUEUECAST_VAR": str(folder), "DJANGO_SETTINGS_MODULE": "config.settings"}
    subprocess.run(
        [sys.executable, "manage.py", *arguments, "--verbosity", "0", "--skip-checks"],
        cwd=ROOT,
        env={**inherited, **own, **variables},
        check=True,
    )
