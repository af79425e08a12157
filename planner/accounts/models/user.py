"""Who may log in?"""

from typing import Self

from django.contrib.auth.models import AbstractUser
from django.db import models

from planner.accounts.models.workspace import Role


class User(AbstractUser):
    """An account.

    The table is that of Django's own model, which installed databases have: an upgrade moves no row.
    """

    limit: Role
    """What the present call may do at most, in any workspace. It has no default: an account for which no
    interface has set it (`acting`) may do nothing, and asking is an error.
    """

    id = models.AutoField(primary_key=True, verbose_name="ID")

    class Meta(AbstractUser.Meta):
        db_table = "auth_user"

    def acting(self, limit: Role) -> Self:
        """Return this account as the caller: an API token limits it to its scope, a session does not."""
        self.limit = limit
        return self
