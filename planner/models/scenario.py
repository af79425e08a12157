"""Which what-if is being edited, and how did it come to be what it is?"""

from django.conf import settings
from django.db import models

from planner.models.snapshot import Snapshot
from planner.models.workspace import Identified, Workspace


class Scenario(Identified):
    """An editable what-if on a snapshot. Every edit raises the revision and is kept as a Change."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="scenarios")
    name = models.CharField(max_length=253)
    snapshot = models.ForeignKey(Snapshot, on_delete=models.PROTECT, related_name="scenarios")
    parent = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="branches")
    conf_text = models.TextField(
        blank=True, help_text="volcano-scheduler.conf as the user wrote it; empty: Volcano's default."
    )
    revision = models.PositiveIntegerField(default=1)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="scenarios"
    )
    created = models.DateTimeField(auto_now_add=True)
    updated = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-updated"]

    def __str__(self) -> str:
        return self.name


class Change(Identified):
    """Who changed what in a scenario, when, from what to what."""

    scenario = models.ForeignKey(Scenario, on_delete=models.CASCADE, related_name="changes")
    revision = models.PositiveIntegerField(help_text="The revision that this change made.")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="changes"
    )
    created = models.DateTimeField(auto_now_add=True)
    path = models.CharField(max_length=600, help_text="`queues.<name>.<field>` or `conf`.")
    before = models.JSONField(null=True)
    after = models.JSONField(null=True)

    class Meta:
        ordering = ["-revision", "path"]

    def __str__(self) -> str:
        return f"{self.path} at revision {self.revision}"
