"""`manage.py load_sample`: create the sample cluster and its scenario, unless they exist."""

from typing import Any

from planner.accounts.selectors.workspaces import default_workspace
from planner.clusters.services.samples import sample_load
from planner.management.installed import InstalledCommand


class Command(InstalledCommand):
    """Load the sample."""

    help = "Load the sample cluster into the default workspace; a second call changes nothing."

    def handle(self, *, verbosity: int, **options: Any) -> None:
        """Load it and print its scenario."""
        scenario = sample_load(workspace=default_workspace())
        if verbosity:
            self.stdout.write(f"Scenario {scenario.pk}: {scenario.name}")
