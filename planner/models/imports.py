"""Which clusters are so large that a worker reads them, and what did it find?"""

from django.db import models

from planner.models.snapshot import Blob, Snapshot
from planner.models.work import Work


class Import(Work):
    """Files that a worker reads into a snapshot; `tidy` lets go of the files once it is over."""

    name = models.CharField(max_length=253, help_text="Of the snapshot.")
    provenance = models.CharField(max_length=500, blank=True, help_text="Where it came from.")
    files = models.ForeignKey(
        Blob,
        null=True,
        on_delete=models.PROTECT,
        related_name="imports_reading",
        help_text="What was sent, packed into one archive.",
    )
    is_dry = models.BooleanField(default=False, help_text="Only reads and tells; keeps no snapshot.")
    snapshot = models.ForeignKey(Snapshot, null=True, on_delete=models.SET_NULL, related_name="imports")
    counts = models.JSONField(default=dict, help_text="Objects by kind.")
    unknown_kinds = models.JSONField(default=dict, help_text="Objects left out, by kind.")
    has_conf = models.BooleanField(default=False, help_text="Was a scheduler configuration among them?")
    problems = models.JSONField(default=list, help_text="All that was found.")
