"""`manage.py restore FILE`: fill an empty installation from a backup."""

from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.core.management.base import CommandError, CommandParser
from django.db import connection

from planner.accounts.models import User
from planner.backups.archive import Unfit, archive_check, archive_load, made_at, migrations
from planner.clusters.models import Snapshot
from planner.management.installed import InstalledCommand


class Command(InstalledCommand):
    """Loads the whole file or nothing; the stored rows are compared with it."""

    help = "Check a file that `backup` wrote, create the tables, and fill an empty installation from it."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments."""
        parser.add_argument("file", type=Path)
        parser.add_argument("--check", action="store_true", help="only check the file, and restore nothing")
        parser.add_argument(
            "--without-seal",
            action="store_true",
            help="accept an unverified file of a release that wrote no seal",
        )

    def handle(self, *, file: Path, check: bool, without_seal: bool, **options: Any) -> None:
        """Check or restore the file, and print what was stored."""
        try:
            if not without_seal:
                seal = archive_check(file)
            if check:
                self.stdout.write(f"{file} is whole: {seal.rows} rows, made at {made_at(file)['planner']}.")
                return
            _empty_require()
            call_command("migrate", verbosity=0)
            if not without_seal:
                _same_release_require(file)
            stored = archive_load(file, is_sealed=not without_seal)
        except Unfit as error:
            raise CommandError(str(error)) from None
        self.stdout.write(
            f"Restored {User.objects.count()} accounts and {Snapshot.objects.count()} snapshots;"
            f" {stored.rows} rows{'' if without_seal else ', the same as in the file'}."
        )


def _empty_require() -> None:
    tables = connection.introspection.table_names()
    if User._meta.db_table in tables and (User.objects.exists() or Snapshot.objects.exists()):
        raise CommandError("This installation is not empty; restore into a new database.")


def _same_release_require(file: Path) -> None:
    theirs, ours = made_at(file), migrations()
    for app, name in theirs.items():
        if name != ours.get(app):
            raise CommandError(
                f"{file} was made at migration {app}.{name}; this release is at"
                f" {app}.{ours.get(app, 'none')}. Restore it with the release that made it, then upgrade."
            )
