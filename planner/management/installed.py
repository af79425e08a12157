"""Base class of commands without Django's checks."""

from django.core.management.base import BaseCommand


class InstalledCommand(BaseCommand):
    """A command that starts at once.

    Django's checks judge the code, which `make models` did before it was installed, and import every page:
    they took half of the time of a short command.
    """

    requires_system_checks = ()
