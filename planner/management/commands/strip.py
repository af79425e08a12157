"""`manage.py strip`: remove possible secrets from objects that an older version imported."""

from typing import Any

from planner.clusters.services.stripping import stored_strip
from planner.management.installed import InstalledCommand


class Command(InstalledCommand):
    """Needed once, after an upgrade from a version that stored whole objects."""

    help = "Rewrite stored objects without environment, arguments, volumes and unknown annotations."

    def handle(self, **options: Any) -> None:
        """Rewrite them, and print how many rows changed."""
        for kind, count in stored_strip().items():
            self.stdout.write(f"{count:8} {kind}")
