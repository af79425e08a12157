"""`manage.py token <user>`: print a new API token and nothing else."""

from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError, CommandParser

from planner.services.accounts import token_create


class Command(BaseCommand):
    """Print a new API token; it is shown this once."""

    help = "Print a new API token of an account, to be sent as `Authorization: Token …`."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the account's name."""
        parser.add_argument("username")

    def handle(self, *, username: str, **options: Any) -> None:
        """Print the token."""
        try:
            self.stdout.write(token_create(username=username))
        except get_user_model().DoesNotExist:
            raise CommandError(f"There is no account {username!r}.") from None
