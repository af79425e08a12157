"""Verified backups: creation, schedule and retention.

Verified: the file was restored into an empty database of its own, which then had the same rows.
"""

import gzip
import logging
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from planner.accounts.models import Event
from planner.accounts.services.events import event_note
from planner.backups.archive import Unfit, archive_try, archive_write
from planner.backups.models import Backup
from planner.work.models import Tally
from planner.work.tallies import tally

logger = logging.getLogger(__name__)

SUFFIX = ".jsonl.gz"
DRAFT = ".queuecast-draft-"
TRIED_AGAIN = timedelta(hours=1)
"""The delay before a scheduled backup is retried after a failure."""
GIVEN_UP = timedelta(hours=6)
"""A backup that runs for longer is considered dead."""


def backup_make(*, file: Path) -> Backup:
    """Write a file with everything and verify it; on failure no file is left. Raises Unfit."""
    return _made(Backup.objects.create(file=str(file)))


def scheduled_backup_make() -> Backup | None:
    """Write a backup into the folder if one is due, and remove the oldest beyond the limit."""
    row = _claimed()
    if row is None:
        return None
    _leftovers_remove(Path(row.file).parent)
    _made(row)
    old = sorted(Path(row.file).parent.glob(f"queuecast-*{SUFFIX}"), reverse=True)[settings.BACKUP_KEEP :]
    for file in old:
        file.unlink()
    return row


def scheduled_backup_begin() -> "subprocess.Popen[bytes]":
    """Start a scheduled backup in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "django", "backup", "--if-due"],
        cwd=settings.BASE_DIR,
        stdout=subprocess.DEVNULL,
    )


def is_backup_due() -> bool:
    """Return whether backups are scheduled and one is due (1 query)."""
    if not settings.BACKUP_DIR:
        return False
    now = timezone.now()
    every = timedelta(hours=settings.BACKUP_HOURS)
    recent = Backup.objects.filter(began__gt=now - max(every, GIVEN_UP)).values_list(
        "began", "ended", "verified"
    )
    for began, ended, verified in recent:
        if ended is None and began > now - GIVEN_UP:
            return False
        if began > now - (every if verified else min(every, TRIED_AGAIN)):
            return False
    return True


@transaction.atomic
def _claimed() -> Backup | None:
    """Return the row of a due backup, claimed for this process."""
    # The counter's row is locked until this transaction ends, so that others check afterwards.
    tally(Tally.BACKUPS, 1)
    if not is_backup_due():
        transaction.set_rollback(True)
        return None
    name = f"queuecast-{timezone.now():%Y-%m-%dT%H%M%SZ}{SUFFIX}"
    return Backup.objects.create(file=str(Path(settings.BACKUP_DIR) / name))


def _made(row: Backup) -> Backup:
    file = Path(row.file)
    try:
        with _draft(file) as draft:
            with gzip.open(draft, "wt", encoding="utf-8") as stream:
                row.rows = archive_write(stream).rows
            with tempfile.TemporaryDirectory(prefix=DRAFT, dir=file.parent) as folder:
                archive_try(draft, Path(folder))
            row.bytes = draft.stat().st_size
            draft.replace(file)
        row.verified = True
    except (Unfit, OSError) as error:
        row.error = _reason(error, file.parent)
        logger.error("The backup failed: %s", error)
        raise
    finally:
        row.ended = timezone.now()
        row.save()
    event_note(workspace=None, user=None, kind=Event.Kind.EXPORT, action="exported", subject=f"backup {file}")
    return row


def _reason(error: Unfit | OSError, folder: Path) -> str:
    """Return the reason of a failure without paths of the server, as every member can read it."""
    if isinstance(error, OSError):
        return error.strerror or "an error of the file system"
    return str(error).replace(f"{folder}/", "")


@contextmanager
def _draft(file: Path) -> Iterator[Path]:
    """Yield a private file beside the other one, which is removed at the end."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    number, name = tempfile.mkstemp(prefix=DRAFT, suffix=SUFFIX, dir=file.parent)
    os.close(number)
    try:
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


def _leftovers_remove(folder: Path) -> None:
    """Remove drafts of processes that were killed a day ago or longer."""
    for path in folder.glob(f"{DRAFT}*"):
        if path.stat().st_mtime < time.time() - 86_400:
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
