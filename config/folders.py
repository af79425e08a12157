"""The folders that this installation writes to, readable by their owner only."""

import os
import shutil
from contextlib import suppress
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured


def private_folder(path: Path) -> Path:
    """Return a folder that only its owner can read; create it if it is missing."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ImproperlyConfigured(
            f"The folder {path} cannot be made: {error.strerror}."
            " Set QUEUECAST_VAR to a folder that this user may write."
        ) from error
    # Folders of earlier releases were open; one of another owner, or that is only read, is the operator's.
    with suppress(OSError):
        if path.stat().st_uid == os.geteuid():
            path.chmod(0o700)
    return path


def leftovers_remove(folder: Path) -> None:
    """Remove the folders of processes that have ended."""
    for path in folder.iterdir():
        if path.name.isdecimal() and not _lives(path.name):
            shutil.rmtree(path, ignore_errors=True)


def _lives(process: str) -> bool:
    """Return whether a process exists; a killed one may exist until its parent has reaped it."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
