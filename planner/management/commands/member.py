"""`manage.py member <user> <role>`: give an account a role in a workspace."""

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from planner.accounts.models import Role, Workspace
from planner.accounts.services.accounts import email_set
from planner.accounts.services.members import member_set
from planner.errors import Invalid
from planner.management.installed import InstalledCommand
from planner.management.workspaces import workspace_named
from planner.rules import row_create


class Command(InstalledCommand):
    """Make an account a member."""

    help = "Give an account a role in a workspace: viewers read, editors change, admins manage members."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments."""
        parser.add_argument("username")
        parser.add_argument("role", choices=Role.values)
        parser.add_argument(
            "--workspace",
            help="by name or id, created if it does not exist (default: the oldest)",
        )
        parser.add_argument("--email", help="the e-mail address by which single sign-on finds the account")

    def handle(
        self, *, username: str, role: str, workspace: str | None, email: str | None, **options: Any
    ) -> None:
        """Set the role, and the e-mail address if given."""
        try:
            with transaction.atomic():
                into = workspace_named(workspace) or row_create(Workspace(name=workspace or ""))
                member = member_set(workspace=into, username=username, role=Role(role))
                if email is not None:
                    email_set(account=member.user, email=email)
        except Invalid as invalid:
            raise CommandError(str(invalid)) from None
        self.stdout.write(f"{member}")
