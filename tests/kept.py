"""Where is a database that has all tables and no rows? Migrations take seconds, so they are applied once."""

import fcntl
import hashlib
import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
DATABASE = "queuecast.sqlite3"
"""The file of a database of the default kind."""
KEPT = ROOT / "var" / "tables"


@cache
def empty_database() -> Path:
    """Return a SQLite database without rows; whoever asks first, of all processes, makes it."""
    KEPT.mkdir(parents=True, exist_ok=True)
    kept = KEPT / f"{_version()}.sqlite3"
    with (KEPT / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            for older in KEPT.glob("*.sqlite3"):
                older.unlink()
            _make(kept)
    return kept


def _version() -> str:
    """Return what differs when other tables would come of it: by our migrations, or by those of packages."""
    files = [*sorted((ROOT / "planner" / "migrations").glob("*.py")), ROOT / "requirements" / "dev.txt"]
    content = hashlib.sha256()
    for file in files:
        content.update(file.name.encode() + file.read_bytes())
    return content.hexdigest()[:16]


def _make(kept: Path) -> None:
    with tempfile.TemporaryDirectory(dir=KEPT) as folder:
        subprocess.run(
            [sys.executable, "manage.py", "migrate", "--verbosity", "0"],
            cwd=ROOT,
            env={
                **{name: value for name, value in os.environ.items() if name != "DATABASE_URL"},
                "QUEUECAST_VAR": folder, "DJANGO_SETTINGS_MODULE": "config.settings",
            },
            check=True,
        )  # fmt: skip
        (Path(folder) / DATABASE).rename(kept)
