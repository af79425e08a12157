"""The worker processes."""

from django.db import models


class Worker(models.Model):
    """A worker process as it last reported; for display only, no run depends on it."""

    name = models.CharField(primary_key=True, max_length=200, help_text="host:pid")
    started = models.DateTimeField()
    seen = models.DateTimeField(db_index=True)
    places = models.PositiveIntegerField(help_text="Runs that it processes at once.")
    engine_version = models.CharField(max_length=60)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name
