"""Base class of commands without Django's checks."""

from django.core.management.base import BaseCommand


class InstalledCommand(BaseCommand):
    """A command that starts at once.

    It skips Django's system checks, which take half of the time of a short command because they import
    every page. They check the code, and `make models` has run them before the code was installed.
    """

    requires_system_checks = ()
