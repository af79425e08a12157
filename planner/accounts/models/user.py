"""The account model."""

from typing import Self

from django.contrib.auth.models import AbstractUser
from django.db import models

from planner.accounts.models.workspace import Role


class User(AbstractUser):
    """An account.

    It uses the table of Django's own user model, so that existing databases need no migration of rows.
    """

    limit: Role
    """The highest role of the current request, in any workspace. It has no default: for an account that
    no interface has limited by `acting`, every permission check raises an error.
    """

    id = models.AutoField(primary_key=True, verbose_name="ID")

    class Meta(AbstractUser.Meta):
        db_table = "auth_user"

    def acting(self, limit: Role) -> Self:
        """Return this account as the caller: an API token limits it to its scope, a session does not."""
        self.limit = limit
        return self
