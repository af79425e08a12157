"""`manage.py tidy`: remove old runs and unreferenced rows."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from planner.clusters.services.retention import old_runs_remove
from planner.management.installed import InstalledCommand

LONGEST_DAYS = 36_500


class Command(InstalledCommand):
    """What workers do every hour, immediately."""

    help = (
        "Remove runs, forecasts and experiments (each scenario keeps its last) and imports that ended "
        "long ago, unreferenced documents, expired tokens."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the argument."""
        parser.add_argument(
            "--days",
            type=float,
            default=settings.KEEP_RUNS_DAYS,
            help="days to keep finished runs, forecasts, experiments and imports (default: %(default)s)",
        )

    def handle(self, *, days: float, **options: Any) -> None:
        """Remove old data, and print how much was removed."""
        if not 0 <= days <= LONGEST_DAYS:
            raise CommandError(f"--days must be from 0 to {LONGEST_DAYS:,}.")
        removed = old_runs_remove(keep=timedelta(days=days))
        self.stdout.write(
            f"Removed {removed.runs} runs, {removed.forecasts} forecasts, "
            f"{removed.experiments} experiments, {removed.imports} imports, "
            f"{removed.blobs} unreferenced documents, "
            f"{removed.keys} idempotency keys, {removed.tokens} expired tokens."
        )
