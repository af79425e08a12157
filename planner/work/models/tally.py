"""How often did something happen, since this installation began? Rows go, counts stay."""

from django.db import models


class Tally(models.Model):
    """A count that only grows."""

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
