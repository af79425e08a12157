"""`manage.py backup FILE`: everything that this installation keeps, in one verified file."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from planner.backups.archive import Unfit
from planner.backups.services import SUFFIX, backup_make, scheduled_backup_make
from planner.management.installed import InstalledCommand


class Command(InstalledCommand):
    """The file can be restored into any supported database."""

    help = (
        f"Write accounts, tokens (hashed), scenarios, runs and results to FILE, which ends in {SUFFIX},"
        " and verify it by a restore into an empty database. Only its owner can read it."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments."""
        which = parser.add_mutually_exclusive_group(required=True)
        which.add_argument("file", type=Path, nargs="?")
        which.add_argument(
            "--if-due", action="store_true", help="to QUEUECAST_BACKUP_DIR if a backup is due, as workers do"
        )

    def handle(self, *, file: Path | None, if_due: bool, **options: Any) -> None:
        """Write it whole or not at all."""
        if file is not None and not file.name.endswith(SUFFIX):
            raise CommandError(f"{file} does not end in {SUFFIX}.")
        try:
            made = scheduled_backup_make() if file is None else backup_make(file=file)
        except (Unfit, OSError) as error:
            raise CommandError(str(error)) from None
        if made is None:
            self.stdout.write("No backup is due.")
        else:
            self.stdout.write(f"{made.file}: {made.rows} rows, {made.bytes / 2**20:.1f} MiB, verified")
