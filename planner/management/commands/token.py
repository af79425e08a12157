"""`manage.py token USER --scope ROLE --days N`: print a new API token and nothing else."""

from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import CommandError, CommandParser

from planner.accounts.models import Role
from planner.accounts.services.accounts import token_create
from planner.accounts.services.tokens import DEFAULT_DAYS, LONGEST_DAYS
from planner.management.installed import InstalledCommand


class Command(InstalledCommand):
    """Print a new API token; it is shown this once."""

    help = "Print a new API token of an account, to be sent as `Authorization: Token …`."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments."""
        parser.add_argument("username")
        parser.add_argument(
            "--scope",
            choices=Role.values,
            default=Role.EDITOR,
            help="the token may do no more than this role (default: editor)",
        )
        parser.add_argument(
            "--days",
            type=int,
            default=DEFAULT_DAYS,
            help=f"when it expires, 1 to {LONGEST_DAYS} days from now (default: {DEFAULT_DAYS})",
        )
        parser.add_argument("--name", default="", help="what it is for, as the account page lists it")

    def handle(self, *, username: str, scope: str, days: int, name: str, **options: Any) -> None:
        """Print the token."""
        if not 1 <= days <= LONGEST_DAYS:
            raise CommandError(f"--days must be from 1 to {LONGEST_DAYS}.")
        try:
            self.stdout.write(token_create(username=username, scope=Role(scope), days=days, name=name[:100]))
        except get_user_model().DoesNotExist:
            raise CommandError(f"There is no account {username!r}.") from None
