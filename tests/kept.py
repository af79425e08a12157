"""What is made once for all tests, and copied: databases with tables and no rows, and static files."""

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
    return kept("sqlite", tables_version(), lambda folder: _migrated(folder) / DATABASE)


@cache
def static_files() -> Path:
    """Return the folder of the static files as an installation collects them."""
    sources = [LOCKED, ROOT / "config" / "settings.py", *sorted((ROOT / "static").rglob("*.*"))]
    return kept("static", version_of(sources), lambda folder: _collected(folder) / "static")


def kept(kind: str, version: str, make: Callable[[Path], Path]) -> Path:
    """Return what `make` returns of a folder; whoever asks first, of all processes, makes it."""
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
    """Return what differs when other tables would come of it: by our migrations, or by those of packages."""
    return version_of([*sorted((ROOT / "planner" / "migrations").glob("*.py")), LOCKED])


def version_of(files: Iterable[Path]) -> str:
    """Return what differs when one of the files does."""
    content = hashlib.sha256()
    for file in files:
        content.update(str(file.relative_to(ROOT)).encode() + file.read_bytes())
    return content.hexdigest()[:16]


def migrate(folder: Path, **variables: str) -> None:
    """Make the tables of an installation that keeps what it writes in `folder`."""
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
        [sys.executable, "manage.py", *arguments, "--verbosity", "0"],
        cwd=ROOT,
        env={**inherited, **own, **variables},
        check=True,
    )
