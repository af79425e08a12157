"""`manage.py load_sample`: make the sample cluster and its scenario, unless they are there."""

from typing import Any

from django.core.management.base import BaseCommand

from planner.accounts.selectors.workspaces import default_workspace
from planner.clusters.services.samples import sample_load


class Command(BaseCommand):
    """Load the sample."""

    help = "Load the sample cluster into the default workspace; a second call changes nothing."

    def handle(self, *, verbosity: int, **options: Any) -> None:
        """Load it and say which scenario it is."""
        scenario = sample_load(workspace=default_workspace())
        if verbosity:
            self.stdout.write(f"Scenario {scenario.pk}: {scenario.name}")
