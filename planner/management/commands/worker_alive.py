"""`manage.py worker_alive`: exit 0 if a worker of this machine has reported lately, else 1."""

import socket
import sys
from typing import Any

from planner.management.installed import InstalledCommand
from planner.work.workers import is_worker_alive


class Command(InstalledCommand):
    """The health check of a worker's container."""

    help = "Exit with 0 if a worker on this machine was seen recently."

    def handle(self, **options: Any) -> None:
        """Check and print the result."""
        if not is_worker_alive(socket.gethostname()):
            self.stderr.write("No worker on this machine was seen recently.")
            sys.exit(1)
        self.stdout.write("A worker is running.")
