"""The workload traces of a workspace."""

from django.conf import settings
from django.db import models

from planner.accounts.models.workspace import Identified, Workspace
from planner.clusters.models.snapshot import Blob


class WorkloadTrace(Identified):
    """Who submits what, when, and for how long: imported or generated, immutable."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="workload_traces")
    name = models.CharField(max_length=253)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="workload_traces"
    )
    created = models.DateTimeField(auto_now_add=True)
    provenance = models.CharField(
        max_length=500, blank=True, help_text="Where it came from: a file, a text, a generator."
    )
    format = models.CharField(max_length=20, help_text="The format of the source.")
    source = models.ForeignKey(
        Blob, on_delete=models.PROTECT, related_name="workload_traces", help_text="The original text."
    )
    begin = models.CharField(
        max_length=40, blank=True, help_text="When it begins (RFC 3339); empty: it has relative times only."
    )
    span_seconds = models.FloatField(help_text="From its beginning to the last submission.")
    jobs = models.PositiveIntegerField()
    pods = models.PositiveBigIntegerField()
    queues = models.JSONField(default=dict, help_text="Jobs by queue, as the trace calls it.")
    notes = models.JSONField(default=list, help_text="What was assumed or left out while it was read.")
    preview = models.JSONField(
        null=True, help_text="Its figures; null: it was stored by an earlier release, and not shown since."
    )

    class Meta:
        ordering = ["-created"]

    def __str__(self) -> str:
        return self.name
