"""Recent guesses of passwords."""

from django.db import models


class LoginGuesses(models.Model):
    """Guesses from one address, at one account, or both; an expired row counts as none."""

    key = models.CharField(primary_key=True, max_length=64, editable=False)
    count = models.PositiveIntegerField(default=0)
    next_at = models.DateTimeField(null=True, help_text="No log-in is checked before this time.")
    expires = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"{self.count} guesses"
