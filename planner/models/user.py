"""Who may log in?"""

from django.contrib.auth.models import AbstractUser
from django.db import models


class User(AbstractUser):
    """An account.

    The table is that of Django's own model, which installed databases have: an upgrade moves no row.
    """

    id = models.AutoField(primary_key=True, verbose_name="ID")

    class Meta(AbstractUser.Meta):
        db_table = "auth_user"
