"""Counters since the installation, which stay when rows are deleted."""

from django.db import models


class Tally(models.Model):
    """A counter that only increases."""

    LOST_LEASES = "lost_leases"
    RETRIES = "retries"
    REMOVED_RUNS = "removed_runs"
    BACKUPS = "backups"

    name = models.CharField(primary_key=True, max_length=40)
    count = models.PositiveBigIntegerField(default=0)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return f"{self.name}: {self.count}"
