"""`manage.py restore FILE`: fill an empty installation from a backup."""

import gzip
import re
import tempfile
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from planner.accounts.models import User, Workspace
from planner.clusters.models import Snapshot


class Command(BaseCommand):
    """All of the file, or nothing."""

    help = "Fill an empty, migrated installation from a file that `backup` wrote."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the file."""
        parser.add_argument("file", type=Path)

    def handle(self, *, file: Path, **options: Any) -> None:
        """Read it, and say what is there now."""
        if not file.is_file():
            raise CommandError(f"There is no file {file}.")
        if User.objects.exists() or Snapshot.objects.exists():
            raise CommandError("This installation is not empty; restore into a new database after `migrate`.")
        with tempfile.TemporaryDirectory() as folder, transaction.atomic():
            # The one that migrations made; the backup brings its own.
            Workspace.objects.all().delete()
            call_command("loaddata", str(_current(file, Path(folder))), verbosity=0)
        self.stdout.write(
            f"Restored {User.objects.count()} accounts and {Snapshot.objects.count()} snapshots."
        )


def _current(file: Path, folder: Path) -> Path:
    """Return a copy of a backup in which accounts have the model that they have now."""
    copy = folder / "backup.jsonl.gz"
    with gzip.open(file, "rt", encoding="utf-8") as old, gzip.open(copy, "wt", encoding="utf-8") as new:
        new.writelines(re.sub(r'^{"model": "auth\.user"', '{"model": "planner.user"', line) for line in old)
    return copy
