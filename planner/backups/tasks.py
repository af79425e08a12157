"""Registers scheduled backups as a chore of the workers."""

import subprocess

from django.conf import settings

from planner.backups.services import is_backup_due, scheduled_backup_begin
from planner.work.kinds import Chore, chore_register

LOOK_SECONDS = 60.0
"""The interval at which a worker checks whether a backup is due."""


def register() -> None:
    """Let workers make backups if a folder is configured."""
    if settings.BACKUP_DIR:
        chore_register(Chore(ScheduledBackup().begin_if_due, LOOK_SECONDS))


class ScheduledBackup:
    """The backups of one worker: at most one process at a time, without waiting for it."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def begin_if_due(self) -> None:
        """Start a backup in a process of its own, unless this worker's last one still runs."""
        is_under_way = self._process is not None and self._process.poll() is None
        if not is_under_way and is_backup_due():
            self._process = scheduled_backup_begin()
