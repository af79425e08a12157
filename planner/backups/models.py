"""Backups of the installation."""

from django.db import models

from planner.accounts.models.workspace import Identified


class Backup(Identified):
    """A backup that was started; only a `verified` one counts."""

    began = models.DateTimeField(auto_now_add=True, db_index=True)
    ended = models.DateTimeField(null=True, help_text="When it was verified, or failed.")
    file = models.CharField(max_length=500)
    verified = models.BooleanField(default=False, help_text="It was restored elsewhere, with the same rows.")
    bytes = models.PositiveBigIntegerField(default=0)
    rows = models.PositiveBigIntegerField(default=0)
    error = models.TextField(blank=True)

    class Meta:
        ordering = ["-began"]

    def __str__(self) -> str:
        return self.file
