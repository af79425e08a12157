"""`manage.py second_factor USER --remove`: help a user without authenticator and recovery codes."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from planner.accounts.models import User
from planner.accounts.services.second_factor import has_second_factor, second_factor_reset
from planner.management.installed import InstalledCommand


class Command(InstalledCommand):
    """Shows whether an account has a second factor, or disables it."""

    help = "Print whether an account has a second factor; --remove turns it off."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments."""
        parser.add_argument("username")
        parser.add_argument("--remove", action="store_true", help="turn it off")

    def handle(self, *, username: str, remove: bool, **options: Any) -> None:
        """Disable it if requested, and print the state."""
        account = User.objects.filter(username=username).first()
        if account is None:
            raise CommandError(f"There is no account {username!r}.")
        if remove:
            second_factor_reset(user=account)
        self.stdout.write(f"Second factor of {username}: {'on' if has_second_factor(account) else 'off'}.")
