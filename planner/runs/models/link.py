"""Public links to runs."""

from django.conf import settings
from django.db import models

from planner.accounts.models.workspace import Identified
from planner.runs.models.run import Run


class PublicLink(Identified):
    """An address under which anybody may read one run."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="public_links")
    label = models.CharField(
        max_length=100,
        blank=True,
        db_default="",
        help_text="The recipient, as noted by the user who created it.",
    )
    digest = models.CharField(max_length=64, unique=True, help_text="SHA-256 of the address's secret.")
    created = models.DateTimeField(auto_now_add=True)
    expires = models.DateTimeField(null=True, help_text="null: created before links expired.")
    reads = models.PositiveIntegerField(default=0, db_default=0)
    last_read = models.DateTimeField(null=True)
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="public_links"
    )

    class Meta:
        ordering = ["-created"]

    def __str__(self) -> str:
        return f"link to run {self.run_id}"
